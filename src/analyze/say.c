/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/say.h"

#include "analyze/words.h"

enum { NAME_COLUMNS = 60, TEXT_COLUMNS = 400 };

static void put_op(ttm_buf *out, const ttm_findings *f, uint32_t op, ttm_str place) {
  const ttm_profile *p = f->profile;
  bool program =
      p->kind == TTM_LOG_CAPTURE; /* its places are lines of a program; its own lines mean nothing to anybody */
  if (op >= p->ops.n) return ttm_buf_puts(out, "no operation");
  if (ttm_findings_index(f, op) != TTM_NONE) ttm_words_index(out, f, op), ttm_buf_char(out, ' ');
  ttm_put_text(out, ttm_words_name(p, op), NAME_COLUMNS, TTM_FORM_UTF8);
  if (place.n && !ttm_str_eq(place, TTM_LIT("N/A"))) {
    ttm_buf_puts(out, program ? " at " : " ");
    ttm_put_text(out, place, NAME_COLUMNS, TTM_FORM_UTF8);
  }
  if (p->ops.at[op].line && !program) ttm_buf_printf(out, " (log line %u)", p->ops.at[op].line);
}

void ttm_say_module_op(ttm_buf *out, const ttm_program_need *program, uint32_t op) {
  ttm_str name, location;
  uint32_t line;
  if (ttm_need_place(program, op, &name, &location, &line)) out->failed = true;
  ttm_put_text(out, name, NAME_COLUMNS, TTM_FORM_UTF8);
  if (location.n) ttm_buf_char(out, ' ');
  ttm_put_text(out, location, NAME_COLUMNS, TTM_FORM_UTF8);
  ttm_buf_printf(out, " (line %u of the module)", line);
}

static void put_ns(ttm_buf *out, uint64_t ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  double value = (double)ns;
  size_t unit = 0;
  while (value >= 1000 && unit < 3) value /= 1000, unit++;
  ttm_buf_printf(out, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

static void put_word(ttm_buf *out, const ttm_findings *f, const ttm_word *word) {
  switch (word->kind) {
    case TTM_SAY_NONE:
      return;
    case TTM_SAY_TEXT:
      return ttm_put_text(out, word->text, TEXT_COLUMNS, TTM_FORM_UTF8);
    case TTM_SAY_MB:
      if (word->n < 10240) return ttm_put_bytes(out, word->n); /* thousandths of a MB would round it away */
      ttm_put_mb(out, ttm_mib(word->n));
      return ttm_buf_puts(out, " MB");
    case TTM_SAY_NUMBER:
      return ttm_put_mb(out, ttm_mib(word->n));
    case TTM_SAY_CHANGE:
      ttm_buf_char(out, word->change < 0 ? '-' : '+');
      ttm_put_mb(out, ttm_mb(word->change < 0 ? -word->change : word->change));
      return ttm_buf_puts(out, " MB");
    case TTM_SAY_BYTES:
      return ttm_put_bytes(out, word->n);
    case TTM_SAY_PAIR:
      return ttm_put_pair(out, word->n, word->whole);
    case TTM_SAY_COUNT:
      return ttm_put_count(out, word->n);
    case TTM_SAY_LINE:
      return ttm_buf_u64(out, word->n);
    case TTM_SAY_PLURAL:
      ttm_put_count(out, word->n);
      ttm_buf_char(out, ' ');
      ttm_buf_put(out, word->text);
      return ttm_buf_puts(out, word->n == 1 ? "" : "s");
    case TTM_SAY_SHARE:
      return ttm_buf_printf(out, "%.1f %%", word->share);
    case TTM_SAY_NS:
      return put_ns(out, word->n);
    case TTM_SAY_MB_MS:
      ttm_put_mb(out, word->share / TTM_MB / 1e6);
      return ttm_buf_puts(out, " MB·ms");
    case TTM_SAY_OP:
      return put_op(out, f, (uint32_t)word->n,
                    word->n < f->profile->ops.n ? ttm_words_location(f->profile, (uint32_t)word->n) : (ttm_str){0});
    case TTM_SAY_OP_AT:
      return put_op(out, f, (uint32_t)word->n, word->text);
  }
}

void ttm_say_words(ttm_buf *out, const ttm_findings *f, const char *sentence, const ttm_word *words, size_t n) {
  size_t next = 0;
  for (const char *hole; (hole = strstr(sentence, "{}")); sentence = hole + 2) {
    ttm_buf_put(out, (ttm_str){sentence, (size_t)(hole - sentence)});
    if (next < n) put_word(out, f, &words[next++]);
  }
  ttm_buf_puts(out, sentence);
}
