/* SPDX-License-Identifier: Apache-2.0 */
/* By GLOBAL CALL COUNT where the input has it. Else: the two name operations differently and one operation may run several programs, so both are reduced to
 * what kind of work they do and then aligned in their order. */
#include "analyze/perf_join.h"

#include <ctype.h>
#include <string.h>

#include "analyze/align.h"
#include "analyze/words.h"
#include "base/checked.h"

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

/* ---- Rows ------------------------------------------------------------------------------------------------------------ */

typedef TTM_VEC(uint32_t) numbers;

typedef struct joining {
  const ttm_profile *p;
  const ttm_perf_csv *csv;
  ttm_perf_join *out;
  ttm_intern kinds;
  numbers ops, op_keys;   /* operations of the first rank that run on the device */
  numbers rows, row_keys; /* and the rows of the device */
  numbers match;          /* by place in `ops`: the place in `rows` or TTM_NONE */
  ttm_map row_of_call;
} joining;

static int count_devices(joining *j) {
  ttm_map seen = {0};
  int status = TTM_OK;
  j->out->device = TTM_PERF_UNKNOWN;
  for (size_t i = 0; i < j->csv->rows.n && !status; i++) {
    uint64_t device = j->csv->rows.at[i].device;
    if (device < j->out->device) j->out->device = device;
    status = ttm_map_set(&seen, device, 1);
  }
  j->out->devices = (uint32_t)seen.n;
  ttm_map_free(&seen);
  return status;
}

/* A replay of a trace has the call count of the capture, which the first row of it stands for. */
static bool is_replay(const joining *j, const ttm_perf_row *row) {
  return row->trace != TTM_PERF_UNKNOWN && row->call != TTM_PERF_UNKNOWN &&
         ttm_map_get(&j->row_of_call, row->call, TTM_NONE) != TTM_NONE;
}

static int gather_rows(joining *j) {
  for (uint32_t i = 0; i < j->csv->rows.n; i++) {
    const ttm_perf_row *row = &j->csv->rows.at[i];
    if (row->device != j->out->device) continue;
    if (is_replay(j, row)) {
      j->out->replays++;
      continue;
    }
    if (row->call != TTM_PERF_UNKNOWN && ttm_map_set(&j->row_of_call, row->call, i)) return TTM_ENOMEM;
    if (ttm_vec_push(&j->rows, i)) return TTM_ENOMEM;
    j->out->ns = ttm_add_sat(j->out->ns, ttm_perf_row_ns(row));
  }
  j->out->rows = (uint32_t)j->rows.n;
  j->out->first = j->rows.n ? j->rows.at[0] : TTM_NONE;
  return TTM_OK;
}

static int gather_ops(joining *j) {
  const ttm_profile *p = j->p;
  for (uint32_t op = 0; op < p->ops.n; op++) {
    uint32_t call = p->ops.at[op].call;
    if (!ttm_op_is_element(p, op) || (call < p->calls.n && p->calls.at[call].rank)) continue;
    if (ttm_vec_push(&j->ops, op)) return TTM_ENOMEM;
  }
  j->out->ops = (uint32_t)j->ops.n;
  return TTM_OK;
}

static void add_row(ttm_perf_join *out, uint32_t op, uint32_t row) {
  if (out->row_of[op] == TTM_NONE) out->row_of[op] = row, out->matched++;
  out->ns_of[op] = ttm_add_sat(out->ns_of[op], ttm_perf_row_ns(&out->csv->rows.at[row]));
}

/* ---- By call count --------------------------------------------------------------------------------------------------- */

static void match_calls(joining *j) {
  for (size_t i = 0; i < j->p->executions.n; i++) {
    ttm_execution run = j->p->executions.at[i];
    uint32_t row = ttm_map_get(&j->row_of_call, run.call, TTM_NONE);
    if (row != TTM_NONE && run.op < j->p->ops.n) add_row(j->out, run.op, row);
  }
  j->out->by_call = j->out->matched > 0;
}

/* ---- In order -------------------------------------------------------------------------------------------------------- */

static int add_key(joining *j, ttm_str name, numbers *keys) {
  char room[128];
  uint32_t key;
  if (ttm_intern_add(&j->kinds, kind_of(room, sizeof room, name), &key)) return TTM_ENOMEM;
  return ttm_vec_push(keys, key);
}

static int match_order(joining *j) {
  int status = TTM_OK;
  for (size_t i = 0; i < j->rows.n && !status; i++)
    status = add_key(j, ttm_intern_get(&j->csv->strings, j->csv->rows.at[j->rows.at[i]].code), &j->row_keys);
  for (size_t i = 0; i < j->ops.n && !status; i++) status = add_key(j, ttm_words_name(j->p, j->ops.at[i]), &j->op_keys);
  if (status || ttm_vec_reserve(&j->match, j->ops.n + 1)) return TTM_ENOMEM;
  j->match.n = j->ops.n;
  status =
      ttm_align((ttm_sequence){j->op_keys.at, (uint32_t)j->op_keys.n},
                (ttm_sequence){j->row_keys.at, (uint32_t)j->row_keys.n}, (uint32_t)j->kinds.strings.n + 1, j->match.at);
  for (size_t i = 0; i < j->ops.n && !status; i++)
    if (j->match.at[i] != TTM_NONE) add_row(j->out, j->ops.at[i], j->rows.at[j->match.at[i]]);
  return status;
}

/* ---- The whole ------------------------------------------------------------------------------------------------------- */

static int make_room(ttm_perf_join *out, size_t ops) {
  out->row_of = ttm_alloc_array(ops + 1, sizeof *out->row_of);
  out->ns_of = ttm_alloc_array(ops + 1, sizeof *out->ns_of);
  for (size_t i = 0; out->row_of && i < ops; i++) out->row_of[i] = TTM_NONE;
  return out->row_of && out->ns_of ? TTM_OK : TTM_ENOMEM;
}

int ttm_perf_join_make(ttm_perf_join *out, const ttm_profile *p, const ttm_perf_csv *csv) {
  *out = (ttm_perf_join){.csv = csv};
  joining j = {.p = p, .csv = csv, .out = out};
  int status = make_room(out, p->ops.n);
  if (!status) status = count_devices(&j);
  if (!status) status = gather_rows(&j);
  if (!status) status = gather_ops(&j);
  if (!status) match_calls(&j);
  if (!status && !out->by_call) status = match_order(&j);
  numbers *all[] = {&j.ops, &j.op_keys, &j.rows, &j.row_keys, &j.match};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ttm_vec_free(all[i]);
  ttm_intern_free(&j.kinds);
  ttm_map_free(&j.row_of_call);
  return status;
}

void ttm_perf_join_free(ttm_perf_join *join) {
  ttm_free(join->row_of);
  ttm_free(join->ns_of);
  *join = (ttm_perf_join){0};
}

uint64_t ttm_perf_join_begin(const ttm_perf_join *join, uint32_t row_number) {
  const ttm_perf_row *first = &join->csv->rows.at[join->first], *row = &join->csv->rows.at[row_number];
  uint64_t cycles = first->fw_end - first->fw_start;
  if (row->fw_start != TTM_PERF_UNKNOWN && first->fw_start != TTM_PERF_UNKNOWN && first->fw_end > first->fw_start &&
      first->fw_ns && first->fw_ns != TTM_PERF_UNKNOWN && row->fw_start >= first->fw_start)
    return (uint64_t)((double)(row->fw_start - first->fw_start) * ((double)first->fw_ns / (double)cycles));
  if (row->host_start == TTM_PERF_UNKNOWN || first->host_start == TTM_PERF_UNKNOWN) return TTM_PERF_UNKNOWN;
  return row->host_start > first->host_start ? row->host_start - first->host_start : 0;
}
