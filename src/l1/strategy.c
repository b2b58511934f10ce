/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/strategy.h"

#include "l1/data_format.h"

enum { TILES_OF_A_STREAM = 2 }; /* one being filled while the other is read */

const char *const ttm_strategy_fixed =
    "strategy fixed\n"
    "cb0 = 4   streams tiles_per_shard\n"
    "cb1 = 4   needs r_tiles\n"
    "cb2 = 4   streams tiles_per_shard\n"
    "cb16 = 4  streams tiles_per_shard\n";

const char *const ttm_strategy_adaptive =
    "strategy adaptive\n"
    "let large = tiles_per_shard > 16 || r_tiles > 16\n"
    "cb0 = large ? 2 : min(6u, tiles_per_shard + 2)  streams tiles_per_shard\n"
    "cb1 = large ? 2 : min(r_tiles, 6u)              needs r_tiles\n"
    "cb2 = large ? 2 : 4                             streams tiles_per_shard\n"
    "cb16 = large ? 2 : 4                            streams tiles_per_shard\n";

/* ---- Lines ------------------------------------------------------------------------------------------------------------ */

typedef struct reader {
  ttm_cb_plans *out;
  ttm_name_values names;
  unsigned line;
  ttm_error *err;
} reader;

static int wrong(reader *r, const char *what, ttm_str text) {
  ttm_str shown = ttm_str_first(text, 40);
  return ttm_error_set(r->err, TTM_EFORMAT, "line %u: %s '%.*s'", r->line, what, (int)shown.n, shown.p);
}

static int value_of(reader *r, ttm_str text, uint64_t *out) {
  ttm_error inner;
  int status = ttm_expression_value(text, &r->names, out, &inner);
  if (status) ttm_error_set(r->err, TTM_EFORMAT, "line %u: %s", r->line, inner.message);
  return status;
}

static bool is_name(ttm_str text) {
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(i && c >= '0' && c <= '9')) return false;
  }
  return text.n > 0 && text.n <= 40;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The part of *rest before the next of the words that may follow an expression; moves *rest to that word. */
static ttm_str until_keyword(ttm_str *rest) {
  static const char *const words[] = {"needs", "streams", "dtype", "cores", "borrowed"};
  for (size_t i = 1; i < rest->n; i++) {
    if (!is_blank(rest->p[i - 1])) continue;
    ttm_str at = ttm_str_from(*rest, i);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
      ttm_str word = ttm_str_of(words[w]);
      if (!ttm_str_starts(at, word) || (at.n > word.n && !is_blank(at.p[word.n]))) continue;
      ttm_str before = ttm_str_trim(ttm_str_first(*rest, i));
      *rest = at;
      return before;
    }
  }
  ttm_str all = ttm_str_trim(*rest);
  *rest = ttm_str_from(*rest, rest->n);
  return all;
}

/* "needs EXPR", "dtype NAME", ... at the start of *rest. */
static int read_attribute(reader *r, ttm_cb_plan *plan, ttm_str *rest) {
  size_t length = 0;
  while (length < rest->n && !is_blank(rest->p[length])) length++;
  ttm_str word = ttm_str_first(*rest, length);
  *rest = ttm_str_from(*rest, length);
  ttm_str value = until_keyword(rest);
  if (ttm_str_eq(word, TTM_LIT("borrowed"))) {
    plan->borrowed = true;
    return value.n ? wrong(r, "not understood:", value) : TTM_OK;
  }
  if (ttm_str_eq(word, TTM_LIT("dtype"))) {
    plan->tile_bytes = ttm_format_tile_bytes(value);
    return plan->tile_bytes ? TTM_OK : wrong(r, "unknown dtype", value);
  }
  if (ttm_str_eq(word, TTM_LIT("cores"))) {
    int status = ttm_core_set_parse(value, &plan->cores);
    if (status == TTM_EFORMAT) return wrong(r, "no core range (0-0:7-7):", value);
    return status || ttm_core_set_merge(&plan->cores) ? ttm_error_nomem(r->err) : TTM_OK;
  }
  plan->streams = ttm_str_eq(word, TTM_LIT("streams"));
  int status = value_of(r, value, &plan->passing);
  plan->needed = plan->passing;
  if (plan->streams && plan->needed > TILES_OF_A_STREAM) plan->needed = TILES_OF_A_STREAM;
  return status;
}

static int read_buffer(reader *r, ttm_str name, ttm_str rest) {
  ttm_cb_plan plan = {.name = name};
  int status = value_of(r, until_keyword(&rest), &plan.tiles);
  while (!status && rest.n) status = read_attribute(r, &plan, &rest);
  for (size_t i = 0; !status && i < r->out->all.n; i++) {
    if (ttm_str_eq(r->out->all.at[i].name, name)) status = wrong(r, "there is already a buffer", name);
  }
  if (!status && r->out->all.n >= TTM_MAX_PLANS) status = wrong(r, "too many buffers:", name);
  if (!status && ttm_vec_push(&r->out->all, plan)) status = ttm_error_nomem(r->err);
  if (status) ttm_vec_free(&plan.cores);
  return status;
}

static int read_line(reader *r, ttm_str line) {
  line = ttm_str_trim(line);
  if (!line.n || line.p[0] == '#') return TTM_OK;
  if (ttm_str_take(&line, TTM_LIT("strategy "))) {
    r->out->strategy = ttm_str_trim(line);
    return TTM_OK;
  }
  bool let = ttm_str_take(&line, TTM_LIT("let "));
  size_t equals = ttm_str_find_char(line, '=');
  if (equals == TTM_NOT_FOUND) return wrong(r, "neither 'strategy NAME' nor 'NAME = TILES':", line);
  ttm_str name = ttm_str_trim(ttm_str_first(line, equals)), rest = ttm_str_from(line, equals + 1);
  if (!is_name(name)) return wrong(r, "no name:", name);
  if (!let) return read_buffer(r, name, rest);
  ttm_name_value variable = {.name = name};
  int status = value_of(r, rest, &variable.value);
  if (!status && r->names.n >= TTM_MAX_PLANS) status = wrong(r, "too many names:", name);
  return status || !ttm_vec_push(&r->names, variable) ? status : ttm_error_nomem(r->err);
}

int ttm_strategy_plan(ttm_cb_plans *out, ttm_str text, const ttm_cb_workload *workload, ttm_error *err) {
  reader r = {.out = out, .err = err};
  *out = (ttm_cb_plans){.strategy = TTM_LIT("custom")};
  int status = TTM_OK;
  if (text.n > TTM_STRATEGY_BYTES) return ttm_error_set(err, TTM_EFORMAT, "longer than 64 KB: not a strategy");
  if (ttm_vec_push(&r.names, (ttm_name_value){TTM_LIT("r_tiles"), workload->r_tiles}) ||
      ttm_vec_push(&r.names, (ttm_name_value){TTM_LIT("tiles_per_shard"), workload->tiles_per_shard}))
    status = ttm_error_nomem(err);
  while (!status && text.n) {
    r.line++;
    status = read_line(&r, ttm_str_take_to(&text, '\n'));
  }
  if (!status && !out->all.n) status = ttm_error_set(err, TTM_EFORMAT, "no buffer in it: write lines like 'cb0 = 4'");
  ttm_vec_free(&r.names);
  return status;
}

void ttm_cb_plans_free(ttm_cb_plans *plans) {
  for (size_t i = 0; i < plans->all.n; i++) ttm_vec_free(&plans->all.at[i].cores);
  ttm_vec_free(&plans->all);
}

/* ---- One buffer on the command line ----------------------------------------------------------------------------------- */

static int bad_buffer(ttm_str text, ttm_error *err) {
  return ttm_error_set(err, TTM_EUSAGE,
                       "'%.*s' is not a buffer: write NAME=TILES[/NEEDED][:DTYPE][@CORES], for example "
                       "cb1=8/16:bfloat16@0-0:7-7, or NAME=BYTESB",
                       (int)(text.n < 60 ? text.n : 60), text.p);
}

int ttm_cb_plan_parse(ttm_cb_plans *out, ttm_str text, ttm_error *err) {
  ttm_cb_plan plan = {0};
  int status = TTM_OK;
  size_t equals = ttm_str_find_char(text, '=');
  bool good = equals != TTM_NOT_FOUND && out->all.n < TTM_MAX_PLANS;
  plan.name = ttm_str_first(text, good ? equals : 0);
  ttm_str rest = ttm_str_from(text, plan.name.n + 1);
  good = good && plan.name.n && plan.name.n <= 40 && ttm_str_take_u64(&rest, &plan.tiles);
  if (good && ttm_str_take(&rest, TTM_LIT("B"))) plan.tile_bytes = 1; /* bytes are tiles of one byte */
  if (good && ttm_str_take(&rest, TTM_LIT("/"))) good = ttm_str_take_u64(&rest, &plan.needed);
  plan.passing = plan.needed;
  if (good && ttm_str_take(&rest, TTM_LIT(":"))) {
    size_t end = ttm_str_find_char(rest, '@');
    plan.tile_bytes = ttm_format_tile_bytes(ttm_str_first(rest, end));
    rest = end == TTM_NOT_FOUND ? ttm_str_from(rest, rest.n) : ttm_str_from(rest, end);
    good = plan.tile_bytes > 0;
  }
  if (good && ttm_str_take(&rest, TTM_LIT("@"))) {
    bool as_printed = ttm_str_starts(rest, TTM_LIT("{")) || ttm_str_starts(rest, TTM_LIT("["));
    status = ttm_core_set_parse(rest, &plan.cores);
    if (!status && !as_printed) status = ttm_core_set_merge(&plan.cores);
    good = status != TTM_EFORMAT;
    rest.n = 0;
  }
  if (good && !status && !rest.n && !ttm_vec_push(&out->all, plan)) return TTM_OK;
  ttm_vec_free(&plan.cores);
  return good && !rest.n ? ttm_error_nomem(err) : bad_buffer(text, err);
}
