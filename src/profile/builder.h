/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader may do to a profile. Private to src/profile: the loaders in load/ use it, nobody else.
 *
 * ttm_build_* add rows: each row is added in one place, whatever the input was. A stream follows one rank as it runs: its stack of programs,
 * the operation that has started but is not known to be done ("pending"), and which tensor every SSA value stands for.
 * All return 0 or TTM_ENOMEM. */
#ifndef TTM_PROFILE_BUILDER_H
#define TTM_PROFILE_BUILDER_H

#include "base/hash.h"
#include "base/map.h"
#include "parse/op_line.h"
#include "profile/profile.h"

enum { TTM_MAX_DEPTH = 64 };

/* A running program. */
typedef struct ttm_scope {
  uint32_t call;
  uint32_t first_tensor; /* tensors of the profile when it started */
  uint32_t cache_key;    /* of the load_cached that runs it */
  ttm_map values;        /* value -> tensor */
} ttm_scope;

/* One rank as it runs. */
typedef struct ttm_stream {
  uint32_t rank; /* dense */
  ttm_scope scopes[TTM_MAX_DEPTH];
  uint32_t depth;
  uint32_t pending;  /* operation */
  uint32_t runs;     /* top-level programs started */
  uint64_t unmade;   /* operands that no operation of their program made */
  uint32_t last_top; /* last top-level call */
  uint32_t last_state;
  uint32_t state_base; /* of the last state */
  uint32_t submit;     /* before-submit state that waits for its program */
  uint32_t missed;     /* string: function of the last cache miss */
  uint32_t graph;      /* being dumped */
  int graph_stage;     /* order of the last stage seen */
  int args_priority;   /* of the stage the graph's arguments came from */
  uint32_t cache_key;  /* string: under which the load_cached now running keeps its results; 0 when not told */
  ttm_map cached;      /* cache key (string) -> first of `cached_tensors` */
  TTM_VEC(uint32_t) cached_tensors; /* runs of: count, tensor ... */
  TTM_VEC(uint32_t) survivors;      /* of the const-eval program that finished last */
  uint32_t survivors_of;            /* its caller */
  uint32_t place; /* string: where in the user's program the next failure comes from, by the traceback before it; 0 */
} ttm_stream;

/* What a dump said: the same text again, of another rank or of a graph compiled again, need not be read. */
typedef struct ttm_known_dump {
  ttm_str text;                           /* in `dump_texts` */
  uint32_t stage, name;                   /* strings */
  uint32_t dram_alignment, devices, most; /* most: arguments of the graph before it; 0: it was the first to tell */
  uint32_t graph, dump;                   /* which had it first */
  TTM_VEC(ttm_graph_arg) args;            /* device_type where the stage is executed */
  TTM_VEC(uint32_t) locations;            /* strings */
} ttm_known_dump;

typedef struct ttm_builder {
  ttm_profile *profile;
  bool keep_ir;
  TTM_VEC(ttm_stream *) streams; /* by rank */
  /* Rows that are stored once, and how they are found again. */
  ttm_map text_of_hash;
  TTM_VEC(ttm_str)
  lines_of_texts; /* by text: the operation line it was read from, in `lines`; empty when it was made */
  ttm_arena lines;
  bool texts_collide; /* two texts had one hash */
  ttm_map dump_of_hash;
  TTM_VEC(ttm_known_dump) known_dumps;
  ttm_arena dump_texts;
  size_t dump_bytes; /* in it */
  ttm_map type_of_string;
  ttm_map list_of_hash; /* hash -> position of the list in `known_lists` */
  TTM_VEC(ttm_list) known_lists;
  ttm_map state_base_ids;            /* hash -> state base */
  ttm_map incident_ids;              /* text string -> last incident with it */
  ttm_map weight_ids;                /* first element of a list -> weights */
  TTM_VEC(uint32_t) weights_of_text; /* by text: weights of the last operation with it */
  ttm_map arguments_taken;           /* those in `scratch`, once they are many */
  TTM_VEC(uint32_t) scratch;
  TTM_VEC(uint32_t) ids; /* scratch too */
  ttm_buf text;          /* scratch too */
} ttm_builder;

/* A new profile in b->profile, which `path` names. */
int ttm_builder_begin(ttm_builder *b, const char *path, bool keep_ir);
/* The input is over: ends what runs, links runs to graphs and, unless the loader did, says what kind of input it was. */
int ttm_builder_end(ttm_builder *b);
/* Hands the profile over; NULL when there is none. */
ttm_profile *ttm_builder_take(ttm_builder *b);
/* Frees everything, the profile too if nobody took it. */
void ttm_builder_free(ttm_builder *b);

/* ---- Rows (builder.c) ---------------------------------------------------------------------------------------------- */

static inline int ttm_build_string(ttm_builder *b, ttm_str text, uint32_t *out) {
  return ttm_intern_add(&b->profile->strings, text, out);
}
int ttm_build_type(ttm_builder *b, ttm_str text, uint32_t *out);
int ttm_build_list(ttm_builder *b, const uint32_t *ids, size_t n, ttm_list *out);

/* The text that was added first under this hash, or TTM_NONE: the right one unless texts collide. */
static inline uint32_t ttm_find_text(const ttm_builder *b, uint64_t hash) {
  return ttm_map_get(&b->text_of_hash, hash, TTM_NONE);
}
/* An operation text, stored once. The row is all zero where it was not filled in. */
int ttm_build_text_once(ttm_builder *b, const ttm_op_text *row, uint32_t *out);
/* The text of an operation line that has this hash, parsed when it is new; TTM_NONE when it is no whole operation. `parsed` and `location` are scratch. */
int ttm_build_line_text(ttm_builder *b, ttm_str line, uint64_t hash, ttm_op_line *parsed, ttm_buf *location,
                        uint32_t *out);
/* Fills a row from what an operation line says; `location` as people name it. */
int ttm_fill_text(ttm_builder *b, const ttm_op_line *line, ttm_str location, ttm_op_text *row);
/* The text of a block without an operation line: named by its type. */
int ttm_build_type_text(ttm_builder *b, ttm_str op_type, uint32_t *out);
/* Value k of the results of a text: "%4" alone, "%4#0", "%4#1" for several. */
int ttm_build_result(ttm_builder *b, const ttm_op_text *text, uint32_t k, ttm_value *out);

/* A new rank of this number. */
int ttm_build_rank(ttm_builder *b, uint32_t number, ttm_stream **out);
/* An operation of the running program, or of a nameless one. Its tensors are the caller's business. */
int ttm_build_op(ttm_builder *b, ttm_stream *s, uint32_t text, uint32_t line, uint32_t *out);
/* Gives an operation to the running program of another rank: for loaders that learn late whose it is, from the first operation on. */
int ttm_build_op_of(ttm_builder *b, ttm_stream *s, uint32_t op);
/* A result of an operation. `self` is another tensor when this is one that already lived, else TTM_NONE. */
int ttm_build_tensor(ttm_builder *b, uint32_t op, uint32_t self, uint32_t *out);

/* How full the memories were before an operation, in one piece. */
typedef struct ttm_block {
  uint32_t op; /* or TTM_STATE_* */
  uint32_t line;
  uint32_t present; /* bit per ttm_memory */
  ttm_level levels[TTM_MEMORIES];
} ttm_block;

enum { TTM_ALL_MEMORIES = (1 << TTM_MEMORIES) - 1 };
/* Bytes in thousandths of a MB, the unit of every state. */
uint32_t ttm_milli_of_bytes(uint64_t bytes);
int ttm_build_block(ttm_builder *b, ttm_stream *s, const ttm_block *block);
/* The two halves of it, for who knows the base already. */
int ttm_build_state_base(ttm_builder *b, ttm_stream *s, uint32_t present, const ttm_level *levels, uint32_t *out);
int ttm_build_state(ttm_builder *b, ttm_stream *s, const ttm_state *state);

/* A failure; one that is told again only counts as a copy. `op` was in flight, or TTM_NONE. */
int ttm_build_incident(ttm_builder *b, ttm_stream *s, ttm_incident_text what, uint32_t op, uint32_t line, bool logged);
/* The failure in a line, if there is one. */
int ttm_build_incident_line(ttm_builder *b, ttm_stream *s, ttm_str text, uint32_t op, uint32_t line);
/* The failure in a sentence found behind "info:" of an exception, unless its wording is one that lines are known by. */
int ttm_build_incident_info(ttm_builder *b, ttm_stream *s, ttm_str sentence, uint32_t op, uint32_t line);

/* Keeps one of the first lines that did not parse. */
int ttm_build_note(ttm_builder *b, uint32_t line, ttm_str text);

/* ---- Compiled graphs (builder_graphs.c) ---------------------------------------------------------------------------- */

/* The graph that a dump of this stage belongs to becomes the stream's: a stage not later than the last one begins a new graph. */
int ttm_build_graph(ttm_builder *b, ttm_stream *s, ttm_str stage);
/* Argument number `index`, a new one or more about it; `better`: what is said now counts more than what was. */
int ttm_build_arg(ttm_builder *b, uint32_t graph, size_t index, const ttm_module_arg *arg, bool better);
/* A dump of the stream's graph, and what its text says. `keep`: whether the text itself may be kept. */
int ttm_build_dump(ttm_builder *b, ttm_stream *s, ttm_dump dump, ttm_str text, bool keep);
void ttm_builder_forget_dumps(ttm_builder *b);
/* Links the top-level runs to the graphs that were dumped (builder_links.c). */
int ttm_builder_link_graphs(ttm_builder *b);

/* ---- Streams: programs (stream.c) and their operations (stream_ops.c) ---------------------------------------------- */

int ttm_program_start(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line);
int ttm_program_finish(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line);
/* The scope to put an operation into; opens a nameless top-level program when none runs. */
int ttm_program_current(ttm_builder *b, ttm_stream *s, uint32_t line, ttm_scope **out);
/* Adds an operation's text or a cache key to the running program's signature. */
void ttm_program_sign(ttm_builder *b, ttm_stream *s, uint32_t id);
/* A submit is over: so is what it ran. */
int ttm_program_submitted(ttm_builder *b, ttm_stream *s, uint32_t line);
/* Ends what runs without a Finished line; a submit that never got as far as a program is a run too. */
int ttm_program_end_all(ttm_builder *b, ttm_stream *s);

int ttm_op_begin(ttm_builder *b, ttm_stream *s, uint32_t text, uint32_t line);
/* The pending operation is done: results come alive, frees happen. */
int ttm_op_complete(ttm_builder *b, ttm_stream *s);

#endif
