/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files/baseline_json.h"

#include <stdio.h>

#include "base/source.h"
#include "parse/json_text.h"
#include "report/write/json.h"

enum { LARGEST = 16 << 20, VERSION = 1 };

void ttm_baseline_free(ttm_baseline *b) {
  for (size_t i = 0; i < b->entries.n; i++) ttm_baseline_entry_free(&b->entries.at[i]);
  ttm_vec_free(&b->entries);
  ttm_vec_free(&b->named);
  ttm_vec_free(&b->top);
  ttm_intern_free(&b->texts.pool);
  ttm_buf_free(&b->text);
  *b = (ttm_baseline){0};
}

const ttm_baseline_entry *ttm_baseline_find(const ttm_baseline *b, ttm_str name) {
  for (size_t i = 0; i < b->entries.n; i++)
    if (ttm_str_eq(b->entries.at[i].name, name)) return &b->entries.at[i];
  return NULL;
}

/* ---- Members as they stand ---------------------------------------------------------------------------------------- */

/* The members of an object, in its order. `whole`: nothing follows it. On failure *line is where. */
static int read_members(ttm_baseline_members *out, ttm_field_texts *texts, ttm_str object, bool whole, uint64_t *line) {
  ttm_json_pull j;
  ttm_str key;
  uint32_t id;
  int status = TTM_OK;
  ttm_json_init(&j, NULL, object);
  bool good = ttm_json_enter(&j, '{');
  while (good && !status && ttm_json_key(&j, &key)) {
    status = ttm_intern_add(&texts->pool, key, &id);
    ttm_json_peek(&j); /* passes the blanks */
    size_t start = ttm_json_position(&j);
    ttm_json_skip(&j);
    ttm_str raw = {object.p + start, ttm_json_position(&j) - start};
    if (!status) status = ttm_vec_push(out, (ttm_baseline_member){ttm_intern_get(&texts->pool, id), raw});
  }
  bool more = whole && !j.error && ttm_json_peek(&j) != TTM_JSON_NONE;
  if (!status && (!good || j.error || more)) status = j.status == TTM_ENOMEM ? TTM_ENOMEM : TTM_EFORMAT;
  *line = j.line;
  ttm_json_free(&j);
  return status;
}

static const ttm_baseline_member *find_member(const ttm_baseline_members *all, ttm_str key) {
  for (size_t i = 0; i < all->n; i++)
    if (ttm_str_eq(all->at[i].key, key)) return &all->at[i];
  return NULL;
}

static ttm_str member_of(const ttm_baseline_members *all, const char *key) {
  const ttm_baseline_member *found = find_member(all, ttm_str_of(key));
  return found ? found->raw : (ttm_str){"", 0};
}

/* ---- An entry ----------------------------------------------------------------------------------------------------- */

/* What the readers below fill; `wrong` names what is not as it should be. */
typedef struct reading {
  ttm_field_texts texts;
  ttm_baseline_entry *entry;
  char wrong[80];
} reading;

static ttm_memory memory_named(ttm_str name) {
  ttm_memory m = 0;
  while (m < TTM_MEMORIES && !ttm_str_eq(name, ttm_str_of(ttm_memory_name(m)))) m++;
  return m;
}

static int complain(reading *r, const char *what, ttm_str key) {
  snprintf(r->wrong, sizeof r->wrong, "%s of %.*s", what, TTM_ARGS(ttm_str_first(key, 40)));
  return TTM_EFORMAT;
}

/* "1%", "8MB", or a number of percent. */
static bool take_tolerance(ttm_tolerance *out, const ttm_json_scalar *v) {
  ttm_str rest = v->text;
  double number;
  if (v->kind != TTM_JSON_STRING && v->kind != TTM_JSON_NUMBER) return false;
  if (!ttm_str_take_decimal(&rest, &number)) return false;
  bool mb = v->kind == TTM_JSON_STRING && ttm_str_eq_nocase(ttm_str_trim(rest), TTM_LIT("MB"));
  *out = (ttm_tolerance){true, mb ? 0 : number, mb ? number : 0};
  return mb || !rest.n || (v->kind == TTM_JSON_STRING && ttm_str_eq(ttm_str_trim(rest), TTM_LIT("%")));
}

static int read_tolerance(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  reading *r = (reading *)texts;
  ttm_tolerance *all = into;
  ttm_json_scalar v;
  ttm_memory m = memory_named(texts->key);
  if (m == TTM_MEMORIES) return complain(r, "tolerance", texts->key);
  if (!ttm_json_value(json, &v)) return TTM_OK;
  return take_tolerance(&all[m], &v) ? TTM_OK : complain(r, "tolerance", ttm_str_of(ttm_memory_name(m)));
}

static int read_tolerances(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field each[] = {{"*", read_tolerance, 0}, {0}};
  if (ttm_json_peek(json) != TTM_JSON_OBJECT) return complain((reading *)texts, "value", TTM_LIT("tolerance"));
  return ttm_fields_read(texts, json, each, into);
}

static int read_peak(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field fields[] = {{"per_bank_MB", ttm_field_milli, offsetof(ttm_baseline_peak, milli)},
                                     {"banks", ttm_field_count, offsetof(ttm_baseline_peak, banks)},
                                     {"lower_bound", ttm_field_flag, offsetof(ttm_baseline_peak, at_least)},
                                     {"basis", ttm_field_text, offsetof(ttm_baseline_peak, basis)},
                                     {"raised_by", ttm_field_text, offsetof(ttm_baseline_peak, op)},
                                     {"at", ttm_field_text, offsetof(ttm_baseline_peak, at)},
                                     {0}};
  ttm_memory m = memory_named(texts->key);
  ttm_baseline_peak peak = {.milli = UINT32_MAX, .op = TTM_LIT(""), .at = TTM_LIT(""), .basis = TTM_LIT("")};
  if (m == TTM_MEMORIES) return complain((reading *)texts, "peak", texts->key);
  int status = ttm_fields_read(texts, json, fields, &peak);
  if (status || json->error) return status;
  if (peak.milli == UINT32_MAX) return complain((reading *)texts, "peak", ttm_str_of(ttm_memory_name(m)));
  peak.known = true;
  ((ttm_baseline_peak *)into)[m] = peak;
  return TTM_OK;
}

static int read_peaks(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field each[] = {{"*", read_peak, 0}, {0}};
  return ttm_fields_read(texts, json, each, into);
}

static int read_rows(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field fields[] = {{"operation", ttm_field_text, offsetof(ttm_baseline_row, kind)},
                                     {"class", ttm_field_text, offsetof(ttm_baseline_row, kind)},
                                     {"at", ttm_field_text, offsetof(ttm_baseline_row, name)},
                                     {"name", ttm_field_text, offsetof(ttm_baseline_row, name)},
                                     {"places", ttm_field_count, offsetof(ttm_baseline_row, count)},
                                     {"tensors", ttm_field_count, offsetof(ttm_baseline_row, count)},
                                     {"per_bank_MB", ttm_field_milli, offsetof(ttm_baseline_row, milli)},
                                     {0}};
  int status = TTM_OK;
  if (!ttm_json_enter_if(json, '[')) return TTM_OK;
  while (!status && ttm_json_item(json)) {
    ttm_baseline_row row = {.kind = TTM_LIT(""), .name = TTM_LIT(""), .op = TTM_NONE};
    status = ttm_fields_read(texts, json, fields, &row);
    if (!status) status = ttm_vec_push((ttm_baseline_rows *)into, row);
  }
  return status;
}

static int read_alive(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field fields[] = {{"DRAM", read_rows, 0}, {"L1", read_rows, sizeof(ttm_baseline_rows)}, {0}};
  return ttm_fields_read(texts, json, fields, into);
}

static int read_board(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field fields[] = {{"fits", ttm_field_flag, offsetof(ttm_baseline_board, fits)},
                                     {"lower_bound", ttm_field_flag, offsetof(ttm_baseline_board, at_least)},
                                     {"DRAM_per_bank_MB", ttm_field_milli, offsetof(ttm_baseline_board, milli)},
                                     {"L1_per_core_MB", ttm_field_milli, offsetof(ttm_baseline_board, milli[1])},
                                     {0}};
  ttm_baseline_entry *e = into;
  uint32_t id;
  ttm_baseline_board board = {0};
  if (ttm_intern_add(&texts->pool, texts->key, &id)) return TTM_ENOMEM;
  board.board = ttm_intern_get(&texts->pool, id);
  int status = ttm_fields_read(texts, json, fields, &board);
  return status ? status : ttm_vec_push(&e->boards, board);
}

static int read_boards(ttm_field_texts *texts, ttm_json_pull *json, void *into) {
  static const ttm_field each[] = {{"*", read_board, 0}, {0}};
  (void)into;
  return ttm_fields_read(texts, json, each, ((reading *)texts)->entry);
}

/* Ours; a person may have others beside them. */
static const ttm_field ENTRY[] = {
    {"tolerance", read_tolerances, offsetof(ttm_baseline_entry, tolerance)},
    {"peak", read_peaks, offsetof(ttm_baseline_entry, peak)},
    {"failures", ttm_field_count, offsetof(ttm_baseline_entry, failures)},
    {"growth_per_run_MB", ttm_field_milli, offsetof(ttm_baseline_entry, growth)},
    {"operations", read_rows, offsetof(ttm_baseline_entry, operations)},
    {"live_at_peak", read_alive, offsetof(ttm_baseline_entry, alive)},
    {"boards", read_boards, offsetof(ttm_baseline_entry, boards)},
    {0},
};

/* ---- The file ----------------------------------------------------------------------------------------------------- */

static int damaged(const ttm_baseline *b, const char *path, ttm_str in, uint64_t line, ttm_error *err) {
  for (const char *c = ttm_buf_str(&b->text).p; c < in.p; c++) line += *c == '\n';
  return ttm_error_set(err, TTM_EFORMAT, "%s is no baseline: line %llu is no JSON", path, (unsigned long long)line);
}

/* Reads an object by a table into `entry`. */
static int read_object(ttm_baseline *b, const char *path, const ttm_field *fields, const ttm_baseline_member *object,
                       ttm_baseline_entry *entry, ttm_error *err) {
  reading r = {.texts = b->texts, .entry = entry};
  ttm_json_pull j;
  ttm_json_init(&j, NULL, object->raw);
  int status = ttm_fields_read(&r.texts, &j, fields, entry);
  b->texts = r.texts;
  if (status == TTM_EFORMAT)
    ttm_error_set(err, status, "%s: '%.*s' has a wrong %s", path, TTM_ARGS(ttm_str_first(object->key, 200)), r.wrong);
  else if (status == TTM_ENOMEM || j.status == TTM_ENOMEM)
    status = ttm_error_nomem(err);
  else if (j.error)
    status = damaged(b, path, object->raw, j.line, err);
  ttm_json_free(&j);
  return status;
}

static int read_entry(ttm_baseline *b, const char *path, const ttm_baseline_member *object,
                      const ttm_tolerance defaults[TTM_MEMORIES], ttm_error *err) {
  ttm_baseline_entry entry = {.name = object->key};
  if (!object->raw.n || *object->raw.p != '{')
    return ttm_error_set(err, TTM_EFORMAT, "%s: '%.*s' is no entry: it needs a \"peak\"", path,
                         TTM_ARGS(ttm_str_first(object->key, 200)));
  memcpy(entry.tolerance, defaults, sizeof entry.tolerance);
  int status = read_object(b, path, ENTRY, object, &entry, err);
  if (!status && ttm_vec_push(&b->entries, entry)) status = ttm_error_nomem(err);
  if (status) ttm_baseline_entry_free(&entry);
  return status;
}

static int read_text(ttm_baseline *b, const char *path, ttm_error *err) {
  static const ttm_field tolerance[] = {{"tolerance", read_tolerances, offsetof(ttm_baseline_entry, tolerance)}, {0}};
  ttm_baseline_entry defaults = {0};
  ttm_baseline_member whole = {TTM_LIT("the file"), ttm_buf_str(&b->text)};
  uint64_t line;
  int status = read_members(&b->top, &b->texts, whole.raw, true, &line);
  if (status) return status == TTM_ENOMEM ? ttm_error_nomem(err) : damaged(b, path, whole.raw, line, err);
  ttm_str entries = member_of(&b->top, "entries");
  if (ttm_json_get_count(member_of(&b->top, "schema_version"), 0) != VERSION || !entries.n || *entries.p != '{')
    return ttm_error_set(err, TTM_EFORMAT,
                         "%s is no baseline of this version of ttmem: it needs \"schema_version\": %d and \"entries\"",
                         path, VERSION);
  status = read_members(&b->named, &b->texts, entries, false, &line);
  if (status) return status == TTM_ENOMEM ? ttm_error_nomem(err) : damaged(b, path, entries, line, err);
  status = read_object(b, path, tolerance, &whole, &defaults, err);
  for (size_t i = 0; i < b->named.n && !status; i++)
    status = read_entry(b, path, &b->named.at[i], defaults.tolerance, err);
  return status;
}

int ttm_baseline_parse(ttm_baseline *out, const char *path, ttm_error *err) {
  int status = out->text.n > LARGEST
                   ? ttm_error_set(err, TTM_EFORMAT, "%s is no baseline: it is larger than 16 MB", path)
                   : read_text(out, path, err);
  if (status) ttm_baseline_free(out);
  return status;
}

int ttm_baseline_read(ttm_baseline *out, const char *path, ttm_error *err) {
  *out = (ttm_baseline){0};
  int status = ttm_source_read_small(&out->text, path, LARGEST, err);
  if (status) ttm_baseline_free(out);
  return status ? status : ttm_baseline_parse(out, path, err);
}

/* ---- Writing ------------------------------------------------------------------------------------------------------ */

static void put_peaks(ttm_json *j, const ttm_baseline_entry *e) {
  ttm_json_put_sections(j, "peak");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) {
    const ttm_baseline_peak *peak = &e->peak[m];
    if (!peak->known) continue;
    ttm_json_put_object(j, ttm_memory_name(m));
    ttm_json_put_milli(j, "per_bank_MB", peak->milli);
    if (peak->banks) ttm_json_put_u64(j, "banks", peak->banks);
    ttm_json_put_str(j, "basis", peak->basis);
    if (peak->at_least) ttm_json_put_bool(j, "lower_bound", true);
    if (peak->op.n) ttm_json_put_str(j, "raised_by", peak->op);
    if (peak->at.n) ttm_json_put_str(j, "at", peak->at);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_rows(ttm_json *j, const char *key, const ttm_baseline_rows *rows, bool operations) {
  ttm_json_put_rows(j, key);
  for (size_t i = 0; i < rows->n && i < TTM_BASELINE_ROWS; i++) {
    const ttm_baseline_row *row = &rows->at[i];
    ttm_json_put_object(j, NULL);
    ttm_json_put_milli(j, "per_bank_MB", row->milli);
    ttm_json_put_str(j, operations ? "operation" : "class", row->kind);
    ttm_json_put_str(j, operations ? "at" : "name", row->name);
    ttm_json_put_u64(j, operations ? "places" : "tensors", row->count);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_boards(ttm_json *j, const ttm_baseline_entry *e) {
  ttm_json_put_sections(j, "boards");
  for (size_t i = 0; i < e->boards.n; i++) {
    const ttm_baseline_board *board = &e->boards.at[i];
    ttm_json_put_key(j, board->board);
    ttm_json_put_object(j, NULL);
    ttm_json_put_bool(j, "fits", board->fits);
    ttm_json_put_milli(j, "DRAM_per_bank_MB", board->milli[TTM_DRAM]);
    ttm_json_put_milli(j, "L1_per_core_MB", board->milli[TTM_L1]);
    if (board->at_least) ttm_json_put_bool(j, "lower_bound", true);
    ttm_json_end(j);
  }
  ttm_json_end(j);
}

static void put_member(ttm_json *j, const ttm_baseline_member *member) {
  ttm_json_put_key(j, member->key);
  ttm_json_put_raw(j, NULL, member->raw);
}

static bool has_peaks(const ttm_baseline_entry *e) {
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++)
    if (e->peak[m].known) return true;
  return false;
}

/* What is renewed; all else is a person's, or was not asked for: a run on boards tells boards, a log peaks. */
static bool is_renewed(ttm_str key, const ttm_baseline_entry *e) {
  if (!has_peaks(e) && !ttm_str_eq(key, TTM_LIT("boards"))) return false;
  static const char *const keys[] = {"peak", "failures", "growth_per_run_MB", "operations", "live_at_peak"};
  if (ttm_str_eq(key, TTM_LIT("boards"))) return e->boards.n > 0;
  return ttm_str_index(key, keys, sizeof keys / sizeof *keys) < sizeof keys / sizeof *keys;
}

static void put_needs(ttm_json *j, const ttm_baseline_entry *e) {
  put_peaks(j, e);
  ttm_json_put_u64(j, "failures", e->failures);
  ttm_json_put_milli(j, "growth_per_run_MB", e->growth);
  put_rows(j, "operations", &e->operations, true);
  ttm_json_put_sections(j, "live_at_peak");
  for (ttm_memory m = TTM_DRAM; m <= TTM_L1; m++) put_rows(j, ttm_memory_name(m), &e->alive[m], false);
  ttm_json_end(j);
}

static void put_entry(ttm_json *j, const ttm_baseline_entry *e, const ttm_baseline_members *kept) {
  ttm_json_put_key(j, e->name);
  ttm_json_put_sections(j, NULL);
  for (size_t i = 0; i < kept->n; i++)
    if (!is_renewed(kept->at[i].key, e)) put_member(j, &kept->at[i]);
  if (has_peaks(e)) put_needs(j, e);
  if (e->boards.n) put_boards(j, e);
  ttm_json_end(j);
}

/* Tolerances stand in a new file, so that nobody has to look up how to write them. */
static void put_head(ttm_json *j, const ttm_baseline *b) {
  for (size_t i = 0; i < b->top.n; i++)
    if (!ttm_str_eq(b->top.at[i].key, TTM_LIT("entries"))) put_member(j, &b->top.at[i]);
  if (b->top.n) return;
  ttm_json_put_u64(j, "schema_version", VERSION);
  ttm_json_put_object(j, "tolerance");
  for (ttm_memory m = 0; m < TTM_MEMORIES; m++) ttm_json_put_name(j, ttm_memory_name(m), "1%");
  ttm_json_end(j);
}

/* An entry that is there is renewed where it stands; a new one comes before the first with a later name. */
int ttm_baseline_renew(const ttm_baseline *b, const ttm_baseline_entry *e, ttm_buf *out) {
  ttm_json json = {.out = out, .spaced = true, .tall = true}, *j = &json;
  ttm_baseline_members kept = {0};
  ttm_field_texts texts = {0};
  uint64_t line;
  const ttm_baseline_member *old = find_member(&b->named, e->name);
  int status = old ? read_members(&kept, &texts, old->raw, false, &line) : TTM_OK;
  bool put = false;
  ttm_json_put_sections(j, NULL);
  put_head(j, b);
  ttm_json_put_sections(j, "entries");
  for (size_t i = 0; i < b->named.n; i++) {
    const ttm_baseline_member *member = &b->named.at[i];
    int order = ttm_str_order(member->key, e->name);
    if (!put && (old ? member == old : order > 0)) put = true, put_entry(j, e, &kept);
    if (order) put_member(j, member);
  }
  if (!put) put_entry(j, e, &kept);
  ttm_json_end(j);
  ttm_json_end(j);
  ttm_vec_free(&kept);
  ttm_intern_free(&texts.pool);
  return ttm_json_finish(j) || status ? TTM_ENOMEM : TTM_OK;
}
