/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a graph capture -> the Profile. Private to the loader of graph captures and recordings.
 *
 * Top-level functions become operations; each free becomes a deallocate operation, so that a state stands right before it: memory only
 * falls at frees, so no height is missed. States are made at the end, when the board is known. */
#ifndef TTM_PROFILE_LOAD_GRAPH_H
#define TTM_PROFILE_LOAD_GRAPH_H

#include "base/map.h"
#include "parse/capture.h"
#include "profile/builder.h"

enum { TTM_FUNCTION_DEPTH = 256 };

/* What a `buffer` node said, and what was allocated on it last. */
typedef struct ttm_buffer_node {
  uint64_t bytes;
  uint32_t row; /* ttm_buffer, TTM_NONE when it is not alive */
  uint32_t device;
  uint8_t word, memory;
} ttm_buffer_node;

/* A running function. */
typedef struct ttm_function {
  uint32_t name; /* string */
  bool program;  /* a program began in it ... */
  bool recorded; /* ... and said what buffers it has */
  bool cached;   /* the program came from the cache */
  uint32_t run;  /* recordings: its programs are the same on every chip, and count as one */
} ttm_function;

/* An operation the program began, whose nodes are still to come. */
typedef struct ttm_begun_op {
  uint32_t name, location, stack; /* strings */
  uint32_t to, places;            /* strings: what its results are called, and where several are */
  uint32_t line;
  uint32_t lane;
  uint64_t id, key;     /* with the process above; key 0: none */
  ttm_trace_call trace; /* what it does with one */
  bool kept;            /* an object of the program keeps the result */
  bool seen;            /* in a piece, or passed over */
} ttm_begun_op;

/* A thread of a process. */
typedef struct ttm_lane {
  uint64_t number; /* as the recording has it */
  uint32_t process;
  uint32_t last_called; /* element, TTM_NONE */
  uint32_t device;      /* rank of the last buffer */
  uint64_t piece;       /* number of its last piece ... */
  uint64_t began;       /* ... and of the one before, which ended when that one began */
} ttm_lane;

/* Where a buffer of a recording comes from. */
typedef struct ttm_birth {
  uint32_t lane;
  uint64_t piece;
} ttm_birth;

/* A tensor that the running operation was given. */
typedef struct ttm_mention {
  uint32_t row, op;
  uint64_t function; /* number of the one that was given it last */
  bool read;         /* and not only as the place for a result */
} ttm_mention;

typedef struct ttm_recorded_process {
  uint64_t number;
  uint64_t resident; /* on the host */
  uint32_t test;     /* 1 + the one that runs, 0 */
  bool ended;
} ttm_recorded_process;

/* A device of a process. Closed devices, and those of processes that ended, leave their rank to the next. */
typedef struct ttm_opened_device {
  uint32_t process, id, rank;
  uint64_t chips; /* a bit each */
  bool open;
} ttm_opened_device;

/* A call from the event with number `first` on; whose programs a repeat with the same key tells. */
typedef struct ttm_keyed_call {
  uint32_t first;
  uint64_t key;
} ttm_keyed_call;

/* Its buffers are recorded, recorded or completed from an answer, or unknown. */
enum { TTM_PROGRAM_RECORDED, TTM_PROGRAM_COMPLETED, TTM_PROGRAM_UNKNOWN };

/* A program that began on a chip. */
typedef struct ttm_begun_program {
  uint64_t number;   /* with the process above; 0: none */
  uint32_t event;    /* TTM_EVENT_PROGRAM_FREE */
  uint32_t function; /* string: the device operation */
  uint32_t run;      /* ttm_function.run */
  bool cached;
  uint8_t state;
} ttm_begun_program;

/* A program whose buffers are known: asked for in run mode NO_DISPATCH, or recorded. */
typedef struct ttm_known_program {
  uint64_t number;
  uint32_t function;
  uint32_t first, end; /* in ttm_repeats.events */
} ttm_known_program;

/* The programs of an operation, asked for. */
typedef struct ttm_repeat {
  uint32_t first, n; /* in ttm_repeats.programs */
} ttm_repeat;

typedef struct ttm_repeats {
  TTM_VEC(ttm_buffer_event) events; /* buffers of programs */
  TTM_VEC(ttm_known_program) programs;
  TTM_VEC(ttm_repeat) at;
  ttm_map of_key;    /* -> at */
  ttm_map of_number; /* -> programs: the first, which the program cache has kept */
} ttm_repeats;

/* Where calls are made, told once. */
typedef struct ttm_call_site {
  uint32_t location, stack; /* strings */
} ttm_call_site;

/* A node of a call that others repeat at other addresses. */
typedef struct ttm_template_node {
  ttm_capture_node node;           /* without its texts, with lists of its own */
  uint32_t texts[TTM_PARAM_TEXTS]; /* strings */
} ttm_template_node;

typedef struct ttm_templates {
  TTM_VEC(ttm_template_node) nodes;
  TTM_VEC(uint32_t) first; /* node of each; the next one's is its end */
  ttm_map of_key;          /* -> first */
  bool saving;             /* nodes of the running piece belong to the last one */
} ttm_templates;

typedef struct ttm_capture_loader {
  ttm_builder *builder;
  ttm_stream *stream;
  ttm_profile *profile;
  TTM_VEC(uint32_t) marks; /* per operation: events that had happened when it began */
  TTM_VEC(ttm_buffer_node) nodes;
  ttm_map node_of_counter;        /* counter of a buffer node -> nodes */
  ttm_map node_of_tensor;         /* counter of a tensor node -> nodes */
  ttm_map row_of_tensor;          /* counter of a tensor node that was read -> ttm_buffer */
  TTM_VEC(uint32_t) tensor_types; /* type of each tensor, TTM_NONE */
  ttm_intern type_words;          /* what tensor nodes say */
  ttm_map type_of_key;            /* number of such words -> type */
  TTM_VEC(uint32_t) inputs;       /* types the running operation takes */
  TTM_VEC(uint32_t) outputs;      /* reused */
  TTM_VEC(int64_t) wanted;        /* tensor nodes that the function started last takes */
  TTM_VEC(ttm_mention) mentions;  /* tensors the running operation takes */
  bool after_end;                 /* tensor nodes are results of the function that ended last */
  ttm_buf scratch;
  ttm_function functions[TTM_FUNCTION_DEPTH]; /* the running ones */
  uint32_t depth;                             /* may exceed TTM_FUNCTION_DEPTH: the rest is only counted */
  uint32_t op;                                /* element that runs, TTM_NONE */
  uint32_t op_name;                           /* string */
  uint32_t factory;                           /* string: first program factory of the running element */
  uint32_t free_text;                         /* text of deallocate operations */
  uint32_t fresh_node;                        /* buffer node just read, whose allocation may follow; TTM_NONE */
  bool settled;                               /* recordings: its device is known */
  bool inputs_open;                           /* only tensors and L1 buffers came since a top-level function began */
  uint64_t highest_dram;                      /* end of the highest DRAM buffer */
  uint64_t lowest_cb;                         /* lowest address of a buffer of a program, 0 when none has one */
  uint32_t widest;                            /* largest x of a core range */
  /* Recordings only. */
  bool recording;
  bool hypothetical; /* a piece of run mode NO_DISPATCH: nothing in it really happened ... */
  bool repeating;    /* ... it repeats an operation */
  TTM_VEC(ttm_keyed_call) calls;
  TTM_VEC(ttm_begun_program) starts; /* by event */
  uint32_t runs;
  ttm_repeats repeats;
  TTM_VEC(ttm_call_site) sites;
  ttm_map of_site; /* process and number -> sites */
  ttm_templates templates;
  ttm_begun_op called;         /* the call that runs; zero when the program made none */
  uint32_t call_row;           /* first buffer it may have allocated ... */
  uint32_t result_row;         /* ... the last that a tensor node told as a result, TTM_NONE */
  size_t call_use;             /* its first use */
  uint32_t op_location;        /* string: where the program called the running element; 0 */
  uint32_t op_stack;           /* string: the calls that led there; 0 */
  TTM_VEC(ttm_begun_op) begun; /* from `next_begun` on: not all seen in a piece yet */
  size_t next_begun;
  TTM_VEC(ttm_lane) lanes;
  TTM_VEC(ttm_recorded_process) processes;
  uint32_t lane;   /* whose nodes these are */
  uint32_t viewer; /* lane of the last memory view that may show what others did not tell yet */
  TTM_VEC(ttm_opened_device) opened;
  TTM_VEC(uint32_t) ranks;     /* per operation: device; one without a buffer has the last one's of its lane */
  ttm_map op_of_id;            /* process and id of a call -> operation */
  TTM_VEC(uint64_t) host_ids;  /* by sample of the host: such an id, 0 */
  ttm_map incident_of_failure; /* process and id of a failed operation -> incident */
  uint32_t failed_process;     /* of the last failure, TTM_NONE */
  bool owned;                  /* there are buffers with an address on every core */
  uint32_t program_rank;       /* of the program that runs */
  ttm_intern places;           /* device, memory and address -> ... */
  TTM_VEC(uint32_t) living;    /* ... the buffer there, TTM_NONE */
  TTM_VEC(uint32_t) owed;      /* by place too: frees that were noticed before they were told */
  TTM_VEC(ttm_birth) births;   /* by buffer */
} ttm_capture_loader;

/* From the first node to the last, for who has nodes: a capture's, or pieces of a recording. */
int ttm_capture_loader_begin(ttm_capture_loader *l, ttm_builder *b, bool recording);
int ttm_capture_loader_finish(ttm_capture_loader *l, const ttm_capture_facts *facts);
void ttm_capture_loader_free(ttm_capture_loader *l);

/* Steps that recordings share with captures. */
int ttm_capture_begin_op(ttm_capture_loader *l, uint32_t name, uint32_t location, uint32_t line);
int ttm_capture_finish_op(ttm_capture_loader *l);
int ttm_capture_take(ttm_capture_loader *l, const ttm_capture_node *node);
/* The buffer turns out to be gone, though nobody freed it by now: a free, which is an operation of its own, but not the tensor's. */
int ttm_capture_free_row(ttm_capture_loader *l, const ttm_capture_node *node, uint32_t row);
/* Its frees are operations, it is none. */
bool ttm_capture_is_free(ttm_str function);
uint8_t ttm_capture_memory_of(const ttm_capture_node *node);
uint32_t ttm_capture_device_of(const ttm_capture_node *node);

/* recording_again.c: calls that did what others did. */
/* A piece begins; with a key its only call may be repeated. */
int ttm_recording_begin_template(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_save(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_again(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_freed(ttm_capture_loader *l, const ttm_capture_node *node);
void ttm_recording_free_templates(ttm_capture_loader *l);

/* recording_lanes.c: who did it and where. */
int ttm_recording_enter(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_rank(ttm_capture_loader *l, uint32_t id, uint32_t *out);
/* Of the open device that has the chip. */
int ttm_recording_rank_of_chip(ttm_capture_loader *l, uint32_t chip, uint32_t *out);
int ttm_recording_opened(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_closed(ttm_capture_loader *l, const ttm_capture_node *node);
/* The running process ends. */
void ttm_recording_process_ends(ttm_capture_loader *l);
/* With several devices each is a rank: its operations and failures are given to it. */
int ttm_recording_divide(ttm_capture_loader *l);
static inline ttm_lane *ttm_recording_lane(ttm_capture_loader *l) { return &l->lanes.at[l->lane]; }
/* A number of the running process, below 2^32, as one of the whole recording. */
uint64_t ttm_recording_own(const ttm_capture_loader *l, uint64_t number);

/* recording.c: nodes that only recordings have. */
int ttm_recording_take(ttm_capture_loader *l, const ttm_capture_node *node);
/* Nodes that follow are of another capture. */
int ttm_recording_turn(ttm_capture_loader *l);
/* A top-level function begins: if the program called it, l->op_location says where, and *line. */
int ttm_recording_match(ttm_capture_loader *l, uint32_t name, uint32_t *line);
/* The buffer that lives where a node says, TTM_NONE. */
uint32_t ttm_recording_find(ttm_capture_loader *l, const ttm_capture_node *node);
/* True for a free that was noticed already, when another thread's buffer took the place. Threads tell their frees late. */
bool ttm_recording_is_noticed(ttm_capture_loader *l, const ttm_capture_node *node);
/* A buffer came to live there; one that still seems to is gone. */
int ttm_recording_born(ttm_capture_loader *l, const ttm_capture_node *node, uint32_t row);
void ttm_recording_gone(ttm_capture_loader *l, uint32_t row);
int ttm_recording_call(ttm_capture_loader *l);
/* Calls of the lane that no piece has are operations all the same. */
int ttm_recording_pass(ttm_capture_loader *l);
int ttm_recording_finish(ttm_capture_loader *l, const ttm_capture_facts *facts);

/* recording_names.c: what tensors are called, and what they are to the program. */
void ttm_recording_used(ttm_capture_loader *l, uint32_t tensor, uint32_t function, size_t operand);
void ttm_recording_call_begins(ttm_capture_loader *l);
int ttm_recording_results(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_call_ends(ttm_capture_loader *l);

/* recording_tests.c: tests as sections. */
int ttm_recording_test(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_test_ends(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_in_test(ttm_capture_loader *l, uint32_t op);
/* The program called an operation. */
void ttm_recording_counts(ttm_capture_loader *l);

/* recording_host.c: memory of the host. */
int ttm_recording_host(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_host_end(ttm_capture_loader *l, const ttm_capture_node *node);
/* The call became the operation that runs. */
int ttm_recording_begun(ttm_capture_loader *l, const ttm_begun_op *begun);
void ttm_recording_host_finish(ttm_capture_loader *l);

/* recording_traces.c: what the program does with traces. */
ttm_trace_call ttm_recording_trace(ttm_str function, uint64_t id, uint32_t rank);
/* The operation that begins, if it does something with a trace. */
int ttm_recording_keep_trace(ttm_capture_loader *l, ttm_trace_call call);

/* recording_programs.c: programs that recorded no buffers get those that were asked for. */
/* A program begins, in a piece that answers a question or really, as the last event. */
int ttm_recording_asked_program(ttm_capture_loader *l, const ttm_capture_node *node);
int ttm_recording_program(ttm_capture_loader *l, const ttm_capture_node *node, const ttm_function *function);
/* A buffer of a program that was asked for; `event` is complete. */
int ttm_recording_asked_buffer(ttm_capture_loader *l, const ttm_buffer_event *event);
int ttm_recording_complete(ttm_capture_loader *l);

/* graph_types.c: the type of a tensor node on a buffer in MLIR's words, for the parser of types; empty when it cannot be said. */
/* Which cores a tensor node says hold the shards of the buffer. */
int ttm_capture_note_cores(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer *buffer);
/* What an allocation of a recording says of them. */
int ttm_capture_own_cores(ttm_capture_loader *l, const ttm_capture_node *node, ttm_buffer *buffer);
/* The last buffer again, on the next chip of the mesh: one stands for all. */
bool ttm_capture_is_copy(const ttm_capture_loader *l, const ttm_buffer *buffer);
/* The buffer of a tensor with an address on every core, which a graph capture does not link to it; TTM_NONE: it is none. */
uint32_t ttm_capture_find_own(ttm_capture_loader *l, const ttm_capture_node *node);
/* Such buffers name their chip, all others of a graph capture the mesh: they are on one device. */
void ttm_capture_join_own(ttm_capture *capture);
void ttm_capture_type_text(ttm_buf *out, const ttm_capture_node *tensor, const ttm_buffer *buffer);

/* graph_states.c: the board, every buffer's cost per bank, and the states. */
int ttm_capture_derive(ttm_capture_loader *l, const ttm_capture_facts *facts);

#endif
