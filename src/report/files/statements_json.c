/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files/statements_json.h"

#include "base/buf.h"
#include "parse/json_text.h"

/* ---- Writing ------------------------------------------------------------------------------------------------------ */

static void put_operation(ttm_json *j, uint32_t operation) {
  if (operation != UINT32_MAX) ttm_json_put_u64(j, "operation", operation);
}

/* Below 0: unknown. */
static void put_known_bool(ttm_json *j, const char *key, int value) {
  value < 0 ? ttm_json_put_null(j, key) : ttm_json_put_bool(j, key, value);
}

static void put_fix(ttm_json *j, const ttm_fix *fix) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "kind", fix->kind);
  ttm_json_put_name(j, "verified", ttm_fix_check_name(fix->check));
  ttm_json_put_u64(j, "bytes", fix->bytes);
  if (fix->count) ttm_json_put_u64(j, "count", fix->count);
  put_operation(j, fix->operation);
  ttm_json_put_str(j, "text", fix->text);
  if (fix->change.n) {
    ttm_json_put_str(j, "change", fix->change);
    ttm_json_put_u64(j, "peak_after_per_bank_B", fix->peak_after);
    ttm_json_put_bool(j, "peak_after_lower_bound", fix->rest_fits != 1); /* it ends before the program does */
    put_known_bool(j, "fits", fix->fits);
    put_known_bool(j, "rest_fits", fix->rest_fits);
    bool recorded = fix->fits > 0 && fix->rest_fits >= 0;
    ttm_json_put_known_str(j, "rest", ttm_str_of(fix->rest_predicted ? "predicted" : recorded ? "recorded" : NULL));
  }
  if (fix->paste.n) ttm_json_put_str(j, "paste", fix->paste);
  ttm_json_end(j);
}

static void put_point(ttm_json *j, const ttm_point *point) {
  ttm_json_put_object(j, NULL);
  if (point->mb >= 0) ttm_json_put_double(j, "per_bank_MB", point->mb);
  put_operation(j, point->operation);
  ttm_json_put_str(j, "text", point->text);
  ttm_json_end(j);
}

static void put_quantities(ttm_json *j, const ttm_statements *all, const ttm_statement *s) {
  ttm_json_put_array(j, "quantities");
  for (uint32_t i = 0; i < s->quantities; i++) {
    const ttm_quantity *q = &all->quantities.at[s->first_quantity + i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_name(j, "name", q->name);
    ttm_json_put_name(j, "unit", q->unit);
    ttm_json_put_double(j, "value", q->value);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_statement(ttm_json *j, const ttm_statements *all, const ttm_statement *s) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_name(j, "id", s->id);
  ttm_json_put_name(j, "topic", ttm_topic_name(s->topic));
  ttm_json_put_name(j, "severity", ttm_severity_name(s->severity));
  ttm_json_put_name(j, "basis", ttm_basis_name(s->basis));
  if (s->number) ttm_json_put_u64(j, "number", s->number);
  if (s->line) ttm_json_put_u64(j, "line", s->line);
  put_operation(j, s->operation);
  ttm_json_put_str(j, "headline", s->headline);
  if (s->detail.n) ttm_json_put_str(j, "detail", s->detail);
  if (s->quantities) put_quantities(j, all, s);
  if (s->points) ttm_json_put_array(j, "points");
  for (uint32_t i = 0; i < s->points; i++) put_point(j, &all->points.at[s->first_point + i]);
  if (s->points) ttm_json_end(j);
  if (s->fixes) ttm_json_put_array(j, "fixes");
  for (uint32_t i = 0; i < s->fixes; i++) put_fix(j, &all->fixes.at[s->first_fix + i]);
  if (s->fixes) ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_json_put_statements(ttm_json *j, const ttm_statements *all) {
  ttm_json_put_rows(j, "statements");
  for (size_t i = 0; i < all->at.n; i++) put_statement(j, all, &all->at.at[i]);
  ttm_json_end(j);
  ttm_json_put_rows(j, "fixes");
  for (size_t i = 0; i < all->best.n; i++) put_fix(j, &all->fixes.at[all->best.at[i]]);
  ttm_json_end(j);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

typedef struct reader {
  ttm_statements *out;
  ttm_buf text; /* reused */
  bool failed;
} reader;

/* A string member, NUL-terminated in the arena. */
static ttm_str text_of(reader *r, ttm_str object, const char *key) {
  ttm_buf_clear(&r->text);
  ttm_json_get_string(&r->text, ttm_json_get_member(object, key));
  ttm_buf_char(&r->text, '\0');
  const char *kept = r->text.failed ? NULL : ttm_arena_copy(&r->out->arena, ttm_buf_str(&r->text));
  r->failed |= !kept;
  return kept ? (ttm_str){kept, r->text.n - 1} : (ttm_str){"", 0};
}

static uint32_t number_of(ttm_str object, const char *key, uint32_t otherwise) {
  uint64_t n = ttm_json_get_count(ttm_json_get_member(object, key), otherwise);
  return n < UINT32_MAX ? (uint32_t)n : otherwise;
}

/* The number of a name out of a table; `otherwise` for one that a later ttmem added. */
static unsigned find_name(ttm_str name, const char *(*name_of)(unsigned), unsigned n, unsigned otherwise) {
  for (unsigned i = 0; i < n; i++) {
    if (ttm_str_eq(name, ttm_str_of(name_of(i)))) return i;
  }
  return otherwise;
}

static const char *topic_of(unsigned i) { return ttm_topic_name((ttm_topic)i); }
static const char *severity_of(unsigned i) { return ttm_severity_name((ttm_severity)i); }
static const char *basis_of(unsigned i) { return ttm_basis_name((ttm_basis)i); }
static const char *check_of(unsigned i) { return ttm_fix_check_name((ttm_fix_check)i); }

static int known_bool(ttm_str object, const char *key) {
  ttm_str value = ttm_json_get_member(object, key);
  return ttm_str_eq(value, TTM_LIT("true")) ? 1 : ttm_str_eq(value, TTM_LIT("false")) ? 0 : -1;
}

static ttm_fix read_fix(reader *r, ttm_str fix) {
  return (ttm_fix){text_of(r, fix, "kind").p,
                   text_of(r, fix, "text"),
                   ttm_json_get_count(ttm_json_get_member(fix, "bytes"), 0),
                   ttm_json_get_count(ttm_json_get_member(fix, "count"), 0),
                   (ttm_fix_check)find_name(text_of(r, fix, "verified"), check_of, 4, TTM_FIX_ESTIMATED),
                   number_of(fix, "operation", UINT32_MAX),
                   text_of(r, fix, "change"),
                   ttm_json_get_count(ttm_json_get_member(fix, "peak_after_per_bank_B"), 0),
                   known_bool(fix, "fits"),
                   known_bool(fix, "rest_fits"),
                   ttm_str_eq(text_of(r, fix, "rest"), TTM_LIT("predicted")),
                   text_of(r, fix, "paste")};
}

static void read_parts(reader *r, ttm_str object, ttm_statement *s) {
  ttm_statements *all = r->out;
  ttm_str rest = ttm_json_get_member(object, "points"), one;
  for (; ttm_json_get_element(&rest, &one) && !r->failed; s->points++) {
    ttm_point point = {text_of(r, one, "text"), ttm_json_get_number(ttm_json_get_member(one, "per_bank_MB"), -1),
                       number_of(one, "operation", UINT32_MAX)};
    r->failed |= ttm_vec_push(&all->points, point) != TTM_OK;
  }
  rest = ttm_json_get_member(object, "quantities");
  for (; ttm_json_get_element(&rest, &one) && !r->failed; s->quantities++) {
    ttm_quantity quantity = {text_of(r, one, "name").p, text_of(r, one, "unit").p,
                             ttm_json_get_number(ttm_json_get_member(one, "value"), 0)};
    r->failed |= ttm_vec_push(&all->quantities, quantity) != TTM_OK;
  }
  rest = ttm_json_get_member(object, "fixes");
  for (; ttm_json_get_element(&rest, &one) && !r->failed; s->fixes++)
    r->failed |= ttm_vec_push(&all->fixes, read_fix(r, one)) != TTM_OK;
}

static void read_statement(reader *r, ttm_str object) {
  ttm_statements *all = r->out;
  ttm_statement s = {.id = text_of(r, object, "id").p,
                     .topic = (ttm_topic)find_name(text_of(r, object, "topic"), topic_of, TTM_TOPICS, TTM_TOPIC_INPUT),
                     .severity = (ttm_severity)find_name(text_of(r, object, "severity"), severity_of,
                                                         TTM_SEVERITY_UNKNOWN + 1, TTM_SEVERITY_NOTE),
                     .basis = (ttm_basis)find_name(text_of(r, object, "basis"), basis_of, TTM_BASES, TTM_ESTIMATED),
                     .headline = text_of(r, object, "headline"),
                     .detail = text_of(r, object, "detail"),
                     .line = number_of(object, "line", 0),
                     .operation = number_of(object, "operation", UINT32_MAX),
                     .number = number_of(object, "number", 0),
                     .first_point = (uint32_t)all->points.n,
                     .first_quantity = (uint32_t)all->quantities.n,
                     .first_fix = (uint32_t)all->fixes.n};
  read_parts(r, object, &s);
  r->failed |= ttm_vec_push(&all->at, s) != TTM_OK;
}

int ttm_statements_read(ttm_statements *out, ttm_str findings_json) {
  reader r = {.out = out};
  ttm_str rest = ttm_json_get_member(findings_json, "statements"), one;
  *out = (ttm_statements){.at = {0}};
  while (ttm_json_get_element(&rest, &one) && !r.failed) read_statement(&r, one);
  rest = ttm_json_get_member(findings_json, "fixes");
  while (ttm_json_get_element(&rest, &one) && !r.failed) {
    r.failed |= ttm_vec_push(&out->best, (uint32_t)out->fixes.n) || ttm_vec_push(&out->fixes, read_fix(&r, one));
  }
  ttm_buf_free(&r.text);
  return r.failed ? TTM_ENOMEM : TTM_OK;
}
