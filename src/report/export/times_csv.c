/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of the profiler's CSV is which operation. The two name operations differently and one operation may run several programs, so both are reduced to
 * what kind of work they do and then aligned in their order. */
#include <ctype.h>
#include <string.h>

#include "analyze/align.h"
#include "analyze/words.h"
#include "parse/perf_csv.h"
#include "report/export/times.h"

/* Kinds of work, by the words that begin with one of these (lower case, letters only). The first that fits counts. */
static const struct {
  const char *word, *kind;
} KINDS[] = {
    {"matmul", "matmul"},
    {"linear", "matmul"},
    {"sparsematmul", "matmul"},
    {"binary", "binary"},
    {"add", "binary"},
    {"subtract", "binary"},
    {"sub", "binary"},
    {"multiply", "binary"},
    {"mul", "binary"},
    {"divide", "binary"},
    {"div", "binary"},
    {"pow", "binary"},
    {"maximum", "binary"},
    {"minimum", "binary"},
    {"eq", "binary"},
    {"ne", "binary"},
    {"gt", "binary"},
    {"ge", "binary"},
    {"lt", "binary"},
    {"le", "binary"},
    {"logical", "binary"},
    {"bitwise", "binary"},
    {"unary", "unary"},
    {"gelu", "unary"},
    {"relu", "unary"},
    {"silu", "unary"},
    {"sigmoid", "unary"},
    {"exp", "unary"},
    {"sqrt", "unary"},
    {"rsqrt", "unary"},
    {"tanh", "unary"},
    {"neg", "unary"},
    {"reciprocal", "unary"},
    {"abs", "unary"},
    {"sin", "unary"},
    {"cos", "unary"},
    {"clamp", "unary"},
    {"erf", "unary"},
    {"log", "unary"},
    {"tilize", "layout"},
    {"untilize", "layout"},
    {"tolayout", "layout"},
    {"interleavedto", "memory"},
    {"shardedto", "memory"},
    {"reshard", "memory"},
    {"tomemoryconfig", "memory"},
    {"layernorm", "norm"},
    {"rmsnorm", "norm"},
    {"reduce", "reduce"},
    {"sum", "reduce"},
    {"mean", "reduce"},
    {"max", "reduce"},
    {"min", "reduce"},
    {"reducescatter", "reducescatter"},
    {"scaleddotproduct", "sdpa"},
    {"sdpa", "sdpa"},
    {"typecast", "typecast"},
    {"reshape", "reshape"},
    {"embedding", "embedding"},
    {"conv", "conv"},
    {"optimizedconv", "conv"},
    {"pool", "pool"},
    {"where", "where"},
    {"ternary", "where"},
    {"fill", "full"},
    {"full", "full"},
};

/* "ttnn.rms_norm", "ttnn::prim::LayerNormDeviceOperation" -> "rmsnorm", "layernormdeviceoperation". */
static size_t plain_name(char *room, size_t cap, ttm_str name) {
  size_t n = 0;
  for (size_t i = 0; i < name.n; i++) {
    if (name.p[i] == '.' || name.p[i] == ':') n = 0;
    if (isalpha((unsigned char)name.p[i]) && n + 1 < cap) room[n++] = (char)tolower((unsigned char)name.p[i]);
  }
  room[n] = '\0';
  return n;
}

static ttm_str kind_of(char *room, size_t cap, ttm_str name) {
  size_t n = plain_name(room, cap, name), longest = 0, best = 0;
  static const char *const ends[] = {"deviceoperation", "operation", "op"};
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
    size_t length = strlen(KINDS[i].word);
    if (length > longest && !strncmp(room, KINDS[i].word, length)) longest = length, best = i;
  }
  if (longest) return ttm_str_of(KINDS[best].kind);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    ttm_str rest = {room, n};
    if (ttm_str_ends(rest, ttm_str_of(ends[i])) && n > strlen(ends[i])) n -= strlen(ends[i]);
  }
  return (ttm_str){room, n};
}

/* ---- Aligning ----------------------------------------------------------------------------------------------------------------- */

typedef TTM_VEC(uint32_t) numbers;

typedef struct joining {
  const ttm_profile *p;
  const ttm_perf_csv *csv;
  uint64_t device; /* of the CSV: the first one stands for all */
  ttm_intern kinds;
  numbers ops, op_keys;   /* operations of the first rank that run on the device */
  numbers rows, row_keys; /* and the rows of the device */
  numbers match;          /* by place in `ops`: the place in `rows` or TTM_NONE */
} joining;

static int add_key(joining *j, ttm_str name, numbers *keys) {
  char room[128];
  uint32_t key;
  if (ttm_intern_add(&j->kinds, kind_of(room, sizeof room, name), &key)) return TTM_ENOMEM;
  return ttm_vec_push(keys, key);
}

static int gather(joining *j) {
  const ttm_profile *p = j->p;
  int status = TTM_OK;
  j->device = TTM_PERF_UNKNOWN;
  for (size_t i = 0; i < j->csv->rows.n; i++)
    if (j->csv->rows.at[i].device < j->device) j->device = j->csv->rows.at[i].device;
  for (uint32_t i = 0; i < j->csv->rows.n && !status; i++) {
    if (j->csv->rows.at[i].device != j->device) continue;
    status = ttm_vec_push(&j->rows, i);
    if (!status) status = add_key(j, ttm_intern_get(&j->csv->strings, j->csv->rows.at[i].code), &j->row_keys);
  }
  for (uint32_t op = 0; op < p->ops.n && !status; op++) {
    uint32_t call = p->ops.at[op].call;
    if (!ttm_op_is_element(p, op) || (call < p->calls.n && p->calls.at[call].rank)) continue;
    status = ttm_vec_push(&j->ops, op);
    if (!status) status = add_key(j, ttm_words_name(p, op), &j->op_keys);
  }
  return status;
}

static int align(joining *j) {
  if (ttm_vec_reserve(&j->match, j->ops.n + 1)) return TTM_ENOMEM;
  j->match.n = j->ops.n;
  return ttm_align((ttm_sequence){j->op_keys.at, (uint32_t)j->op_keys.n},
                   (ttm_sequence){j->row_keys.at, (uint32_t)j->row_keys.n}, (uint32_t)j->kinds.strings.n + 1,
                   j->match.at);
}

/* ---- Times --------------------------------------------------------------------------------------------------------------------- */

/* Nanoseconds of the device since its first operation: by its cycles, whose length the durations tell; else by the host's clock. */
static uint64_t start_of(const joining *j, const ttm_perf_row *row) {
  const ttm_perf_row *first = &j->csv->rows.at[j->rows.at[0]];
  uint64_t cycles = first->fw_end - first->fw_start;
  if (row->fw_start != TTM_PERF_UNKNOWN && first->fw_start != TTM_PERF_UNKNOWN && first->fw_end > first->fw_start &&
      first->fw_ns && first->fw_ns != TTM_PERF_UNKNOWN && row->fw_start >= first->fw_start)
    return (uint64_t)((double)(row->fw_start - first->fw_start) * ((double)first->fw_ns / (double)cycles));
  if (row->host_start == TTM_PERF_UNKNOWN || first->host_start == TTM_PERF_UNKNOWN) return TTM_PERF_UNKNOWN;
  return row->host_start > first->host_start ? row->host_start - first->host_start : 0;
}

static void set_times(ttm_times *t, const joining *j) {
  uint64_t after = 0;
  uint32_t next = 0;
  for (size_t i = 0; i < j->ops.n; i++) {
    if (j->match.at[i] == TTM_NONE) continue;
    const ttm_perf_row *row = &j->csv->rows.at[j->rows.at[j->match.at[i]]];
    uint64_t from = start_of(j, row), lasts = row->fw_ns == TTM_PERF_UNKNOWN ? row->kernel_ns : row->fw_ns;
    uint32_t op = j->ops.at[i];
    if (from == TTM_PERF_UNKNOWN || lasts > UINT64_MAX / 4) continue;
    ttm_times_spread(t, next, op, after, from);
    ttm_times_spread(t, op, op + 1, from, from);
    for (; next < op; next++) t->end.at[next] = t->begin.at[next + 1];
    t->end.at[op] = after = t->begin.at[op] + lasts;
    next = op + 1;
    t->timed++;
  }
  for (; next < t->begin.n; next++) {
    t->begin.at[next] = after;
    if (next < t->end.n) t->end.at[next] = after += 1000;
  }
}

/* An operation ends before the next one begins: slices of a track hold each other or do not touch. */
static void cut_ends(ttm_times *t) {
  for (size_t i = 1; i < t->begin.n; i++) {
    if (t->begin.at[i] < t->begin.at[i - 1]) t->begin.at[i] = t->begin.at[i - 1];
    if (i <= t->end.n && t->end.at[i - 1] > t->begin.at[i]) t->end.at[i - 1] = t->begin.at[i];
  }
}

int ttm_times_of_csv(ttm_times *t, const ttm_profile *p, const char *path, ttm_error *err) {
  ttm_perf_csv csv;
  joining j = {.p = p, .csv = &csv};
  int status = ttm_perf_csv_read(&csv, path, err);
  if (!status && (gather(&j) || align(&j) || ttm_vec_reserve(&t->end, p->ops.n))) status = ttm_error_nomem(err);
  if (!status) {
    memset(t->end.at, 0, p->ops.n * sizeof *t->end.at);
    t->end.n = p->ops.n;
    set_times(t, &j);
    cut_ends(t);
    if (!t->timed)
      status = ttm_error_set(err, TTM_ENODATA, "no operation of the input is in %s: they are of different runs", path);
    t->source = TTM_TIMES_CSV;
  }
  numbers *all[] = {&j.ops, &j.op_keys, &j.rows, &j.row_keys, &j.match};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ttm_vec_free(all[i]);
  ttm_intern_free(&j.kinds);
  ttm_perf_csv_free(&csv);
  return status;
}
