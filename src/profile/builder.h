/* SPDX-License-Identifier: Apache-2.0 */
/* Events -> the Profile. Private to src/profile: read.c feeds it, nobody else sees it.
 *
 * Every rank is a stream of its own with a stack of running programs, at most one operation that has started but is not known
 * to be done ("pending"), at most one memory block being put together, and at most one module dump being collected. */
#ifndef TTM_PROFILE_BUILDER_H
#define TTM_PROFILE_BUILDER_H

#include "base/map.h"
#include "parse/log_scan.h"
#include "parse/op_line.h"
#include "profile/profile.h"

/* ---- Texts seen before (builder_texts.c) --------------------------------------------------------------------------- */

typedef struct ttm_text_table {
  ttm_map text_of_hash; /* hash of an operation line -> text */
  ttm_map text_of_type; /* string: type of a block without one -> text */
  ttm_op_line parsed;   /* reused */
  ttm_buf scratch;      /* reused */
  ttm_map type_of_text; /* string -> type */
  ttm_map list_of_hash; /* hash -> position of the list in `known_lists` */
  TTM_VEC(ttm_list) known_lists;
  TTM_VEC(uint32_t) ids; /* reused */
} ttm_text_table;

#define TTM_BAD_TEXT (UINT32_MAX - 1) /* a text that is no whole operation */

/* Text of an operation line, parsed when it is new; *out is TTM_BAD_TEXT when it does not parse. */
int ttm_texts_add(ttm_text_table *table, ttm_profile *p, ttm_str text, uint64_t hash, uint32_t *out);
/* Text of a block without an operation line: named by its type. */
int ttm_texts_add_type(ttm_text_table *table, ttm_profile *p, ttm_str op_type, uint32_t *out);
/* Type row of a type text. */
int ttm_texts_type(ttm_text_table *table, ttm_profile *p, ttm_str text, uint32_t *out);
/* Value k of the results of a text: "%4" alone, "%4#0", "%4#1" for several. */
int ttm_texts_result(ttm_text_table *table, ttm_profile *p, const ttm_op_text *text, uint32_t k, ttm_value *out);
/* The list with these elements, stored once. */
int ttm_texts_list(ttm_text_table *table, ttm_profile *p, const uint32_t *ids, size_t n, ttm_list *out);
void ttm_texts_free(ttm_text_table *table);

/* ---- Streams ------------------------------------------------------------------------------------------------------- */

enum { TTM_MAX_DEPTH = 64 };

/* A running program. */
typedef struct ttm_scope {
  uint32_t call;
  uint32_t first_tensor; /* tensors of the profile when it started */
  uint32_t cache_key;    /* of the load_cached that runs it */
  ttm_map values;        /* value -> tensor */
} ttm_scope;

/* A block whose lines are still coming. */
typedef struct ttm_open_state {
  bool open;
  uint32_t op; /* or TTM_STATE_* */
  uint32_t line;
  uint32_t present;
  ttm_level levels[TTM_MEMORIES];
} ttm_open_state;

/* A module dump whose lines are still coming. */
typedef struct ttm_open_dump {
  bool open;
  bool closed; /* the module's last brace was seen: logs without an END line end here */
  bool overflow;
  uint32_t stage;
  uint32_t first_line, lines;
  ttm_buf text;
} ttm_open_dump;

typedef struct ttm_stream {
  uint16_t tag;  /* rank as tagged, TTM_NO_RANK */
  uint32_t rank; /* dense */
  ttm_scope scopes[TTM_MAX_DEPTH];
  uint32_t depth;
  uint32_t pending;  /* operation */
  uint32_t runs;     /* top-level programs started */
  uint32_t last_top; /* last top-level call */
  uint32_t last_op;  /* last operation */
  uint32_t last_state;
  uint32_t state_base; /* of the last state */
  uint32_t submit;     /* before-submit state that waits for its program */
  uint32_t missed;     /* string: function of the last cache-miss line */
  ttm_open_state state;
  ttm_open_dump dump;
  uint32_t graph;     /* being dumped */
  int graph_stage;    /* order of the last stage seen */
  int args_priority;  /* of the stage the graph's arguments came from */
  uint32_t cache_key; /* string: under which the load_cached now running keeps its results; 0 when not told */
  ttm_map cached;     /* cache key (string) -> first of `cached_tensors` */
  TTM_VEC(uint32_t) cached_tensors; /* runs of: count, tensor ... */
  TTM_VEC(uint32_t) survivors;      /* of the const-eval program that finished last */
  uint32_t survivors_of;            /* its caller */
} ttm_stream;

typedef struct ttm_builder {
  ttm_profile *profile;
  bool keep_ir;
  ttm_text_table texts;
  TTM_VEC(ttm_stream *) streams;
  ttm_map stream_ids; /* tag -> which of them */
  ttm_stream *last_stream;
  uint64_t base_line; /* lines before the current chunk */
  bool last_line_bad; /* the last operation line did not parse */
  uint32_t open_dumps;
  uint32_t info_wait; /* lines to look at for "info:" and its sentence; 0 = none awaited */
  bool info_next;     /* "info:" was seen */
  uint16_t info_tag;
  ttm_map weight_ids;                /* first element of a list -> weights */
  TTM_VEC(uint32_t) weights_of_text; /* by text: weights of the last operation with it */
  ttm_map state_base_ids;            /* hash -> state call */
  ttm_map incident_ids;              /* text string -> last incident with it */
  struct {
    const ttm_rest *rest; /* of the current chunk */
    const ttm_stream *stream;
    uint32_t call;
  } last_whole; /* the last whole block: many after it end with the same lines, and so have its state call */
  TTM_VEC(uint32_t) scratch;
  ttm_map arguments_taken; /* those in `scratch`, once they are many */
} ttm_builder;

/* Log line (1-based) of an event's line; saturates. */
uint32_t ttm_builder_line(const ttm_builder *b, uint32_t line_in_chunk);

/* ---- Steps, by file ------------------------------------------------------------------------------------------------ */

/* builder.c */
/* A new profile and the builder that will fill it; both are to be freed in any case. 0 or TTM_ENOMEM. */
int ttm_builder_begin(ttm_profile **out, ttm_builder *b, const char *path, bool keep_ir);
/* Joins one scanned chunk; chunks come in order. */
int ttm_builder_take(ttm_builder *b, const ttm_chunk *chunk, const ttm_scanned *scanned);
/* After the last chunk: closes what is open and links runs to graphs. 0, TTM_ENOMEM, or TTM_ENODATA with the reason why there is
 * nothing to report on. */
int ttm_builder_end(ttm_builder *b, ttm_error *err);
void ttm_builder_free(ttm_builder *b);
int ttm_builder_stream(ttm_builder *b, uint16_t tag, ttm_stream **out);
/* Keeps one of the first lines that did not parse. */
int ttm_builder_note(ttm_builder *b, uint32_t line, ttm_str text);

/* builder_states.c */
/* Bytes in thousandths of a MB, the unit of every state. */
uint32_t ttm_milli_of_bytes(uint64_t bytes);
int ttm_state_begin(ttm_builder *b, ttm_stream *s, uint32_t op, uint32_t line);
int ttm_state_add(ttm_builder *b, ttm_stream *s, ttm_memory memory, const ttm_level *level, uint32_t line);
/* L1, L1_SMALL and TRACE at once; `line` is the first one's. */
int ttm_state_add_rest(ttm_builder *b, ttm_stream *s, const ttm_rest *rest, uint32_t line);
/* The whole block of the pending operation at once; `line` is its header's. */
int ttm_state_add_whole(ttm_builder *b, ttm_stream *s, const ttm_block_event *block, const ttm_rest *rest,
                        uint32_t line);
/* Writes the open block into the profile, if there is one. */
int ttm_state_commit(ttm_builder *b, ttm_stream *s);

/* builder_ops.c */
/* An operation whose tensors, if any, the caller knows: no operands are looked up. */
int ttm_op_place(ttm_builder *b, ttm_stream *s, uint32_t text, uint32_t line, uint32_t *out);
int ttm_op_begin(ttm_builder *b, ttm_stream *s, uint32_t text, uint32_t line);
/* The pending operation is done: results come alive, frees happen. */
int ttm_op_complete(ttm_builder *b, ttm_stream *s);

/* builder_programs.c */
int ttm_program_start(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line);
int ttm_program_finish(ttm_builder *b, ttm_stream *s, ttm_str name, uint32_t line);
/* The scope to put an operation into; opens a nameless top-level program when none runs. */
int ttm_program_current(ttm_builder *b, ttm_stream *s, uint32_t line, ttm_scope **out);
/* Adds an operation's text or a cache key to the running program's signature. */
void ttm_program_sign(ttm_builder *b, ttm_stream *s, uint32_t id);
/* Ends every running program of the stream without a Finished line. */
int ttm_program_unwind(ttm_builder *b, ttm_stream *s);
/* The log is over: ends what runs, and a submit that never got as far as a program is a run too. */
int ttm_program_end_all(ttm_builder *b, ttm_stream *s);
/* Before and after submit lines: `state` is committed later, so the stream only notes what it belongs to. */
int ttm_program_submit(ttm_builder *b, ttm_stream *s, bool before, uint32_t line);
/* Links the top-level runs to the graphs that were dumped. */
int ttm_program_link_graphs(ttm_builder *b);

/* builder_dumps.c */
int ttm_dump_begin(ttm_builder *b, ttm_stream *s, ttm_str stage, uint32_t line);
int ttm_dump_end(ttm_builder *b, ttm_stream *s);
/* Lines of the chunk between two events, while a dump is open: its body, and whatever other writers put between. */
int ttm_dump_lines(ttm_builder *b, const char *at, const char *end);

/* builder_incidents.c */
int ttm_incident_add(ttm_builder *b, ttm_stream *s, ttm_str line_text, uint32_t line);
/* A sentence found behind "info:" of an exception. */
int ttm_incident_add_sentence(ttm_builder *b, ttm_stream *s, ttm_str sentence, uint32_t line);

#endif
