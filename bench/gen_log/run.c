/* SPDX-License-Identifier: Apache-2.0 */
/* A rank at work: names results, prints operations and blocks, takes and gives memory. */
#include "gen_log/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The state line of one memory, kept because most states differ from the last one in one memory only. */
typedef struct gen_printed {
  char text[400];
  size_t n;
  uint64_t allocated, largest;
  bool known;
} gen_printed;

uint32_t gen_milli(uint64_t bytes) {
  uint64_t scaled = bytes * 1000, whole = scaled >> 20, rest = scaled & 0xfffff;
  if (rest > 0x80000 || (rest == 0x80000 && (whole & 1))) whole++;
  return (uint32_t)whole;
}

void gen_rank_init(gen_rank *x, const gen_options *o, const gen_board *board, gen_writer *w, gen_truth *t,
                   gen_types *types, uint32_t rank) {
  *x = (gen_rank){.o = o, .board = board, .w = w, .t = t, .types = types, .rank = rank};
  for (int m = 0; m < GEN_MEMORIES; m++) gen_bank_init(&x->banks[m], board->bank_size[m]);
  x->printed = gen_alloc(GEN_MEMORIES * sizeof *x->printed);
}

static void free_values(gen_values *values) {
  for (size_t i = 0; i < values->n; i++) free(values->at[i]);
  ttm_vec_free(values);
}

void gen_rank_free(gen_rank *x) {
  for (int m = 0; m < GEN_MEMORIES; m++) gen_bank_free(&x->banks[m]);
  free_values(&x->outputs);
  free_values(&x->slots);
  ttm_vec_free(&x->seen_kernels);
  ttm_buf_free(&x->text);
  ttm_buf_free(&x->line);
  free(x->printed);
}

/* ---- lines ---- */

static void put_prefix(gen_rank *x, ttm_buf *out, const char *type, const char *level) {
  if (!x->o->ansi) {
    ttm_buf_printf(out, "%23s | %8s | ", type, level);
    return;
  }
  const char *colour = !strcmp(level, "INFO")    ? "\x1b[38;5;69m"
                       : !strcmp(level, "FATAL") ? "\x1b[31m"
                                                 : "\x1b[38;5;240m";
  ttm_buf_printf(out, "\x1b[32m%23s\x1b[0m | \x1b[1m%s%8s\x1b[0m | ", type, colour, level);
}

void gen_message(gen_rank *x, const char *type, const char *level, const char *format, ...) {
  if (x->dead || x->stopped || (!x->o->ops && !strcmp(level, "DEBUG"))) return;
  char text[1000];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ttm_buf_clear(&x->line);
  put_prefix(x, &x->line, type, level);
  ttm_buf_puts(&x->line, text);
  gen_line(x->w, x->rank, GEN_STDOUT, GEN_ANYBODY, ttm_buf_str(&x->line));
}

static char *put_number(char *p, uint64_t value) {
  char digits[20];
  size_t n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while (value /= 10);
  while (n) *p++ = digits[--n];
  return p;
}

static char *put_mib(char *p, uint64_t bytes) {
  uint32_t milli = gen_milli(bytes);
  p = put_number(p, milli / 1000);
  *p++ = '.';
  *p++ = (char)('0' + milli / 100 % 10);
  *p++ = (char)('0' + milli / 10 % 10);
  *p++ = (char)('0' + milli % 10);
  memcpy(p, " MB", 3);
  return p + 3;
}

static char *put_text(char *p, const char *s) {
  size_t n = strlen(s);
  memcpy(p, s, n);
  return p + n;
}

static ttm_str state_line(gen_rank *x, int memory) {
  gen_printed *line = &x->printed[memory];
  gen_bank *bank = &x->banks[memory];
  uint64_t largest = gen_bank_largest(bank);
  if (line->known && line->allocated == bank->allocated && line->largest == largest)
    return (ttm_str){line->text, line->n};
  ttm_buf_clear(&x->line);
  put_prefix(x, &x->line, "Always", x->o->block_debug ? "DEBUG" : "INFO");
  memcpy(line->text, x->line.at, x->line.n);
  char *p = line->text + x->line.n;
  p = put_text(p, "Device ");
  p = put_text(p, gen_memory_name((uint32_t)memory));
  p = put_text(p, " memory state: MemoryView{numBanks: ");
  p = put_number(p, x->board->banks[memory]);
  p = put_mib(put_text(p, ", totalBytesPerBank: "), bank->size);
  p = put_mib(put_text(p, ", totalBytesAllocatedPerBank: "), bank->allocated);
  p = put_mib(put_text(p, ", totalBytesFreePerBank: "), bank->size - bank->allocated);
  p = put_mib(put_text(p, ", largestContiguousBytesFreePerBank: "), largest);
  *p++ = '}';
  line->n = (size_t)(p - line->text);
  line->allocated = bank->allocated;
  line->largest = largest;
  line->known = true;
  return (ttm_str){line->text, line->n};
}

/* The log ends inside this line. */
static void cut_in(gen_rank *x, ttm_str line) {
  gen_line_cut(x->w, ttm_str_first(line, line.n * 3 / 5));
  x->stopped = true;
  x->t->truncated = true;
}

static bool cut_now(const gen_rank *x, gen_cut kind) {
  return x->o->cut == kind && x->cut_at && x->ops_in_run == x->cut_at && x->rank == 0;
}

/* Header and four states. op is NULL around submit. */
static void block(gen_rank *x, gen_op *op, const char *what) {
  char header[200];
  snprintf(header, sizeof header, "Device memory state %s%s", what, op ? op->op_type : "");
  ttm_buf_clear(&x->line);
  put_prefix(x, &x->line, "Always", x->o->block_debug ? "DEBUG" : "INFO");
  ttm_buf_puts(&x->line, header);
  if (op && cut_now(x, GEN_CUT_HEADER)) {
    cut_in(x, ttm_buf_str(&x->line));
    return;
  }
  gen_mark mark = gen_line(x->w, x->rank, GEN_STDOUT, GEN_ANYBODY, ttm_buf_str(&x->line)), lines[GEN_MEMORIES];
  if (op && !x->o->ops) gen_truth_op(x, op, x->op_line = mark);
  gen_state state;
  for (int m = 0; m < GEN_MEMORIES; m++) {
    ttm_str line = state_line(x, m);
    if (op && ((m == GEN_DRAM && cut_now(x, GEN_CUT_DRAM)) || (m == GEN_L1 && cut_now(x, GEN_CUT_L1)))) {
      x->t->cut_blocks++;
      cut_in(x, line);
      return;
    }
    lines[m] = gen_line(x->w, x->rank, GEN_STDOUT, GEN_ANYBODY, line);
    state.allocated[m] = gen_milli(x->banks[m].allocated);
  }
  gen_truth_state(x, op, state, mark, lines);
}

/* ---- operations ---- */

static void put_value(ttm_buf *b, const gen_value *v) {
  ttm_buf_puts(b, v->is_arg ? "%arg" : "%");
  ttm_buf_u64(b, v->number);
  if (v->part >= 0) {
    ttm_buf_char(b, '#');
    ttm_buf_u64(b, (uint64_t)v->part);
  }
}

static void put_operation(ttm_buf *b, const gen_op *op) {
  if (op->n_out) {
    ttm_buf_char(b, '%');
    ttm_buf_u64(b, op->number);
    if (op->n_out > 1) ttm_buf_char(b, ':'), ttm_buf_u64(b, op->n_out);
    ttm_buf_puts(b, " = ");
  }
  bool cached = op->callee && op->name[0] == 't', plain_call = op->callee && !cached;
  if (!op->callee) ttm_buf_char(b, '"');
  ttm_buf_puts(b, op->name);
  ttm_buf_puts(b, op->callee ? cached ? "(@" : " @" : "\"(");
  if (op->callee) ttm_buf_puts(b, op->callee);
  if (op->callee) ttm_buf_puts(b, plain_call ? "(" : ", [");
  for (uint32_t i = 0; i < op->n_in; i++) {
    if (i) ttm_buf_puts(b, ", ");
    put_value(b, op->in[i]);
  }
  ttm_buf_puts(b, cached ? "])" : ")");
  if (op->attributes) {
    ttm_buf_puts(b, " <{");
    ttm_buf_puts(b, op->attributes);
    ttm_buf_puts(b, "}>");
  }
  ttm_buf_puts(b, " : (");
  for (uint32_t i = 0; i < op->n_in; i++) {
    if (i) ttm_buf_puts(b, ", ");
    ttm_buf_put(b, op->in[i]->type->text);
  }
  ttm_buf_puts(b, op->n_out == 1 ? ") -> " : ") -> (");
  for (uint32_t i = 0; i < op->n_out; i++) {
    if (i) ttm_buf_puts(b, ", ");
    ttm_buf_put(b, op->out[i]->text);
  }
  ttm_buf_puts(b, op->n_out == 1 ? " loc(" : ") loc(");
  ttm_buf_puts(b, op->loc ? op->loc->raw : "unknown");
  ttm_buf_char(b, ')');
}

static gen_value *new_value(gen_frame *frame, const gen_type *type, uint32_t number, int part) {
  gen_value *v = ttm_arena_alloc(&frame->arena, sizeof *v);
  if (!v) gen_die("out of memory");
  *v = (gen_value){.type = type, .number = number, .part = (int16_t)part};
  if (ttm_vec_push(&frame->held, v)) gen_die("out of memory");
  return v;
}

gen_value *gen_argument(gen_rank *x, uint32_t number, const gen_type *type, bool weight) {
  gen_value *v = new_value(x->frame, type, number, -1);
  v->is_arg = true;
  if (x->functions) {
    ttm_buf *args = &x->frame->function.args;
    ttm_buf_puts(args, args->n ? ", " : "");
    put_value(args, v);
    ttm_buf_printf(args, ": %.*s", (int)type->text.n, type->text.p);
  }
  if (weight) v->weights[v->n_weights++] = number;
  return v;
}

bool gen_op_begin(gen_rank *x, gen_op *op) {
  if (x->dead || x->stopped) return false;
  x->op = op;
  x->ops_in_run++;
  op->record = SIZE_MAX;
  op->number = x->frame->next_number;
  if (x->functions) {
    ttm_buf *body = &x->frame->function.body;
    x->t->op_lines++;
    ttm_buf_puts(body, "    ");
    put_operation(body, op);
    ttm_buf_char(body, '\n');
    return true;
  }
  if (x->o->ops) {
    ttm_buf_clear(&x->text);
    put_prefix(x, &x->text, "RuntimeTTNN", "DEBUG");
    ttm_buf_puts(&x->text, "Executing operation: ");
    put_operation(&x->text, op);
    if (cut_now(x, GEN_CUT_OPERATION)) {
      cut_in(x, ttm_buf_str(&x->text));
      return false;
    }
    x->op_line = gen_line(x->w, x->rank, GEN_STDOUT, GEN_ANYBODY, ttm_buf_str(&x->text));
    gen_truth_op(x, op, x->op_line);
  }
  if (x->o->blocks) block(x, op, "before operation ");
  return !x->stopped;
}

/* ---- memory ---- */

bool gen_take(gen_rank *x, gen_value *v, bool from_top) {
  uint32_t m = v->type->shape.memory;
  if (m == GEN_HOST || v->type->shape.device || v->type->shape.trace_id) return true;
  if (!gen_bank_take(&x->banks[m], v->type->block, from_top, &v->at)) return false;
  v->held = true;
  return true;
}

void gen_give(gen_rank *x, gen_value *v) {
  if (!v->held) return;
  gen_bank_give(&x->banks[v->type->shape.memory], v->at, v->type->block);
  v->held = false;
}

static void count(gen_rank *x, gen_value *v, bool add) {
  uint32_t m = v->type->shape.memory;
  if (m > GEN_L1 || v->counted == add || v->type->shape.device || v->type->shape.trace_id) return;
  uint64_t sign = add ? 1 : (uint64_t)-1;
  x->live.logical[m] += sign * v->type->logical;
  x->live.stored[m] += sign * v->type->stored;
  x->live.n[m] += sign;
  v->counted = add;
}

/* Kernel binaries: the first use of a kernel leaves its code at the top of DRAM. */
static void load_kernel(gen_rank *x, const gen_op *op) {
  if (!x->o->binaries || !op->n_out || op->callee) return;
  uint64_t key = 0;
  for (const char *p = op->op_type; *p; p++) key = key * 131 + (unsigned char)*p;
  for (size_t i = 0; i < x->seen_kernels.n; i++)
    if (x->seen_kernels.at[i] == key) return;
  uint64_t at;
  if (ttm_vec_push(&x->seen_kernels, key)) gen_die("out of memory");
  gen_bank_take(&x->banks[GEN_DRAM], 2048 + key % 7 * 2048, true, &at);
}

static bool take_results(gen_rank *x, const gen_op *op, gen_value **out) {
  uint64_t temporary_at[GEN_MEMORIES];
  for (int m = 0; m < GEN_MEMORIES; m++)
    if (!gen_bank_take(&x->banks[m], op->temporary[m], m == GEN_L1 || m == GEN_L1_SMALL, &temporary_at[m]))
      gen_die("internal error: no room for a temporary");
  bool fits = true;
  for (uint32_t i = 0; i < op->n_out && fits; i++) {
    uint32_t m = out[i]->type->shape.memory;
    fits = gen_take(x, out[i], m == GEN_L1 || m == GEN_L1_SMALL);
    if (!fits) gen_fail_oom(x, out[i]->type);
  }
  for (int m = 0; m < GEN_MEMORIES; m++) gen_bank_give(&x->banks[m], temporary_at[m], op->temporary[m]);
  return fits;
}

static void make_results(gen_rank *x, gen_op *op, gen_value **out) {
  uint32_t number = x->frame->next_number;
  for (uint32_t i = 0; i < op->n_out; i++)
    out[i] = new_value(x->frame, op->out[i], number, op->n_out > 1 ? (int)i : -1);
  if (op->n_out) x->frame->next_number++;
}

/* Inside a const-eval program everything is made of its arguments. */
static void inherit(const gen_rank *x, const gen_op *op, gen_value *v) {
  if (!x->frame->const_eval) return;
  for (uint32_t i = 0; i < op->n_in; i++)
    for (uint32_t k = 0; k < op->in[i]->n_weights && v->n_weights < GEN_MAX_WEIGHTS; k++) {
      bool seen = false;
      for (uint32_t j = 0; j < v->n_weights; j++) seen |= v->weights[j] == op->in[i]->weights[k];
      if (!seen) v->weights[v->n_weights++] = op->in[i]->weights[k];
    }
  v->derived = true;
}

void gen_op_end(gen_rank *x, gen_op *op, gen_value **out) {
  make_results(x, op, out);
  if (x->dead || x->stopped) return;
  if (!take_results(x, op, out)) return;
  load_kernel(x, op);
  for (int m = 0; m < GEN_MEMORIES; m++) {
    uint64_t at;
    if (op->lasting[m]) gen_bank_take(&x->banks[m], op->lasting[m], true, &at);
  }
  for (uint32_t i = 0; i < op->n_out; i++) {
    count(x, out[i], true);
    inherit(x, op, out[i]);
  }
  gen_truth_op_done(x, op);
}

void gen_op_end_with(gen_rank *x, gen_op *op, const gen_values *survivors, gen_value **out) {
  make_results(x, op, out);
  for (uint32_t i = 0; i < op->n_out; i++) {
    out[i]->retained = true; /* someone else holds the memory */
    if (survivors && i < survivors->n) {
      out[i]->at = survivors->at[i]->at;
      memcpy(out[i]->weights, survivors->at[i]->weights, sizeof out[i]->weights);
      out[i]->n_weights = survivors->at[i]->n_weights;
    }
  }
  if (!x->dead && !x->stopped) gen_truth_op_done(x, op);
}

void gen_do(gen_rank *x, gen_op *op, gen_value **out) {
  gen_op_begin(x, op);
  gen_op_end(x, op, out);
}

void gen_deallocate(gen_rank *x, gen_value *v, const gen_loc *loc) {
  gen_op op = {.name = "ttnn.deallocate",
               .op_type = "DeallocateOp",
               .in = {v},
               .n_in = 1,
               .attributes = "force = false",
               .loc = loc};
  if (!gen_op_begin(x, &op)) return;
  if (v->retained || v->is_arg) {
    gen_message(x, "Always", "DEBUG",
                "Tensor is retained thus not deallocating. To deallocate, set retain to false first");
    return;
  }
  count(x, v, false);
  gen_give(x, v);
}

void gen_get_device(gen_rank *x, gen_value **out) {
  gen_shape shape;
  memset(&shape, 0, sizeof shape);
  shape.device = 1;
  char attributes[100];
  snprintf(attributes, sizeof attributes, "mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x%u>",
           x->o->devices);
  gen_op op = {.name = "ttnn.get_device",
               .op_type = "GetDeviceOp",
               .attributes = attributes,
               .out = {gen_type_of(x->types, &shape)},
               .n_out = 1};
  gen_do(x, &op, out);
}

/* ---- programs ---- */

void gen_program_start(gen_rank *x, const char *name, bool const_eval) {
  gen_frame *frame = gen_alloc(sizeof *frame);
  frame->outer = x->frame;
  frame->const_eval = const_eval;
  snprintf(frame->name_text, sizeof frame->name_text, "%s", name);
  frame->name = frame->name_text;
  x->frame = frame;
  gen_message(x, "RuntimeTTNN", "DEBUG", "Starting execution of program: %s", name);
}

static void put_result(gen_function *f, const gen_value *v) {
  ttm_buf_puts(&f->results, f->results.n ? ", " : "");
  put_value(&f->results, v);
  ttm_buf_puts(&f->types, f->types.n ? ", " : "");
  ttm_buf_put(&f->types, v->type->text);
}

static gen_value *keep(gen_values *list, const gen_value *v) {
  gen_value *copy = gen_alloc(sizeof *copy);
  *copy = *v;
  if (ttm_vec_push(list, copy)) gen_die("out of memory");
  return copy;
}

void gen_program_finish(gen_rank *x, gen_values *survivors) {
  gen_frame *frame = x->frame;
  gen_message(x, "RuntimeTTNN", "DEBUG", "Finished execution of program: %s", frame->name);
  for (size_t i = 0; i < frame->held.n; i++) {
    gen_value *v = frame->held.at[i];
    if (!v->held || v->is_arg) continue;
    if (x->dead) { /* the pool of a failed program is destroyed */
      count(x, v, false);
      gen_give(x, v);
    } else if (survivors) {
      keep(survivors, v)->of_graph = x->graph;
    }
    if (x->functions && survivors) put_result(&frame->function, v);
  }
  if (x->functions) {
    memcpy(frame->function.name, frame->name_text, sizeof frame->function.name);
    if (ttm_vec_push(x->functions, frame->function)) gen_die("out of memory");
  }
  x->frame = frame->outer;
  ttm_arena_free(&frame->arena);
  ttm_vec_free(&frame->held);
  free(frame);
}

void gen_run_begin(gen_rank *x, const char *program) {
  size_t kept = 0;
  for (size_t i = 0; i < x->outputs.n; i++) {
    gen_value *v = x->outputs.at[i];
    count(x, v, false);
    if (x->o->requests && x->graph && !v->of_graph && !v->leaked) {
      x->outputs.at[kept++] = v; /* until the request is over */
      continue;
    }
    if (!v->leaked) gen_give(x, v);
    free(v);
  }
  x->outputs.n = kept;
  x->dead = false;
  x->ops_in_run = 0;
  x->run_record = x->t->runs.n;
  gen_run_truth run = {.rank = x->rank, .run = x->run, .program = program};
  if (ttm_vec_push(&x->t->runs, run)) gen_die("out of memory");
  if (x->o->submit && !x->stopped) block(x, NULL, "before submit");
}

void gen_run_end(gen_rank *x) {
  gen_run_truth *run = &x->t->runs.at[x->run_record];
  run->failed = x->dead;
  run->finished = !x->dead && !x->stopped;
  if (x->o->submit && run->finished) block(x, NULL, "after submit");
  x->run++;
}
