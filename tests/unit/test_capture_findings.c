/* SPDX-License-Identifier: Apache-2.0 */
/* What the analyses make of graph captures and recordings: late frees, waste and advice as of a log, and unknown only what they cannot know. */
#include <stdio.h>

#include "analyze/findings.h"
#include "base/buf.h"
#include "unit.h"

enum { MB = 1 << 20, BASE = 1 << 20 };

/* A capture being written. Each operation makes one DRAM tensor; nodes are numbered in order. */
typedef struct writer {
  ttm_buf text;
  bool recording, one_piece; /* a recording is written in pieces: one for each operation, or one for all */
  bool one_line;             /* every operation is called in the same line of the program */
  uint32_t next;             /* counter */
  uint32_t ops;
  uint64_t end; /* of what was allocated */
} writer;

typedef struct made {
  uint32_t buffer, tensor; /* nodes */
  uint64_t at, bank_bytes;
  uint64_t size; /* 0: bank_bytes in each of 12 banks */
  uint32_t page, device;
} made;

static void put_view(writer *w, uint32_t device, uint64_t allocated) {
  ttm_buf_printf(&w->text,
                 "%s{\"node_type\":\"memory_view\",\"params\":{\"device_id\":%u,\"buffer_type\":0,\"num_banks\":12,"
                 "\"total_bytes_per_bank\":1072693184,\"allocated_per_bank\":%llu,\"largest_free_per_bank\":%llu,"
                 "\"base_address\":%d}}",
                 w->ops ? ",\n" : "", device, (unsigned long long)allocated,
                 (unsigned long long)(1072693184 - allocated), BASE);
}

static writer begin(bool recording) {
  writer w = {.recording = recording, .end = BASE};
  if (recording) {
    ttm_buf_puts(&w.text,
                 "{\"ttmem_recording\":1,\"metadata\":{\"version\":\"0.81.1\"},\"devices\":[{\"device_id\":0,"
                 "\"arch\":\"WORMHOLE_B0\",\"worker_l1_size\":1499136,\"l1_num_banks\":64,\"l1_bank_size\":1376928,"
                 "\"address_at_first_l1_cb_buffer\":105824,\"num_x_compute_cores\":8,\"num_y_compute_cores\":8}],"
                 "\"board\":\"n150\",\"graph\":[\n");
    put_view(&w, 0, 0);
  } else {
    ttm_buf_puts(&w.text, "[{\"counter\":0,\"node_type\":\"capture_start\",\"params\":{}}");
    w.next = 1;
  }
  return w;
}

static uint32_t node(writer *w, const char *type, const char *connections) {
  ttm_buf_printf(&w->text, ",\n{\"counter\":%u,\"node_type\":\"%s\",\"connections\":[%s],\"params\":{", w->next, type,
                 connections);
  return w->next++;
}

static void put_size(writer *w, const made *what) {
  ttm_buf_printf(&w->text, "\"size\":%llu,\"type\":\"DRAM\",\"buffer_type\":0,\"device_id\":%u",
                 (unsigned long long)(what->size ? what->size : what->bank_bytes * 12), what->device);
}

static void put_tensor(writer *w, const made *what, const char *shape, const char *layout) {
  node(w, "tensor", "");
  ttm_buf_printf(
      &w->text,
      "\"shape\":\"Shape([%s])\",\"dtype\":\"DataType::BFLOAT16\",\"layout\":\"Layout::%s\",\"address\":%llu,"
      "\"buffer_type\":0,\"device_id\":%u}}",
      shape, layout, (unsigned long long)what->at, what->device);
}

/* An operation that takes `uses` (NULL: nothing) and makes a tensor of `bank_bytes` at `at`. A tensor has one node in each piece. */
static made operation(writer *w, const char *name, const made *uses, made out, const char *shape, const char *layout) {
  char number[16];
  bool retold = uses && w->recording && !w->one_piece;
  w->ops++;
  if (w->recording)
    ttm_buf_printf(&w->text,
                   ",\n{\"node_type\":\"operation\",\"params\":{\"id\":%u,\"name\":\"%s\",\"at\":\"model.py:%u\"}}",
                   w->ops, name, w->one_line ? 1 : w->ops);
  if (w->recording && (!w->one_piece || w->ops == 1))
    ttm_buf_puts(&w->text, ",\n{\"node_type\":\"piece\",\"params\":{}}"), w->next = 1;
  uint32_t function = node(w, "function_start", "");
  ttm_buf_printf(&w->text, "\"name\":\"%s\"},\"input_tensors\":[", name);
  if (uses) ttm_buf_printf(&w->text, "%u", retold ? function + 1 : uses->tensor);
  ttm_buf_puts(&w->text, "]}");
  if (retold) put_tensor(w, uses, "32, 32", "TILE");
  out.tensor = w->next + 2;
  snprintf(number, sizeof number, "%u", out.tensor);
  uint32_t buffer = node(w, "buffer", number);
  put_size(w, &out);
  ttm_buf_puts(&w->text, "}}");
  snprintf(number, sizeof number, "%u", buffer);
  node(w, "buffer_allocate", number);
  put_size(w, &out);
  ttm_buf_printf(&w->text, ",\"address\":%llu,\"page_size\":%u,\"num_cores\":0,\"max_size_per_bank\":%llu}}",
                 (unsigned long long)out.at, out.page, (unsigned long long)out.bank_bytes);
  put_tensor(w, &out, shape, layout);
  node(w, "function_end", "");
  ttm_buf_puts(&w->text, "}}");
  out.buffer = buffer;
  return out;
}

static made plain(writer *w, const char *name, const made *uses, uint64_t bank_bytes) {
  made out = {.at = w->end, .bank_bytes = bank_bytes, .page = 2048};
  w->end += bank_bytes;
  return operation(w, name, uses, out, "32, 32", "TILE");
}

static void drop(writer *w, const made *what) {
  char number[16];
  snprintf(number, sizeof number, "%u", what->buffer);
  node(w, "buffer_deallocate", w->recording ? "" : number);
  put_size(w, what);
  ttm_buf_printf(&w->text, ",\"address\":%llu}}", (unsigned long long)what->at);
}

static ttm_findings *finish(writer *w, ttm_profile **p) {
  ttm_findings *f = NULL;
  if (w->recording)
    ttm_buf_puts(&w->text, ",\n{\"node_type\":\"recording_end\",\"params\":{\"reason\":\"exit\"}}\n]}");
  else
    ttm_buf_puts(&w->text, "]");
  assert_false(w->text.failed);
  assert_int_equal(ttm_profile_read_bytes(p, w->text.at, w->text.n, NULL, NULL), TTM_OK);
  assert_int_equal((*p)->kind, TTM_LOG_CAPTURE);
  assert_int_equal((*p)->capture.recording.is, w->recording);
  assert_int_equal(ttm_findings_make(&f, *p, 1, NULL), TTM_OK);
  ttm_buf_free(&w->text);
  return f;
}

static void end(ttm_findings *f, ttm_profile *p) {
  ttm_findings_free(f);
  ttm_profile_free(p);
}

/* 2 MB, used by the next operation, freed five operations later, when 2 MB more are there. Of a recording, which shows the program's end, also
 * what was not freed by then, though nothing used it any more. */
static void late_frees_and_advice(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    writer w = begin(kind > 0);
    w.one_piece = kind == 2;
    made late = plain(&w, "ttnn.matmul", NULL, 2 * MB), used = plain(&w, "ttnn.relu", &late, MB);
    for (int i = 0; i < 4; i++) used = plain(&w, "ttnn.exp", &used, 64 * 1024);
    made other = plain(&w, "ttnn.add", &used, 2 * MB);
    drop(&w, &late);
    plain(&w, "ttnn.sum", &other, 2048);
    ttm_profile *p;
    ttm_findings *f = finish(&w, &p);
    const ttm_lifetimes *l = &f->lifetimes;
    assert_true(l->known);
    assert_int_equal(l->n, kind ? 3 : 1);
    assert_view(ttm_profile_string(p, ttm_op_text_of(p, p->tensors.at[l->late[0].tensor].birth)->name), "ttnn.matmul");
    assert_view(ttm_profile_string(p, ttm_op_text_of(p, p->tensors.at[l->late[0].tensor].last_use)->name), "ttnn.relu");
    assert_int_equal(l->late[0].gap, 5);
    assert_int_equal(l->late[0].bank_bytes, 2 * MB);
    assert_true(l->peak_bytes / 1000 == (5 * MB + 256 * 1024) / 1000);
    assert_true(l->peak_bytes - l->late[0].peak_bytes > 2 * MB - 4000 && !l->replayed);
    assert_true(f->peak_fixes.known);
    assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_FREE_EARLIER);
    assert_in_range(f->peak_fixes.at[0].bytes, l->peak_bytes - l->peak_without_bytes,
                    l->peak_bytes - l->peak_without_bytes + 1000);
    end(f, p);
  }
}

/* The same on two devices that are no mesh, one operation after the other: what one of them saves is not saved twice. */
static void late_frees_of_two_devices(void **state) {
  (void)state;
  static const uint64_t sizes[] = {2 * MB, MB, 64 * 1024, 64 * 1024, 64 * 1024, 64 * 1024, 2 * MB};
  enum { OPS = sizeof sizes / sizeof *sizes };
  writer w = begin(false);
  made results[OPS][2];
  for (uint32_t i = 0; i < OPS; i++) {
    for (uint32_t d = 0; d < 2; d++) {
      made out = {.at = w.end, .bank_bytes = sizes[i], .page = 2048, .device = d};
      results[i][d] =
          operation(&w, i ? "ttnn.relu" : "ttnn.matmul", i ? &results[i - 1][d] : NULL, out, "32, 32", "TILE");
    }
    w.end += sizes[i];
  }
  for (uint32_t d = 0; d < 2; d++) drop(&w, &results[0][d]);
  ttm_profile *p;
  ttm_findings *f = finish(&w, &p);
  const ttm_lifetimes *l = &f->lifetimes;
  assert_true(l->known);
  assert_int_equal(l->n, 1);
  assert_int_equal(l->late[0].times, 1);
  assert_true(l->peak_bytes / 1000 == (5 * MB + 256 * 1024) / 1000);
  assert_true(l->peak_bytes - l->late[0].peak_bytes > 2 * MB - 4000);
  assert_true(l->peak_bytes - l->late[0].peak_bytes < 2 * MB + 4000);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_FREE_EARLIER);
  assert_int_equal(f->peak_fixes.at[0].count, 1);
  end(f, p);
}

/* Sizes that no memory has are added up all the same, and nothing overflows. */
static void sizes_beyond_measure(void **state) {
  (void)state;
  writer w = begin(false);
  made late[3];
  for (int i = 0; i < 3; i++) {
    late[i] = (made){.at = BASE, .bank_bytes = UINT64_C(1) << 62, .size = 4096, .page = 2048};
    late[i] = operation(&w, "ttnn.matmul", NULL, late[i], "32, 32", "TILE");
  }
  for (int i = 0; i < 6; i++) plain(&w, "ttnn.exp", NULL, 64 * 1024);
  for (int i = 0; i < 3; i++) drop(&w, &late[i]);
  plain(&w, "ttnn.exp", NULL, 64 * 1024);
  ttm_profile *p;
  ttm_findings *f = finish(&w, &p);
  assert_true(f->lifetimes.known);
  end(f, p);
}

/* A padded tensor whose place was given to another: nobody saw it go, but it saves nothing from then on. */
static void what_went_unseen_saves_nothing(void **state) {
  (void)state;
  writer w = begin(true);
  w.one_line = true;
  made padded = {.at = BASE, .bank_bytes = MB, .size = 512 * 12 * 2048, .page = 2048};
  made other = {.at = BASE, .bank_bytes = 2 * MB, .page = 2048};
  made above = {.at = BASE + 2 * MB, .bank_bytes = MB + MB / 4, .page = 2048};
  operation(&w, "ttnn.empty", NULL, padded, "6144, 1, 32", "TILE");
  other = operation(&w, "ttnn.relu", NULL, other, "32, 32", "TILE");
  drop(&w, &other);
  operation(&w, "ttnn.empty", NULL, padded, "6144, 1, 32", "TILE");
  operation(&w, "ttnn.relu", NULL, above, "32, 32", "TILE");
  ttm_profile *p;
  ttm_findings *f = finish(&w, &p);
  assert_int_equal(p->capture.recording.unseen_frees, 1);
  assert_int_equal(f->peak_fixes.n, 1);
  assert_int_equal(f->peak_fixes.at[0].kind, TTM_FIX_RESHAPE);
  assert_true(f->peak_fixes.at[0].bytes > MB / 4 - 2000 && f->peak_fixes.at[0].bytes < MB / 4 + 2000);
  end(f, p);
}

/* The bytes of what is alive are those of tensors whose type is known, and so is their number. */
static void tensors_are_those_with_bytes(void **state) {
  (void)state;
  writer w = begin(false);
  made before = {.bank_bytes = MB};
  node(&w, "buffer", "");
  put_size(&w, &before);
  ttm_buf_puts(&w.text, "}}");
  plain(&w, "ttnn.relu", NULL, MB);
  ttm_profile *p;
  ttm_findings *f = finish(&w, &p);
  assert_int_equal(f->alive_set[TTM_DRAM].tensors, 2);
  assert_int_equal(f->alive_at_peak.tensors, 1);
  assert_int_equal(f->alive_at_peak.logical_bytes, 2048);
  end(f, p);
}

/* Used to the end, or freed only because the device is closed: nothing is late. */
static void what_is_used_or_kept_is_not_late(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    writer w = begin(kind > 0);
    w.one_piece = kind == 2;
    made kept = plain(&w, "ttnn.matmul", NULL, 2 * MB), used = plain(&w, "ttnn.empty", NULL, MB);
    for (int i = 0; i < 6; i++) plain(&w, "ttnn.exp", &used, 64 * 1024);
    drop(&w, &used);
    if (kind) ttm_buf_puts(&w.text, ",\n{\"node_type\":\"device_close\",\"params\":{\"device_id\":0}}");
    ttm_profile *p;
    ttm_findings *f = finish(&w, &p);
    (void)kept;
    assert_true(f->lifetimes.known);
    assert_int_equal(f->lifetimes.n, 0);
    assert_true(f->peak_fixes.known);
    assert_int_equal(f->peak_fixes.n, 0);
    end(f, p);
  }
}

/* Tiles of one row each, and rows of 8 bytes. */
static void waste_of_both_layouts(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    writer w = begin(kind);
    made tiles = {.at = BASE, .bank_bytes = MB, .page = 2048},
         rows = {.at = BASE + 2 * MB, .bank_bytes = MB, .page = 8};
    tiles.size = 512 * 12 * 2048;
    rows.size = 12 * MB / 4; /* each row takes 32 bytes */
    operation(&w, "ttnn.empty", NULL, tiles, "6144, 1, 32", "TILE");
    operation(&w, "ttnn.empty", NULL, rows, "393216, 4", "ROW_MAJOR");
    ttm_profile *p;
    ttm_findings *f = finish(&w, &p);
    assert_true(f->wastes.known);
    assert_int_equal(f->wastes.bank_bytes[TTM_WASTE_PADDING], MB / 32 * 31);
    assert_int_equal(f->wastes.bank_bytes[TTM_WASTE_NARROW], MB / 4 * 3);
    assert_true(f->peak_fixes.n > 0);
    end(f, p);
  }
}

/* A look-up makes rows of a table in tiles; of one in rows it would not. */
static void rows_of_a_table(void **state) {
  (void)state;
  writer w = begin(false);
  made table = {.at = BASE, .bank_bytes = 342 * 2048, .size = 8 * MB, .page = 2048}, rows = table;
  rows.at = w.end = BASE + table.bank_bytes;
  table = operation(&w, "ttnn.empty", NULL, table, "4096, 1024", "TILE");
  rows = operation(&w, "ttnn.embedding", &table, rows, "4096, 1024", "ROW_MAJOR");
  drop(&w, &rows);
  plain(&w, "ttnn.relu", NULL, 64 * 1024);
  ttm_profile *p;
  ttm_findings *f = finish(&w, &p);
  assert_int_equal(f->peak_fixes.n, 1);
  const ttm_remedy *fix = &f->peak_fixes.at[0];
  assert_int_equal(fix->kind, TTM_FIX_ROW_MAJOR);
  assert_int_equal(fix->check, TTM_FIX_REPLAYED);
  assert_int_equal(fix->tried.peak, 342 * 2048 + 64 * 1024);
  end(f, p);
}

/* Two devices that are no mesh: the level is the fullest one's, and so is what explains it. What the other one holds, no advice takes away. */
static void the_fullest_device_is_explained(void **state) {
  (void)state;
  for (int even = 0; even < 2; even++) {
    writer w = begin(false);
    for (uint32_t d = 0; d < 2; d++) {
      made out = {.at = BASE, .bank_bytes = d && !even ? 3 * MB : 2 * MB, .page = 2048, .device = d};
      out.size = 512 * 12 * 2048;
      operation(&w, d ? "ttnn.add" : "ttnn.relu", NULL, out, d ? "6144, 1, 32" : "32, 32", "TILE");
    }
    ttm_profile *p;
    ttm_findings *f = finish(&w, &p);
    const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
    assert_true(set->known);
    assert_int_equal(set->by_class[TTM_ALIVE_ACTIVATION], even ? 2 * MB : 3 * MB);
    assert_int_equal(set->over_bytes, 0);
    assert_true(ttm_alive_set_quality(set) > 99.9);
    assert_true(f->lifetimes.known && f->peak_fixes.known);
    if (!even) assert_true(f->peak_fixes.at[0].bytes > MB - 4000 && f->peak_fixes.at[0].bytes < MB + 4000);
    end(f, p);
  }
}

/* The allocator says less than the buffers add up to: one of them went unseen. */
static void more_buffers_than_memory(void **state) {
  (void)state;
  writer w = begin(true);
  made first = plain(&w, "ttnn.relu", NULL, 2 * MB);
  put_view(&w, 0, MB);
  plain(&w, "ttnn.add", &first, 4 * MB);
  ttm_profile *p;
  ttm_findings *f = finish(&w, &p);
  const ttm_alive_set *set = &f->alive_set[TTM_DRAM];
  assert_int_equal(set->by_class[TTM_ALIVE_ACTIVATION], 6 * MB);
  assert_true(set->over_bytes > MB - 2000 && set->over_bytes < MB + 2000);
  assert_true(ttm_alive_set_explained(set) < set->measured_bytes + 2000);
  end(f, p);
}

/* Only a recording knows where the free memory lies. */
static void fragmentation_takes_addresses(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    writer w = begin(kind);
    made hole = plain(&w, "ttnn.relu", NULL, 4 * MB);
    plain(&w, "ttnn.add", &hole, MB);
    drop(&w, &hole);
    plain(&w, "ttnn.exp", NULL, 64 * 1024);
    ttm_profile *p;
    ttm_findings *f = finish(&w, &p);
    const ttm_fragmentation *x = &f->fragmentation;
    assert_int_equal(x->known, kind);
    assert_int_equal(x->largest_request, kind ? 4 * MB : 0);
    if (kind) {
      assert_int_equal(x->unknown_states, 0);
      assert_true(x->worst_free - x->worst_largest > 4 * MB - 2000 && x->worst_free - x->worst_largest < 4 * MB + 2000);
      assert_view(ttm_profile_string(p, ttm_op_text_of(p, x->request_op)->name), "ttnn.relu");
    }
    end(f, p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(late_frees_and_advice),           cmocka_unit_test(what_is_used_or_kept_is_not_late),
      cmocka_unit_test(late_frees_of_two_devices),       cmocka_unit_test(sizes_beyond_measure),
      cmocka_unit_test(what_went_unseen_saves_nothing),  cmocka_unit_test(tensors_are_those_with_bytes),
      cmocka_unit_test(waste_of_both_layouts),           cmocka_unit_test(rows_of_a_table),
      cmocka_unit_test(the_fullest_device_is_explained), cmocka_unit_test(more_buffers_than_memory),
      cmocka_unit_test(fragmentation_takes_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
