/* SPDX-License-Identifier: Apache-2.0 */
/* The tables as Arrow streams: what the rows say, batch by batch, whoever is freed first, and with any allocation refused. */
#include <errno.h>

#include "profile_fixture.h"
#include "starving.h"
#include "ttmem/operation.h"
#include "ttmem/table.h"

static ttm_findings *findings_of(ttm_profile *p) {
  ttm_findings *f;
  fx_ok(ttm_findings_make(&f, p, 1, NULL));
  ttm_profile_free(p); /* the findings keep it */
  return f;
}

static ttm_findings *read_file(const char *name) {
  ttm_profile *p;
  char path[512];
  snprintf(path, sizeof path, TTMEM_SOURCE "/%s", name);
  fx_ok(ttm_profile_read(&p, path, NULL));
  return findings_of(p);
}

static size_t column_of(const struct ArrowSchema *schema, const char *name) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (!strcmp(schema->children[i]->name, name)) return (size_t)i;
  }
  fail_msg("no column %s", name);
  return 0;
}

static bool known(const struct ArrowArray *a, size_t row) {
  const uint8_t *bits = a->buffers[0];
  return !bits || bits[row / 8] >> row % 8 & 1;
}

static int64_t number(const struct ArrowArray *a, size_t row) { return ((const int64_t *)a->buffers[1])[row]; }

static ttm_str text(const struct ArrowArray *a, size_t row) {
  const int32_t *offsets = a->buffers[1];
  return (ttm_str){(const char *)a->buffers[2] + offsets[row], (size_t)(offsets[row + 1] - offsets[row])};
}

/* ---- What it says -------------------------------------------------------------------------------------------------- */

static void test_columns_are_the_rows(void **state) {
  (void)state;
  ttm_findings *f = read_file("tests/data/small.log");
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch, end;
  fx_ok(ttm_table_stream(f, TTM_TABLE_OPERATIONS, &stream, NULL));
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  assert_int_equal(stream.get_next(&stream, &batch), 0);
  assert_int_equal(stream.get_next(&stream, &end), 0);
  assert_null(end.release);
  stream.release(&stream);
  assert_int_equal(batch.length, ttm_operation_count(f->profile));
  assert_int_equal(batch.n_children, schema.n_children);
  const struct ArrowArray *name = batch.children[column_of(&schema, "name")];
  const struct ArrowArray *index = batch.children[column_of(&schema, "index")];
  const struct ArrowArray *delta = batch.children[column_of(&schema, "dram_delta")];
  for (uint32_t i = 0; i < batch.length; i++) {
    ttm_operation_info op = TTM_OPERATION_INFO_INIT;
    fx_ok(ttm_operation_get(f->profile, i, &op, NULL));
    assert_true(ttm_str_eq(text(name, i), op.name));
    assert_int_equal(known(index, i), op.in_reports);
    if (op.in_reports) assert_int_equal(number(index, i), ttm_findings_index(f, i));
    assert_int_equal(known(delta, i), op.dram_delta != TTM_NO_DELTA);
    if (op.dram_delta != TTM_NO_DELTA) assert_int_equal(number(delta, i), op.dram_delta);
  }
  batch.release(&batch);
  schema.release(&schema);
  ttm_findings_free(f);
}

/* Takes every batch of a stream whose findings are gone; the number of rows. */
static int64_t drain(ttm_findings *f, ttm_table table, int64_t *batches) {
  struct ArrowArrayStream stream;
  int64_t rows = 0;
  fx_ok(ttm_table_stream(f, table, &stream, NULL));
  ttm_findings_free(f);
  for (*batches = 0;; ++*batches) {
    struct ArrowArray batch;
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    if (!batch.release) break;
    for (int64_t c = 0; c < batch.n_children; c++) assert_int_equal(batch.children[c]->length, batch.length);
    rows += batch.length;
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows;
}

static ttm_findings *many_operations(uint32_t operations, const char *location) {
  ttm_profile *p = fx_new(1);
  uint32_t add = fx_text(p, "ttnn.add", TTM_OP_PLAIN, FX_TILE, NULL), call = fx_call(p, "main", 0, TTM_NONE);
  p->texts.at[add].location = fx_str(p, location);
  for (uint32_t i = 0; i < operations; i++) fx_step(p, add, call, i % 7);
  return findings_of(p);
}

static void test_batches(void **state) {
  (void)state;
  int64_t batches;
  assert_int_equal(drain(many_operations(150000, "add.1"), TTM_TABLE_OPERATIONS, &batches), 150000);
  assert_int_equal(batches, 3);
  assert_int_equal(drain(many_operations(0, ""), TTM_TABLE_TENSORS, &batches), 0);
  assert_int_equal(batches, 0);
}

/* Offsets are 32 bits: long texts make batches short, not wrong. */
static void test_long_texts(void **state) {
  (void)state;
  enum { LONG = 1 << 20, ROWS = 200 };
  char *location = malloc(LONG + 1);
  int64_t batches;
  assert_non_null(location);
  memset(location, 'x', LONG);
  location[LONG] = '\0';
  assert_int_equal(drain(many_operations(ROWS, location), TTM_TABLE_OPERATIONS, &batches), ROWS);
  assert_int_equal(batches, 4);
  free(location);
}

static void test_texts_are_utf8(void **state) {
  (void)state;
  ttm_findings *f = many_operations(1, "caf\xC3\xA9 \xFF\xC3");
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  fx_ok(ttm_table_stream(f, TTM_TABLE_OPERATIONS, &stream, NULL));
  assert_int_equal(stream.get_schema(&stream, &schema), 0);
  assert_int_equal(stream.get_next(&stream, &batch), 0);
  assert_view(text(batch.children[column_of(&schema, "location")], 0), "caf\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD");
  batch.release(&batch);
  schema.release(&schema);
  stream.release(&stream);
  ttm_findings_free(f);
}

static void test_children_may_be_moved_out(void **state) {
  (void)state;
  ttm_findings *f = read_file("tests/data/small.log");
  struct ArrowArrayStream stream;
  struct ArrowArray batch, moved;
  fx_ok(ttm_table_stream(f, TTM_TABLE_TENSORS, &stream, NULL));
  ttm_findings_free(f);
  assert_int_equal(stream.get_next(&stream, &batch), 0);
  stream.release(&stream);
  moved = *batch.children[1];
  batch.children[1]->release = NULL;
  batch.release(&batch);
  assert_true(text(&moved, 1).n > 0);
  moved.release(&moved);
}

static void test_there_are_so_many_tables(void **state) {
  (void)state;
  ttm_findings *f = read_file("tests/data/small.log");
  struct ArrowArrayStream stream;
  ttm_error err = {0};
  assert_int_equal(ttm_table_stream(f, TTM_TABLES, &stream, &err), TTM_EUSAGE);
  assert_null(ttm_table_name(TTM_TABLES));
  assert_int_equal(ttm_table_rows(f, TTM_TABLES), 0);
  for (int t = 0; t < TTM_TABLES; t++) {
    int64_t batches;
    assert_non_null(ttm_table_name((ttm_table)t));
    assert_int_equal(ttm_table_rows(f, (ttm_table)t), drain(ttm_findings_share(f), (ttm_table)t, &batches));
  }
  ttm_findings_free(f);
}

/* ---- Without memory ------------------------------------------------------------------------------------------------ */

static bool work_stream(void *context, bool plenty) {
  struct ArrowArrayStream stream;
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray batch = {.release = NULL};
  ttm_error err = {0};
  if (ttm_table_stream(context, TTM_TABLE_TENSORS, &stream, &err)) return !plenty && err.code == TTM_ENOMEM;
  int status = stream.get_schema(&stream, &schema);
  if (!status) status = stream.get_next(&stream, &batch);
  bool fine = status ? !plenty && status == ENOMEM && stream.get_last_error(&stream) && !batch.release
                     : batch.length == ttm_table_rows(context, TTM_TABLE_TENSORS);
  if (schema.release) schema.release(&schema);
  if (batch.release) batch.release(&batch);
  stream.release(&stream);
  return fine;
}

static bool work_json(void *context, bool plenty) {
  char *json = NULL;
  size_t n = 0;
  ttm_error err = {0};
  int status = ttm_findings_json(context, &json, &n, &err);
  if (status) return !plenty && status == TTM_ENOMEM && err.code == TTM_ENOMEM && !json;
  bool fine = json[n] == '\0' && json[n - 2] == '}';
  ttm_text_free(json);
  return fine;
}

static void test_fails_cleanly(void **state) {
  (void)state;
  ttm_findings *f = read_file("tests/data/small.log");
  starve_walk(work_stream, f);
  starve_walk(work_json, f);
  ttm_findings_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_are_the_rows),
      cmocka_unit_test(test_batches),
      cmocka_unit_test(test_long_texts),
      cmocka_unit_test(test_texts_are_utf8),
      cmocka_unit_test(test_children_may_be_moved_out),
      cmocka_unit_test(test_there_are_so_many_tables),
      cmocka_unit_test(test_fails_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
