/* SPDX-License-Identifier: Apache-2.0 */
/* gen_log: writes runtime logs of any size and shape together with the truth about them.
 *
 * It shares no code with the program it tests beyond src/base: what a tensor costs, where a block lands and which
 * operation raised the peak are worked out here from the specification alone (spec tt-metal.md 7, tt-xla-log.md).
 *
 * The flow: model.c (with zoo.c and fail.c) plays a transformer-like program, operation by operation, on run.c, which
 * names the results, asks alloc.c for memory, prints through write.c and tells truth.c what happened. Nothing is stored
 * per operation unless the truth asks for it, so a log may be as large as the disk. */
#ifndef GEN_H
#define GEN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

enum { GEN_DRAM, GEN_L1, GEN_L1_SMALL, GEN_TRACE, GEN_MEMORIES, GEN_HOST = GEN_MEMORIES };
enum { GEN_MAX_RANK = 6, GEN_MAX_WEIGHTS = 4, GEN_MAX_RESULTS = 4, GEN_MAX_OPERANDS = 24 };

/* Stops the program with a message: a generator has no caller who could do better. */
void gen_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *gen_alloc(size_t size);

/* ---- chance: small, fast, the same on every machine ---- */
typedef struct gen_random {
  uint64_t state;
} gen_random;

uint64_t gen_next(gen_random *r);
static inline uint64_t gen_below(gen_random *r, uint64_t n) { return n ? gen_next(r) % n : 0; }
static inline bool gen_chance(gen_random *r, unsigned percent) { return gen_below(r, 100) < percent; }

/* ---- options ---- */
typedef enum gen_fail {
  GEN_FAIL_NONE,
  GEN_FAIL_EXHAUSTED,
  GEN_FAIL_FRAGMENTED,
  GEN_FAIL_IMPOSSIBLE,
  GEN_FAIL_CLASH,
  GEN_FAIL_OVERFLOW,
  GEN_FAIL_FATAL,
  GEN_FAIL_RUNTIME,
  GEN_FAIL_TIGHT, /* inside an attention: one tensor like the scores would have to be gone */
} gen_fail;

/* Whether the model keeps a KV cache on the device, and whether its arguments are marked as one or only called so. */
typedef enum gen_kv { GEN_KV_NONE, GEN_KV_MARKED, GEN_KV_NAMED } gen_kv;
typedef enum gen_odd { GEN_ODD_END, GEN_ODD_MIDDLE, GEN_ODD_START } gen_odd;
typedef enum gen_cut { GEN_CUT_NONE, GEN_CUT_OPERATION, GEN_CUT_HEADER, GEN_CUT_DRAM, GEN_CUT_L1 } gen_cut;
typedef enum gen_era { GEN_ERA_2026, GEN_ERA_2025, GEN_ERA_2024, GEN_ERA_DEPENDENT } gen_era;

typedef struct gen_options {
  uint64_t bytes, operations, runs; /* how much; the first one reached ends the log, 0 is no limit */
  uint64_t seed;
  const char *out, *truth, *replay;
  bool truth_ops;
  bool ops, blocks, submit; /* what is printed: operation lines, blocks before operations, blocks around submit */
  bool p150;
  uint64_t trace_region; /* bytes per bank */
  uint32_t layers, hidden, seq, vocab, graphs, repeat, ranks, devices;
  uint32_t weight_dtype;
  uint64_t dram_bank; /* bytes of a DRAM bank; 0: the board's */
  bool dumps, full_dumps, modules;
  bool ansi, ci_time, glue, crlf, tqdm, bad_bytes, old_tile, block_debug;
  uint32_t noise; /* foreign lines per 1000 lines */
  bool originals; /* weights are on the device before const-eval converts them, and stay */
  bool waste;     /* a column of tiles and narrow rows stand there through every run */
  bool leak, late, upcast, no_free, one_run, const_eval, zoo, trace, binaries;
  uint32_t leak_more;  /* of every layer, besides */
  uint32_t leak_graph; /* the only one that leaks, from 1; 0: all */
  bool leak_uneven;    /* by another size each time */
  uint32_t requests;   /* graph 0 begins a request, the others follow up to so many times each; 0: graphs take turns */
  uint32_t odd_layer;  /* 1-based; 0 for none */
  gen_odd odd_at;
  gen_kv kv_cache;
  gen_cut cut;
  gen_fail fail;
  uint32_t fail_memory, fail_run, fail_copies;
  gen_era fail_era;
  bool go_on;
} gen_options;

void gen_options_read(gen_options *o, int argc, char **argv);

/* ---- the board ---- */
typedef struct gen_board {
  const char *name;
  uint32_t banks[GEN_MEMORIES];
  uint64_t bank_size[GEN_MEMORIES];
  uint32_t page_align[GEN_MEMORIES]; /* of a page in that memory */
  uint32_t block_align;              /* of a block in every memory */
  uint32_t grid_rows, grid_cols;     /* worker cores */
  uint64_t l1_base, l1_size;
} gen_board;

void gen_board_of(const gen_options *o, gen_board *out);

/* ---- bank allocator ---- */
typedef struct gen_extent {
  uint64_t at, size;
} gen_extent;

/* One memory. Allocation is in lock step, so one bank stands for all of them. */
typedef struct gen_bank {
  uint64_t size, allocated, largest;
  bool largest_stale;
  TTM_VEC(gen_extent) free; /* by address, never touching each other */
} gen_bank;

void gen_bank_init(gen_bank *bank, uint64_t size);
void gen_bank_free(gen_bank *bank);

/* First fit: the lowest free extent that fits, at its start; from the top: the highest, at its end.
 * False when none fits. */
bool gen_bank_take(gen_bank *bank, uint64_t size, bool from_top, uint64_t *at);
void gen_bank_give(gen_bank *bank, uint64_t at, uint64_t size);
uint64_t gen_bank_largest(gen_bank *bank);

/* Lowest allocated address, or `size` when nothing is. */
uint64_t gen_bank_lowest(const gen_bank *bank);

/* ---- tensor types ---- */
typedef enum gen_dtype {
  GEN_BF16,
  GEN_F32,
  GEN_BFP8,
  GEN_BFP4,
  GEN_BFP2,
  GEN_F16,
  GEN_SI32,
  GEN_UI32,
  GEN_UI16,
  GEN_UI8,
  GEN_I1,
  GEN_DTYPES
} gen_dtype;

typedef enum gen_place { GEN_INTERLEAVED, GEN_HEIGHT, GEN_WIDTH, GEN_BLOCK, GEN_ND } gen_place;

/* What distinguishes two types. Zero the struct first: it is compared as bytes. */
typedef struct gen_shape {
  uint64_t dims[GEN_MAX_RANK];
  uint32_t rank, dtype, memory, place;
  uint32_t grid_rows, grid_cols;   /* sharded only */
  uint64_t nd_shard[GEN_MAX_RANK]; /* nd only, elements */
  uint8_t tiled;
  uint8_t tile_element; /* the logical element is printed as the tile (block formats) */
  uint8_t core_ranges;  /* 0 none, 1 short form, 2 qualified form */
  uint8_t mesh;
  uint8_t device; /* not a tensor at all: !ttnn.device */
  uint8_t trace_id;
  uint8_t zero[2]; /* no padding: the bytes are compared */
} gen_shape;

typedef struct gen_type {
  gen_shape shape;
  ttm_str text;
  uint64_t logical;      /* bytes of the values */
  uint64_t stored;       /* bytes over all banks: tiles, shards, row alignment */
  uint64_t per_bank;     /* what one bank needs to store, as out-of-memory messages give it */
  uint64_t block;        /* what one bank gives up */
  uint64_t buffer_bytes; /* the page-aligned size in those messages */
  uint32_t shards;       /* banks in those messages */
  char dims[80];         /* "4000x256" */
} gen_type;

typedef struct gen_types {
  const gen_board *board;
  bool old_tile;
  ttm_arena arena;
  TTM_VEC(gen_type *) all;
  ttm_map of_shape; /* hash of a shape -> position in `all` */
} gen_types;

void gen_types_init(gen_types *types, const gen_board *board, bool old_tile);
void gen_types_free(gen_types *types);

/* The type of this shape, made on first use. */
const gen_type *gen_type_of(gen_types *types, const gen_shape *shape);
const char *gen_dtype_name(uint32_t dtype);   /* "bf16", "ui16"; the tile's name for block formats */
const char *gen_memory_name(uint32_t memory); /* "DRAM" ... "TRACE", "HOST" */

/* Shapes that need few words: dims given, DRAM, interleaved. */
gen_shape gen_shape_of(uint32_t rank, const uint64_t *dims, uint32_t dtype, bool tiled, uint32_t memory);

/* ---- writing ---- */
typedef enum gen_stream { GEN_STDOUT, GEN_STDERR } gen_stream;

/* Where a line ended up. With several ranks the number is only known once the ranks have been woven together. */
typedef uint64_t gen_mark;

typedef struct gen_writer {
  const gen_options *o;
  int fd;
  char *at;
  size_t n;
  uint64_t bytes, lines; /* written so far; lines counts line ends */
  gen_random random;
  uint64_t clock_us;
  bool unfinished; /* the last line has no end */
  bool glue_next;
  TTM_VEC(uint64_t) numbers; /* mark -> line, several ranks only */
  struct gen_queue *queues;  /* one per rank, several ranks only */
  ttm_buf scratch;
} gen_writer;

void gen_writer_open(gen_writer *w, const gen_options *o);
void gen_writer_close(gen_writer *w);

/* Who may write a line before this one: anybody; only tt-xla's loguru (module dumps); nobody (several lines in one
 * write). */
typedef enum gen_company { GEN_ANYBODY, GEN_LOGURU, GEN_NOBODY } gen_company;

/* One whole line (no line end in it). */
gen_mark gen_line(gen_writer *w, uint32_t rank, gen_stream stream, gen_company company, ttm_str text);

/* The last line of a log that was cut: no line end, nothing after it. */
void gen_line_cut(gen_writer *w, ttm_str text);

/* Weaves what the ranks have said so far into the log. */
void gen_weave(gen_writer *w);
uint64_t gen_line_number(const gen_writer *w, gen_mark mark);
uint64_t gen_written(const gen_writer *w);

/* A foreign line of any kind into `out`, or only of the loguru kind. */
void gen_foreign_line(gen_writer *w, bool loguru_only, ttm_buf *out);
void gen_loguru_prefix(gen_writer *w, const char *file, unsigned line, const char *level, ttm_buf *out);
void gen_metal_prefix(gen_writer *w, const char *level, const char *logger, ttm_buf *out);

/* ---- truth ---- */
typedef struct gen_rank gen_rank;
typedef struct gen_op gen_op;

typedef struct gen_state {
  uint32_t allocated[GEN_MEMORIES]; /* 0.001 MiB, as printed */
} gen_state;

typedef struct gen_live {
  uint64_t logical[2], stored[2], n[2]; /* DRAM, L1 */
} gen_live;

typedef struct gen_op_truth {
  char *json; /* what is known when the line is printed */
  gen_mark line;
  uint32_t rank, run;
  bool reported, failed, effect_known, state_known, live_known;
  gen_state state;
  int32_t effect[GEN_MEMORIES];
  gen_live live, live_at_line;
} gen_op_truth;

/* What the truth keeps about the last state of a rank: the next one tells what the operation did. */
typedef struct gen_last {
  bool known, is_op;
  size_t run; /* record of the run it belongs to */
  gen_state state;
  const char *name, *op_type;
  char loc[600];
  bool has_loc;
  gen_mark line;
  size_t record; /* of truth_ops, or SIZE_MAX */
} gen_last;

typedef struct gen_peak {
  bool known, caused, doubtful;
  uint32_t value, rank;
  gen_mark line, state_line;
  char name[80], op_type[80], loc[600];
  bool has_loc;
  gen_mark op_line;
  int32_t effect;
} gen_peak;

typedef struct gen_run_truth {
  uint32_t rank, run;
  const char *program;
  bool known, finished, failed;
  gen_state start, end, peak, next; /* next: the first state after the run on its rank */
  bool next_known;
  uint64_t ops; /* reported operations */
  gen_mark first_line, last_line;
} gen_run_truth;

typedef struct gen_incident {
  const char *kind, *verdict; /* verdict NULL for none */
  uint32_t memory;
  gen_mark line;
  char text[800];
  uint64_t size, banks, needed, bank_size, allocated, free, largest; /* UINT64_MAX where the wording has none */
  uint64_t l1_at, ends_at, program;
  char op[80], loc[600];
  bool has_loc, verdict_told; /* told: the message has the numbers it follows from */
  gen_mark op_line;
  uint32_t rank, copies;
} gen_incident;

typedef struct gen_truth {
  uint64_t op_lines, blocks, deallocations, get_device, reported, cut_blocks;
  gen_last *last; /* per rank */
  gen_peak peak[GEN_MEMORIES];
  TTM_VEC(gen_op_truth) ops;
  TTM_VEC(gen_run_truth) runs;
  TTM_VEC(gen_incident) incidents;
  ttm_buf registry; /* JSON array elements, one graph after another */
  uint64_t weight_bytes;
  uint32_t graphs_told;
  char leak_op[80], leak_loc[600];
  uint64_t leak_block;
  uint32_t leak_runs;
  bool truncated;
} gen_truth;

void gen_truth_init(gen_truth *t, uint32_t ranks);
void gen_truth_free(gen_truth *t);

/* A state was printed; `op` is NULL for submit blocks. */
void gen_truth_state(gen_rank *x, const gen_op *op, gen_state state, gen_mark header, const gen_mark *lines);
/* An operation line (or, without such lines, its block header) was printed. */
void gen_truth_op(gen_rank *x, gen_op *op, gen_mark line);
/* The operation whose record this is has done its work. */
void gen_truth_op_done(gen_rank *x, const gen_op *op);
void gen_truth_write(gen_truth *t, const gen_options *o, const gen_board *board, const gen_writer *w);
void gen_json_string(ttm_buf *out, const char *text); /* NULL gives null */

/* 0.001 MiB as the runtime prints it: exact value, ties to even. */
uint32_t gen_milli(uint64_t bytes);

/* ---- running ---- */
typedef struct gen_value {
  const gen_type *type;
  uint32_t number;
  int16_t part; /* of a multi-result operation, else -1 */
  bool is_arg, held, retained, counted, leaked;
  uint32_t of_graph; /* whose program gave it to the host */
  bool derived;      /* made from weights inside a const-eval program */
  uint64_t at;
  uint32_t weights[GEN_MAX_WEIGHTS], n_weights; /* arguments of main that this is */
} gen_value;

typedef TTM_VEC(gen_value *) gen_values;

/* A function of a module, as a run wrote it. */
typedef struct gen_function {
  char name[80];
  ttm_buf args, body, results, types; /* results and their types: what the program leaves behind */
} gen_function;

typedef TTM_VEC(gen_function) gen_functions; /* callees first */

/* One program in execution. */
typedef struct gen_frame {
  struct gen_frame *outer;
  const char *name;
  char name_text[80];
  bool const_eval;
  uint32_t next_number;
  ttm_arena arena;
  gen_values held;
  gen_function function; /* only where the rank writes a module */
} gen_frame;

/* A location: as printed between loc( and ), and as people read it (empty for unknown). */
typedef struct gen_loc {
  char raw[700];
  char name[600];
} gen_loc;

struct gen_op {
  const char *name;    /* ttnn.add */
  const char *op_type; /* EltwiseBinaryOp */
  gen_value *in[GEN_MAX_OPERANDS];
  uint32_t n_in;
  const char *attributes; /* NULL for none */
  const gen_type *out[GEN_MAX_RESULTS];
  uint32_t n_out;
  const gen_loc *loc;
  const char *callee;               /* load_cached, call */
  uint64_t temporary[GEN_MEMORIES]; /* per bank, taken and given back inside the operation */
  uint64_t lasting[GEN_MEMORIES];   /* per bank, stays (program cache) */
  size_t record;                    /* of the truth, set when the line is printed */
  uint32_t number;
};

struct gen_rank {
  const gen_options *o;
  const gen_board *board;
  gen_writer *w;
  gen_truth *t;
  gen_types *types;
  uint32_t rank, run, graph;
  gen_bank banks[GEN_MEMORIES];
  struct gen_printed *printed; /* state lines as last printed */
  gen_frame *frame;
  bool dead;    /* the program failed: nothing more happens until the next run */
  bool stopped; /* the log was cut: nothing more is written at all */
  gen_live live;
  gen_values outputs; /* left behind by the last top-level program */
  TTM_VEC(uint64_t) seen_kernels;
  gen_random random; /* reseeded for each run of a graph: a program does the same each time */
  uint32_t ops_in_run;
  uint32_t cut_at; /* operation of the last run after which the log is cut */
  size_t run_record;
  const gen_op *op; /* in flight */
  gen_mark op_line;
  ttm_buf text, line;
  bool trace_captured[8];
  gen_values slots;
  gen_functions *functions; /* the rank writes these instead of a log; NULL */
};

void gen_rank_init(gen_rank *x, const gen_options *o, const gen_board *board, gen_writer *w, gen_truth *t,
                   gen_types *types, uint32_t rank);
void gen_rank_free(gen_rank *x);

void gen_program_start(gen_rank *x, const char *name, bool const_eval);
/* What the program leaves behind goes to `survivors`. */
void gen_program_finish(gen_rank *x, gen_values *survivors);

/* Around a top-level program: the host lets go of the last outputs, `before submit` is printed; afterwards
 * `after submit`. */
void gen_run_begin(gen_rank *x, const char *program);
void gen_run_end(gen_rank *x);

/* Prints the operation and its block, then allocates the results. out[] is always filled. */
void gen_do(gen_rank *x, gen_op *op, gen_value **out);

/* The same in two steps, for operations that run programs inside. begin is false when nothing more happens. */
bool gen_op_begin(gen_rank *x, gen_op *op);
void gen_op_end(gen_rank *x, gen_op *op, gen_value **out);

/* load_cached: results are the survivors given, nothing is allocated. */
void gen_op_end_with(gen_rank *x, gen_op *op, const gen_values *survivors, gen_value **out);
void gen_deallocate(gen_rank *x, gen_value *v, const gen_loc *loc);
void gen_get_device(gen_rank *x, gen_value **out);

gen_value *gen_argument(gen_rank *x, uint32_t number, const gen_type *type, bool weight);
/* A runtime line; DEBUG ones only where the log shows operations. */
void gen_message(gen_rank *x, const char *type, const char *level, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Host side: memory that no operation of the log made. */
bool gen_take(gen_rank *x, gen_value *v, bool from_top);
void gen_give(gen_rank *x, gen_value *v);

/* ---- failures ---- */
/* The allocation of `type` just failed inside x->op: says so the way the runtime does, then the program is dead. */
void gen_fail_oom(gen_rank *x, const gen_type *type);
/* Leads the program into the failure that the options ask for; called by the model in the middle of a run. */
void gen_fail_provoke(gen_rank *x);
/* GEN_FAIL_TIGHT: fills DRAM so far that one more tensor like `scores` fits only where another one was freed. */
void gen_fail_tight(gen_rank *x, gen_value *scores);

/* ---- the model ---- */
typedef enum gen_arg_kind { GEN_PARAMETER, GEN_CONSTANT, GEN_INPUT } gen_arg_kind;

typedef struct gen_arg {
  char name[120];
  gen_arg_kind kind;
  const gen_type *type;  /* on the host, row-major */
  const gen_type *ready; /* as the operations take it */
  uint32_t split;        /* devices its first dimension is spread over; 1 for none */
  bool kv_cache;         /* on the device before the first run, and written in place */
} gen_arg;

/* A program to compile and run: its arguments, and how they reach the device. */
typedef struct gen_graph {
  const gen_options *o;
  gen_types *types;
  uint32_t index, layers, hidden, seq, vocab, heads, ffn;
  char module[60];
  TTM_VEC(gen_arg) args;
  uint32_t first_layer_arg, args_per_layer, norm_arg, head_arg, rope_arg, ids_arg, kv_arg;
} gen_graph;

void gen_graph_init(gen_graph *g, const gen_options *o, gen_types *types, uint32_t index);
void gen_graph_free(gen_graph *g);

/* One run on one rank. `cached` holds one list of results per argument, and one for the program without any. */
void gen_graph_run(const gen_graph *g, gen_rank *x, gen_values *cached);
void gen_graph_dump(const gen_graph *g, gen_rank *x); /* the nine module stages */
/* The functions of the graph's program, from a run on a board without limits. */
void gen_module_write(const gen_graph *g, const gen_board *board, gen_functions *out);
void gen_module_free(gen_functions *functions);
void gen_graph_tell(const gen_graph *g, gen_truth *t); /* arguments into the truth */

/* ---- small words for building operations ---- */
/* Any spelling of a location when the options ask for variety, else the plain one. */
void gen_loc_make(gen_rank *x, gen_loc *out, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* One operation with one result. */
gen_value *gen_apply(gen_rank *x, const char *name, const char *op_type, const char *attributes, const gen_type *out,
                     gen_value *const *in, uint32_t n_in, const gen_loc *loc);
void gen_drop(gen_rank *x, gen_value *v);  /* deallocate, unless nothing is ever freed */
void gen_zoo(gen_rank *x, uint32_t count); /* types and operations of every kind */
void gen_trace_program(gen_rank *x, gen_value *input);

int gen_replay(const char *path);

#endif
