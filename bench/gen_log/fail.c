/* SPDX-License-Identifier: Apache-2.0 */
/* How programs die: the sentences with the simulated numbers, in as many copies as the runtime makes,
 * and how to get there. */
#include "gen_log/gen.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the words ---- */

static gen_mark say(gen_rank *x, gen_company company, const char *format, ...) __attribute__((format(printf, 3, 4)));

static gen_mark say(gen_rank *x, gen_company company, const char *format, ...) {
  char text[1600];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return gen_line(x->w, x->rank, GEN_STDERR, company, ttm_str_of(text));
}

/* The line tt-metal logs before it throws. */
static gen_mark critical_line(gen_rank *x, const char *macro, const char *text) {
  ttm_buf_clear(&x->line);
  bool old = x->o->fail_era == GEN_ERA_2024;
  if (old)
    ttm_buf_puts(&x->line, "                 Always | FATAL    | ");
  else
    gen_metal_prefix(x->w, "critical", "Always", &x->line);
  if (x->o->fail_era == GEN_ERA_2026 || x->o->fail_era == GEN_ERA_DEPENDENT) ttm_buf_printf(&x->line, "%s: ", macro);
  ttm_buf_puts(&x->line, text);
  if (!old) ttm_buf_puts(&x->line, x->o->fail_era == GEN_ERA_2025 ? " (assert.hpp:103)" : " (assert.hpp:104)");
  return gen_line(x->w, x->rank, GEN_STDOUT, GEN_ANYBODY, ttm_buf_str(&x->line));
}

static void backtrace(gen_rank *x) {
  say(x, GEN_NOBODY, "backtrace:");
  say(x, GEN_NOBODY,
      " --- tt::tt_metal::BankManager::allocate_buffer(unsigned long, unsigned long, bool, CoreRangeSet const&, "
      "std::optional<unsigned int>)");
  say(x, GEN_NOBODY, " --- /usr/lib/libttnn.so(+0xab916d) [0x7f1399ab916d]");
  say(x, GEN_NOBODY, " --- %s(...)", x->op->name);
}

static void exception(gen_rank *x, const char *site, const char *text) {
  ttm_buf_clear(&x->line);
  gen_loguru_prefix(x->w, "utils.h", 62, "ERR", &x->line);
  ttm_buf_printf(&x->line, "Exception: %s", site);
  gen_line(x->w, x->rank, GEN_STDERR, GEN_ANYBODY, ttm_buf_str(&x->line));
  say(x, GEN_NOBODY, "info:");
  say(x, GEN_NOBODY, "%s", text);
  backtrace(x);
}

static void traceback(gen_rank *x, const char *site, const char *text) {
  say(x, GEN_ANYBODY, "Traceback (most recent call last):");
  say(x, GEN_NOBODY, "  File \"/home/user/run.py\", line 77, in <module>");
  say(x, GEN_NOBODY, "    model(**inputs)");
  say(x, GEN_NOBODY, "    ^^^^^^^^^^^^^^^");
  say(x, GEN_NOBODY, "RuntimeError: %s", site);
  say(x, GEN_NOBODY, "info:");
  say(x, GEN_NOBODY, "%s", text);
  backtrace(x);
}

/* tt-mlir's own runtime asserts: its logger, then the place, then the frames. */
static gen_mark runtime_assert(gen_rank *x, const char *text) {
  ttm_buf_clear(&x->line);
  ttm_buf_printf(&x->line, x->o->ansi ? "\x1b[32m%23s\x1b[0m | \x1b[1m\x1b[31m%8s\x1b[0m | %s" : "%23s | %8s | %s",
                 "Always", "FATAL", text);
  gen_mark mark = gen_line(x->w, x->rank, GEN_STDOUT, GEN_ANYBODY, ttm_buf_str(&x->line));
  say(x, GEN_NOBODY, "%sLOG_ASSERT @ /project/runtime/lib/ttnn/operations/softmax.cpp:31: in.isAllocated()",
      x->o->ansi ? "\x1b[1m" : "");
  backtrace(x);
  return mark;
}

/* The program is over: says so, remembers it, and lets nothing more happen in this run. */
static void die(gen_rank *x, gen_incident *n, const char *macro, const char *site) {
  bool own = x->o->fail == GEN_FAIL_RUNTIME;
  n->rank = x->rank;
  n->copies = own ? 1 : x->o->fail_copies;
  n->line = own ? runtime_assert(x, n->text) : critical_line(x, macro, n->text);
  if (n->copies > 1) exception(x, site, n->text);
  if (n->copies > 2) traceback(x, site, n->text);
  snprintf(n->op, sizeof n->op, "%s", x->op->name);
  n->op_line = x->op_line;
  n->has_loc = x->op->loc && x->op->loc->name[0];
  if (n->has_loc) memcpy(n->loc, x->op->loc->name, sizeof n->loc);
  if (x->op->record != SIZE_MAX) x->t->ops.at[x->op->record].failed = true;
  if (ttm_vec_push(&x->t->incidents, *n)) gen_die("out of memory");
  x->dead = true;
}

static gen_incident blank(const char *kind, uint32_t memory) {
  gen_incident n = {.kind = kind, .memory = memory};
  n.size = n.banks = n.needed = n.bank_size = n.allocated = n.free = n.largest = n.l1_at = n.ends_at = n.program =
      UINT64_MAX;
  return n;
}

typedef unsigned long long ull;

void gen_fail_oom(gen_rank *x, const gen_type *type) {
  uint32_t m = type->shape.memory;
  gen_bank *bank = &x->banks[m];
  gen_era era = x->o->fail_era;
  gen_incident n = blank("oom", m);
  n.size = type->buffer_bytes;
  n.banks = type->shards;
  n.needed = type->per_bank;
  if (era != GEN_ERA_2024) n.bank_size = bank->size;
  uint64_t free = bank->size - bank->allocated;
  n.verdict = n.needed > bank->size ? "impossible" : free < n.needed ? "exhausted" : "fragmented";
  n.verdict_told = era == GEN_ERA_2026 || era == GEN_ERA_DEPENDENT || (era == GEN_ERA_2025 && n.needed > bank->size);
  if (era == GEN_ERA_2026 || era == GEN_ERA_DEPENDENT) {
    n.allocated = bank->allocated;
    n.free = free;
    n.largest = gen_bank_largest(bank);
  }
  const char *name = gen_memory_name(m);
  int k = era == GEN_ERA_DEPENDENT
              ? snprintf(n.text, sizeof n.text,
                         "Out of Memory: Not enough space after considering dependencies to allocate %llu B %s across "
                         "%llu banks (%llu B per bank), bank size is %llu B",
                         (ull)n.size, name, (ull)n.banks, (ull)n.needed, (ull)n.bank_size)
              : snprintf(n.text, sizeof n.text,
                         "Out of Memory: Not enough space to allocate %llu B %s buffer across %llu banks, where each "
                         "bank needs to store %llu B",
                         (ull)n.size, name, (ull)n.banks, (ull)n.needed);
  if (era == GEN_ERA_2025)
    snprintf(n.text + k, sizeof n.text - (size_t)k, ", but bank size is only %llu B", (ull)n.bank_size);
  if (era == GEN_ERA_2026)
    k += snprintf(n.text + k, sizeof n.text - (size_t)k, ", but bank size is %llu B", (ull)n.bank_size);
  if (n.allocated != UINT64_MAX)
    snprintf(n.text + k, sizeof n.text - (size_t)k, " (allocated: %llu B, free: %llu B, largest free block: %llu B)%s",
             (ull)n.allocated, (ull)n.free, (ull)n.largest, x->o->seed % 2 ? "." : "");
  die(x, &n, "TT_FATAL", "TT_FATAL @ /project/tt_metal/impl/allocator/bank_manager.cpp:514: false");
}

/* ---- the way there ---- */

/* A tiled tensor that takes about `per_bank` bytes of every bank. */
static const gen_type *about(gen_rank *x, uint32_t memory, uint64_t per_bank) {
  uint64_t tiles = per_bank / 2048 * x->board->banks[memory];
  gen_shape s = gen_shape_of(3, (uint64_t[]){1, 32 * (tiles / 128 + 1), 4096}, GEN_BF16, true, memory);
  return gen_type_of(x->types, &s);
}

static gen_value *fill(gen_rank *x, const gen_type *type, uint32_t i) {
  gen_loc loc;
  gen_loc_make(x, &loc, "pressure|zeros.%u", i);
  return gen_apply(x, "ttnn.zeros", "NamedFullOp", "dtype = #ttcore.supportedDataTypes<bf16>", type, NULL, 0, &loc);
}

static void too_large(gen_rank *x, gen_value *in, const gen_type *type) {
  gen_loc loc;
  gen_loc_make(x, &loc, "pressure|concat");
  gen_op op = {.name = "ttnn.concat",
               .op_type = "ConcatOp",
               .in = {in, in},
               .n_in = 2,
               .attributes = "dim = 1 : si32",
               .out = {type},
               .n_out = 1,
               .loc = &loc};
  op.temporary[type->shape.memory] = 10240;
  gen_value *out;
  gen_do(x, &op, &out);
}

static void run_out(gen_rank *x) {
  uint32_t m = x->o->fail_memory;
  gen_bank *bank = &x->banks[m];
  uint64_t chunk = gen_bank_largest(bank) / 7;
  gen_value *held[6];
  for (uint32_t i = 0; i < 6; i++) held[i] = fill(x, about(x, m, chunk - chunk / 16), i);
  if (x->o->fail == GEN_FAIL_FRAGMENTED)
    for (uint32_t i = 0; i < 6; i += 2) gen_deallocate(x, held[i], NULL);
  uint64_t free = bank->size - bank->allocated, largest = gen_bank_largest(bank);
  uint64_t wanted = x->o->fail == GEN_FAIL_IMPOSSIBLE  ? bank->size + bank->size / 8
                    : x->o->fail == GEN_FAIL_EXHAUSTED ? free + chunk / 4
                                                       : largest + (free - largest) / 2;
  too_large(x, held[1], about(x, m, wanted));
}

/* An operation that dies without asking for memory. */
static void stumble(gen_rank *x, gen_value *in) {
  gen_loc loc;
  gen_loc_make(x, &loc, "pressure|softmax");
  gen_op op = {.name = "ttnn.softmax",
               .op_type = "SoftmaxOp",
               .in = {in},
               .n_in = 1,
               .attributes = "dimension = 2 : si32",
               .out = {in->type},
               .n_out = 1,
               .loc = &loc};
  if (!gen_op_begin(x, &op)) return;
  bool overflow = x->o->fail == GEN_FAIL_OVERFLOW, clash = x->o->fail == GEN_FAIL_CLASH;
  bool dataflow = x->o->seed % 3 == 0, old_range = x->o->fail_era != GEN_ERA_2026;
  const char *word = dataflow ? "dataflow" : "circular", *range = old_range ? "[(x=0,y=0) - (x=7,y=7)]" : "[0-0 - 7-7]";
  gen_incident n = blank(overflow ? "l1_overflow"
                         : clash  ? "l1_clash"
                                  : "fatal",
                         overflow || clash ? GEN_L1 : GEN_HOST);
  if (clash) {
    n.program = x->o->seed % 200;
    n.l1_at = x->board->l1_base + gen_bank_lowest(&x->banks[GEN_L1]);
    n.ends_at = n.l1_at + 192 + x->o->seed % 5000 * 32;
    snprintf(n.text, sizeof n.text,
             "Statically allocated %s buffers in program %llu clash with L1 buffers on core range %s. L1 buffer "
             "allocated at %llu and static %s buffer region ends at %llu",
             word, (ull)n.program, range, (ull)n.l1_at, word, (ull)n.ends_at);
  } else if (overflow) {
    n.ends_at = x->board->l1_size + 4096 + x->o->seed % 5000 * 64;
    snprintf(n.text, sizeof n.text,
             "Statically allocated %s buffers on core range %s grow to %llu B which is beyond max L1 size of %llu B",
             word, range, (ull)n.ends_at, (ull)x->board->l1_size);
  } else {
    snprintf(n.text, sizeof n.text,
             x->o->fail == GEN_FAIL_RUNTIME ? "Tensor must be allocated, volume %llu (%llu)"
                                            : "Invalid arguments to reshape: volume %llu != %llu",
             (ull)(x->o->seed % 1000), (ull)(x->o->seed % 1000 + 1));
  }
  die(x, &n, clash || overflow ? "TT_THROW" : "TT_FATAL",
      clash || overflow ? "TT_THROW @ /project/tt_metal/impl/program/program.cpp:2624: tt::exception"
                        : "TT_FATAL @ /project/ttnn/cpp/ttnn/operations/reshape.cpp:77: volume == other");
}

void gen_fail_provoke(gen_rank *x) {
  if (x->dead || x->stopped) return;
  switch (x->o->fail) {
    case GEN_FAIL_NONE:
    case GEN_FAIL_TIGHT: /* from inside a layer */
      return;
    case GEN_FAIL_EXHAUSTED:
    case GEN_FAIL_FRAGMENTED:
    case GEN_FAIL_IMPOSSIBLE:
      run_out(x);
      return;
    default:
      stumble(x, fill(x, about(x, GEN_L1, 65536), 0));
  }
}

void gen_fail_tight(gen_rank *x, gen_value *scores) {
  if (x->dead || x->stopped) return;
  uint64_t block = scores->type->block, largest = gen_bank_largest(&x->banks[GEN_DRAM]);
  gen_value *bulk = fill(x, about(x, GEN_DRAM, largest - 2 * block), 0);
  while (gen_bank_largest(&x->banks[GEN_DRAM]) >= 2 * block) fill(x, about(x, GEN_DRAM, block / 4), 1);
  fill(x, scores->type, 2);
  too_large(x, bulk, scores->type);
}
