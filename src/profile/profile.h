/* SPDX-License-Identifier: Apache-2.0 */
/* The one model of a run. Every input becomes a ttm_profile, every analysis and report reads one.
 *
 * Rows are named by index (uint32_t, TTM_NONE for "none") and kept in tables of fixed-width integers. Texts that repeat are
 * stored once: an operation row points to its ttm_op_text, which is shared by every run of the same compiled program.
 * Memory figures are thousandths of a MB (MiB) per bank, exactly as the log prints them; bytes are uint64_t.
 * A profile never changes after it was read; everything in it is borrowed and lives until ttm_profile_free. */
#ifndef TTM_PROFILE_PROFILE_H
#define TTM_PROFILE_PROFILE_H

#include <stdatomic.h>

#include "base/boards.h"
#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/intern.h"
#include "parse/decision_trace.h"
#include "parse/incident_text.h"
#include "parse/memory_view.h"
#include "parse/module_dump.h"
#include "parse/op_line.h"
#include "parse/perf_csv.h"
#include "parse/tensor_type.h"
#include "ttmem/profile.h"

/* ---- Texts: what is printed again in every run -------------------------------------------------------------------- */

/* A type text and what it says. */
typedef struct ttm_type {
  uint32_t text;  /* string */
  bool is_tensor; /* `tensor` is only valid then */
  ttm_tensor_type tensor;
} ttm_type;

/* A run of uint32_t in ttm_profile.lists. */
typedef struct ttm_list {
  uint32_t first, n;
} ttm_list;

/* A value or symbol of an operation: "%12" and "%arg3" are numbers in disguise, everything else is a string. There may be as
 * many as operations, so the common ones cost no memory. */
typedef uint32_t ttm_value;
#define TTM_VALUE_NUMBER UINT32_C(0x80000000)   /* "%n", n in the bits below */
#define TTM_VALUE_ARGUMENT UINT32_C(0xc0000000) /* "%argn" */
enum { TTM_VALUE_CHARS = 16 };

static inline bool ttm_value_is_argument(ttm_value v) { return (v & TTM_VALUE_ARGUMENT) == TTM_VALUE_ARGUMENT; }
static inline uint32_t ttm_value_argument(ttm_value v) { return v & ~TTM_VALUE_ARGUMENT; }

/* One distinct operation text. */
typedef struct ttm_op_text {
  uint32_t name;       /* string: "ttnn.add"; the block's type ("RepeatOp") when there was no operation line */
  uint32_t op_type;    /* string: "EltwiseBinaryOp", from the block header; 0 when no block was seen */
  uint32_t attributes; /* string */
  uint32_t location;   /* string, rendered; 0 when unknown. load_cached without one: "@callee" */
  uint32_t callee;     /* string: "main_const_eval_0" */
  ttm_value result;    /* "%14"; 0 without a result */
  ttm_list operands;   /* values, as printed */
  ttm_list inputs;     /* types */
  ttm_list outputs;    /* types */
  uint16_t result_count;
  uint8_t kind; /* ttm_op_kind */
  bool has_attributes : 1;
  bool synthetic : 1; /* made from a block without an operation line */
  uint8_t use : 6;    /* ttm_operand_use of the second operand; no bit is left: rows are compared as bytes */
} ttm_op_text;

/* ---- Operations --------------------------------------------------------------------------------------------------- */

enum {
  TTM_OP_CONST_EVAL = 1, /* ran inside a const-eval program */
  TTM_OP_CACHE_MISS = 2, /* that program ran because of a cache miss */
  TTM_OP_CACHE_HIT = 4,  /* a load_cached answered from the cache */
  TTM_OP_RETAINED = 8,   /* a deallocate that freed nothing: "Tensor is retained" */
  TTM_OP_FAILED = 16,    /* an incident stopped it: its results never came to be */
  TTM_OP_PART = 32,      /* captures: the rest of the operation before it, behind a free inside it */
};

/* One executed operation, deallocations and get_device included, in log order. */
typedef struct ttm_op {
  uint32_t text;
  uint32_t line;   /* 1-based, of the operation line; of the block when there was none */
  uint32_t state;  /* the state printed before it, or TTM_NONE */
  uint32_t call;   /* the program it ran in */
  uint32_t tensor; /* first of its result tensors; for a deallocate the tensor it freed; TTM_NONE */
  /* Id for ttm_profile_weights: arguments of the entry program it takes, directly or through load_cached. */
  uint32_t weights;
  uint32_t flags;
} ttm_op;

/* ---- Memory states ------------------------------------------------------------------------------------------------ */

/* `op` of a state that no operation owns. */
#define TTM_STATE_BEFORE_SUBMIT (UINT32_MAX - 1)
#define TTM_STATE_AFTER_SUBMIT (UINT32_MAX - 2)
#define TTM_STATE_BARE (UINT32_MAX - 3) /* four lines without a header */

/* What seldom changes from state to state, stored once per distinct value. */
typedef struct ttm_state_base {
  uint32_t rank;                  /* dense rank index, see ttm_profile.ranks */
  uint32_t present;               /* bit per ttm_memory that the block held */
  ttm_level levels[TTM_MEMORIES]; /* DRAM's allocated, free and largest are 0 here: they stand in the state */
} ttm_state_base;

typedef struct ttm_state {
  uint32_t op;   /* the operation that ran after this state, or TTM_STATE_* */
  uint32_t line; /* 1-based, of the block's first line */
  uint32_t base; /* ttm_state_base */
  uint32_t dram_allocated, dram_free, dram_largest;
} ttm_state;

/* ---- Tensors ------------------------------------------------------------------------------------------------------ */

/* What a tensor of a recording is to its program. */
enum {
  TTM_ROLE_BROUGHT = 1, /* its values come from the host */
  TTM_ROLE_KEPT = 2,    /* an object of the program holds it */
  TTM_ROLE_CACHE = 4,   /* operations write a step's keys or values into it */
  TTM_ROLE_FIRST = 8,   /* operations compute with it as their first operand ... */
  TTM_ROLE_LATER = 16,  /* ... as another one ... */
  TTM_ROLE_FACTOR = 32, /* ... where weights are expected: products, convolutions, norms, look-ups */
};

typedef struct ttm_tensor {
  uint32_t self;     /* its own index; another one when this result is a tensor that already lived (load_cached) */
  uint32_t birth;    /* operation */
  uint32_t last_use; /* operation that last took it as an operand; birth when none did */
  /* Deallocate operation, or TTM_NONE: returned, retained, still alive, or nobody saw when it went. */
  uint32_t freed_by;
  uint8_t uses;  /* what operations did with it: TTM_USE_* */
  uint8_t roles; /* recordings: TTM_ROLE_* */
} ttm_tensor;

/* ---- Programs ----------------------------------------------------------------------------------------------------- */

/* One execution of a program. */
typedef struct ttm_call {
  uint32_t name;   /* string; 0 for operations outside every program */
  uint32_t parent; /* call it ran in, TTM_NONE at top level */
  uint32_t caller; /* operation that ran it (load_cached), TTM_NONE */
  uint32_t rank;   /* dense rank index */
  uint32_t run;    /* 0-based count of top-level program runs of this rank */
  uint32_t graph;  /* compiled graph it belongs to, TTM_NONE when no dump fits */
  /* Of its own operations and cache keys in order: equal for runs of one graph that went equally far. */
  uint64_t signature;
  uint32_t first_op; /* first and last operation inside, nested ones included; TTM_NONE when it has none */
  uint32_t last_op;
  uint32_t first_line, last_line;
  uint32_t before, after; /* submit states around it, TTM_NONE */
  bool const_eval, cache_miss;
  bool finished; /* its Finished line was seen */
} ttm_call;

/* ---- Compiled graphs ---------------------------------------------------------------------------------------------- */

typedef struct ttm_graph_arg {
  uint32_t ssa, name;   /* strings */
  uint32_t type;        /* type, as in the signature (global shape on a mesh) */
  uint32_t local_type;  /* type per device; same as `type` when nothing says otherwise */
  uint32_t device_type; /* as the executed program takes it, layout and memory included; TTM_NONE when no dump tells */
  uint8_t kind;         /* ttm_arg_kind */
  bool kv_cache;
} ttm_graph_arg;

typedef struct ttm_dump {
  uint32_t stage;      /* string: "ttnn" */
  uint32_t first_line; /* log line of its header */
  uint32_t line_count; /* lines of the text */
  uint64_t bytes;      /* of the text */
  void *packed;        /* compressed text, NULL when not kept; see ttm_profile_dump_text */
  size_t packed_bytes;
} ttm_dump;

typedef struct ttm_graph {
  uint32_t name; /* string: module name */
  uint32_t rank;
  TTM_VEC(ttm_dump) dumps;
  TTM_VEC(ttm_graph_arg) args;
  ttm_map locations;       /* strings in the executed stage, to tell which runs belong to it */
  uint32_t dram_alignment; /* 0 when the dump does not say */
  uint32_t devices;
} ttm_graph;

/* ---- Incidents ---------------------------------------------------------------------------------------------------- */

typedef struct ttm_incident {
  ttm_incident_text what; /* its views point into the profile's strings */
  uint32_t line;
  uint32_t copies; /* times the sentence was seen: log line, exception, traceback */
  uint32_t op;     /* operation in flight, or TTM_NONE */
  uint32_t state;  /* last state before it on that rank, or TTM_NONE */
  uint32_t rank;
  uint32_t place; /* string: "ttnn.softmax at model.py:17", by the traceback of the program; 0 */
  bool logged;    /* seen as a log line, not only inside an exception */
} ttm_incident;

/* ---- Graph captures ------------------------------------------------------------------------------------------------ */

/* A buffer a capture knows of: a tensor's memory, a program's kernels, or a trace. */
/* What the HYBRID allocator may do with a sharded tensor in L1. */
typedef enum ttm_own_cores {
  TTM_OWN_NONE,      /* lock step: the same address on all cores, and nothing else may lie there */
  TTM_OWN_RANGE,     /* the same address on its own cores; tensors with their own addresses may lie there on others */
  TTM_OWN_ADDRESSES, /* an address on each core */
} ttm_own_cores;

typedef struct ttm_buffer {
  uint32_t op;              /* operation that allocated it; TTM_NONE: it was there before the capture began */
  uint32_t tensor;          /* TTM_NONE when it is no tensor */
  uint32_t device;          /* as the capture names it, recordings: its rank; TTM_NONE when it does not */
  uint8_t memory;           /* ttm_memory */
  bool kernels;             /* holds a program's kernels: no tensor behind it */
  bool trace;               /* holds a trace, with trace_region_size=0: no tensor behind it */
  bool estimated;           /* bank_bytes rests on an assumed number of banks or page size */
  uint8_t own;              /* ttm_own_cores */
  uint32_t cores;           /* shards; 0: interleaved over all banks */
  uint32_t shard_cores;     /* string: the core ranges that hold the shards; 0 when not told */
  uint64_t bytes;           /* of all banks, as the capture says */
  uint64_t page;            /* 0 when not told */
  uint64_t bank_bytes;      /* what every bank gives up for it: pages and blocks aligned */
  uint64_t address;         /* TTM_UNKNOWN when nothing was really allocated */
  uint32_t place;           /* recordings: which of the places it has */
  uint32_t name;            /* recordings, string: what the program calls it; 0 when not told */
  uint32_t freed_by;        /* deallocate operation, TTM_NONE */
  uint32_t under;           /* recordings: the older buffer that lives at the same address, on other cores; TTM_NONE */
  uint32_t places, place_n; /* TTM_OWN_ADDRESSES: core_places of the capture; `address` is the first core's */
} ttm_buffer;

/* An address of such a buffer. */
typedef struct ttm_core_place {
  uint64_t at;
  uint8_t x, y;
} ttm_core_place;

typedef enum ttm_buffer_event_kind {
  TTM_EVENT_ALLOCATE,
  TTM_EVENT_FREE, /* recordings: `alias` 1: a view may have shown it before */
  TTM_EVENT_INPUT, /* a buffer node right behind the start of a top-level function: one of tt-metal's extractors counts it */
  TTM_EVENT_CIRCULAR, /* these three belong to a program, and ... */
  TTM_EVENT_DATAFLOW,
  TTM_EVENT_SCRATCHPAD,
  TTM_EVENT_PROGRAM_FREE, /* ... go with it */
  TTM_EVENT_MEASURED, /* what the allocator said: `bytes` allocated and `per_bank` largest free block per bank, `row` ttm_memory, `named_bytes` of a bank, `node` banks, `address` where a bank begins, `alias` 1: frees of another thread may not be told yet */
  TTM_EVENT_OPENED,   /* recordings: a device was opened, empty */
} ttm_buffer_event_kind;

/* An operation takes a tensor that it did not make. */
typedef struct ttm_tensor_use {
  uint32_t op, tensor;
} ttm_tensor_use;

/* Its result goes into a tensor that it did not make. */
typedef struct ttm_tensor_write {
  uint32_t op, tensor;
  bool read; /* too: the rest of it, or what it held before */
} ttm_tensor_write;

/* What the program did with a trace: an operation of a recording. */
typedef enum ttm_trace_step {
  TTM_TRACE_NONE,
  TTM_TRACE_BEGIN, /* of its capture; which trace it is the end tells */
  TTM_TRACE_END,
  TTM_TRACE_REPLAY,
  TTM_TRACE_RELEASE,
  TTM_TRACE_CLOSED, /* the device with all its traces; `op` is the first operation behind it */
} ttm_trace_step;

typedef struct ttm_trace_call {
  uint64_t id;
  uint32_t op, rank;
  uint8_t step; /* ttm_trace_step */
} ttm_trace_call;

/* The word a node has under "type": tt-metal's extractors go by it. */
typedef enum ttm_type_word { TTM_WORD_NONE, TTM_WORD_DRAM, TTM_WORD_L1, TTM_WORD_OTHER } ttm_type_word;

enum {
  TTM_ALIAS = 1,        /* lies in a tensor's memory: globally_allocated, borrows_memory */
  TTM_ALIAS_UNTOLD = 2, /* the node does not say whether it does */
  TTM_ALIAS_WORD = 4,   /* it says so with a word ("false") where tt-metal's extractors want a number */
};

/* Something that took or gave memory, in the capture's order. Numbers are the node's own, TTM_UNKNOWN where it has none. */
typedef struct ttm_buffer_event {
  uint64_t bytes;    /* "size" */
  uint64_t per_bank; /* "max_size_per_bank" */
  uint64_t address;
  uint64_t named_bytes; /* frees: "size" of the node that connections[0] names */
  uint32_t node;        /* counter */
  uint32_t op;          /* operation it happened in, TTM_NONE */
  uint32_t function;    /* string: innermost function around it */
  uint32_t device;
  uint32_t row;       /* allocate, free, input: buffer, or TTM_NONE; buffers of programs: string of their core ranges */
  uint8_t kind;       /* ttm_buffer_event_kind */
  uint8_t word;       /* ttm_type_word */
  uint8_t named_word; /* frees: of the node that connections[0] names */
  uint8_t alias;      /* TTM_ALIAS_* */
} ttm_buffer_event;

/* The chip the capture was made on. 0 where nothing tells. */
typedef struct ttm_capture_board {
  uint8_t arch;   /* ttm_arch_id; TTM_ARCHES when not known */
  bool estimated; /* guessed from cores and addresses: the capture does not say */
  uint64_t l1_bytes, l1_base, l1_banks, l1_bank_bytes, dram_banks, dram_bank_bytes;
  uint32_t grid_x, grid_y;
} ttm_capture_board;

/* Resident memory of the program's processes on the host. */
typedef struct ttm_host_sample {
  uint64_t bytes;
  uint32_t op; /* the last operation that had begun; TTM_NONE: none had */
  uint32_t at; /* string: the line of the program then; 0 */
} ttm_host_sample;

/* Memory of the host, not of the board; 0 where nothing was told. */
typedef struct ttm_host {
  TTM_VEC(ttm_host_sample) samples;
  uint64_t peak;                         /* of all processes together ... */
  uint64_t tree_peak, tree;              /* ... and by who started them: of the whole tree, and its last figure */
  uint64_t pinned, locked, huge;         /* most of one process */
  uint64_t address_space, address_limit; /* likewise; ulimit -v */
  uint64_t machine, available, lowest_available, cgroup;
  uint64_t oom_kills;
  uint32_t signal;   /* that ended the program */
  uint32_t uncaught; /* string: type of the exception that ended it; 0 */
  bool ended;        /* `signal` and `oom_kills` are told */
} ttm_host;

/* What `ttmem run` recorded: everything from the opening of the device on, in pieces. */
typedef struct ttm_recording {
  bool is;                   /* the capture is such a recording */
  bool ended;                /* its last nodes are there: no process was killed or crashed */
  uint32_t reason;           /* string: how it ended, "exit" */
  uint32_t board;            /* string: mock board; empty on a real one */
  uint64_t pieces, views;    /* captures put together; memory views taken between them */
  uint64_t corrections;      /* views that differed from our sums ... */
  uint64_t hole_corrections; /* ... or only in the largest free block */
  uint64_t unseen_frees;     /* buffers whose place was given to another without a free in between */
  uint64_t hole_states;      /* states whose largest free DRAM block is known; of the others it is at most that */
  uint64_t completed;        /* programs whose buffers a repetition in run mode NO_DISPATCH told */
  uint64_t lost;             /* operations that began, but whose piece was never written ... */
  uint32_t last;             /* ... the last of them, TTM_NONE */
  uint64_t elsewhere;        /* operations that were not recorded */
  uint64_t late;             /* operations that stand behind later ones of another thread */
  uint32_t processes;        /* that used a device */
  uint64_t chips;            /* a bit for each that was opened */
  bool asked_chips;          /* the program asked how many there are */
  /* How the failures of operations ended. */
  bool given_up;               /* the recorder stopped before the program */
  uint32_t fatal;              /* incident that ended the program or a thread as an exception nobody caught; TTM_NONE */
  bool own_error;              /* another exception, the program's own, ended it */
  bool in_thread;              /* `fatal` ended a thread, and the program went on */
  uint64_t after_failure;      /* operations that the process called after its last failure */
  uint64_t waits;              /* for events, left out on a mock board */
  uint64_t sub_devices;        /* loads of them on a mock board, without its workers */
  uint64_t traces;             /* captured by the program, and only pretended on a mock board */
  bool measured[TTM_MEMORIES]; /* a view told ... */
  uint64_t banks[TTM_MEMORIES]; /* ... banks and ... */
  uint64_t total[TTM_MEMORIES]; /* ... bytes of each */
} ttm_recording;

/* True when operations are missing in it: peaks are lower bounds. */
static inline bool ttm_recording_is_partial(const ttm_recording *r) { return r->given_up || r->lost || r->elsewhere; }

/* Chips of a mask. */
static inline uint32_t ttm_chips_in(uint64_t mask) { return (uint32_t)__builtin_popcountll(mask); }

/* Devices that are told apart. Nobody has that many which are no mesh; what a broken capture names beyond them counts as the first. */
enum { TTM_CAPTURE_DEVICES = 64 };

/* A device of a recording, from its opening to its closing. The chips of a mesh hold the same. */
typedef struct ttm_opening {
  uint32_t rank;                /* while it is open */
  uint32_t process;             /* 0, 1, ... in the order of their first device */
  uint64_t chips;               /* a bit each */
  uint64_t peak[TTM_MEMORIES];  /* per bank, to the byte ... */
  uint64_t total[TTM_MEMORIES]; /* ... of so much; 0 when not told */
  uint32_t banks[TTM_MEMORIES];
} ttm_opening;

/* A test of a recorded program: a section of its operations. */
typedef struct ttm_test {
  uint32_t name, outcome, why; /* strings; outcome: "passed", "failed", "skipped", 0 when it did not end */
  uint64_t operations;
  uint64_t peak[TTM_MEMORIES]; /* per bank, to the byte; 0: it allocated nothing there */
} ttm_test;

typedef struct ttm_capture {
  TTM_VEC(ttm_buffer) buffers;
  TTM_VEC(ttm_core_place) core_places; /* of buffers with several addresses, each in turn */
  uint64_t peak_traces;                /* of DRAM per bank, by traces */
  TTM_VEC(ttm_buffer_event) events;
  TTM_VEC(ttm_tensor_use) uses; /* by operation */
  TTM_VEC(ttm_tensor_write) writes;
  TTM_VEC(ttm_trace_call) traces; /* recordings, by operation */
  TTM_VEC(uint32_t)
  stacks; /* recordings, by operation: string, "a.py:3|b.py:7", the calls that led to it; 0 or beyond: unknown */
  TTM_VEC(ttm_opening) openings; /* recordings */
  TTM_VEC(ttm_test) tests;
  TTM_VEC(uint32_t) test_of; /* by operation: 1 + its test; 0 or beyond: none */
  ttm_capture_board board;
  bool report;          /* the report object, not the bare array */
  bool normal;          /* made in run mode NORMAL: something has an address or was executed */
  bool ordered;         /* counters are 0, 1, 2, ...: otherwise tt-metal's extractors refuse */
  uint32_t version;     /* string: of ttnn, empty when not told */
  uint32_t schema;      /* string: of the database, when it is a report of ttnn-visualizer, read as a recording; 0 */
  bool buffers_missing; /* such a report knows the buffers of its own operations only */
  uint64_t nodes, bad_nodes, other_nodes;
  uint64_t functions, programs; /* started functions; programs (each frees the last one's buffers) */
  uint64_t cache_hits;          /* programs that came from the cache */
  uint64_t empty_programs;      /* programs that recorded no buffer, cached or not ... */
  uint64_t empty_cached;        /* ... of those the cached */
  uint32_t first_empty;         /* string: function of the first of them */
  uint64_t world;               /* ranks in all, 0 when not told */
  ttm_recording recording;
  ttm_host host;
  uint64_t peak_bytes[TTM_MEMORIES]; /* most that was allocated per bank, to the byte ... */
  uint32_t peak_op[TTM_MEMORIES];    /* ... by the end of this operation; TTM_NONE */
  /* Recordings: of the device, between its opening and its closing, with the least headroom. */
  uint64_t tight_peak[TTM_MEMORIES], tight_total[TTM_MEMORIES];
} ttm_capture;

/* ---- What was read ------------------------------------------------------------------------------------------------ */

enum { TTM_KEPT_NOTES = 8 };

/* Counts of everything seen, understood or not. */
typedef struct ttm_seen {
  uint64_t bytes, lines; /* of the (decompressed) text */
  uint64_t op_lines, blocks, submit_blocks, bare_blocks, deallocations, get_devices, retained;
  uint64_t runtime_lines; /* lines of the tt-mlir runtime logger */
  uint64_t debug_lines;   /* those at DEBUG or TRACE */
  uint64_t dumps;         /* "MLIR Module" headers */
  uint64_t bad_op_lines;  /* operation lines that do not parse: cut or torn */
  uint64_t bad_blocks;    /* memory lines that do not parse */
  uint64_t unpaired;      /* blocks whose operation line is missing although the log has operation lines */
  uint64_t unfinished;    /* programs without their Finished line */
  uint64_t holes;         /* signs of lost lines: operands that nothing made, programs without their Starting line */
  bool loguru;            /* there are lines of tt-xla's own logger */
  bool cut;               /* the input ends inside a line or a block */
  const char *damage;     /* why a packed input ended early; NULL */
  bool looks_like_binary;
  uint32_t partial; /* string: what a report says its own input lacked */
  bool from_report; /* rebuilt from the JSON files of a report: frees and the states before them are not in them */
  bool trace_cache; /* trace capture or replay lines seen: replayed operations print nothing */
  struct {
    uint32_t line;
    uint32_t text;         /* string, shortened */
  } notes[TTM_KEPT_NOTES]; /* first lines that did not parse */
  uint32_t note_count;
} ttm_seen;

typedef enum ttm_log_kind {
  TTM_LOG_NONE,
  TTM_LOG_FULL,      /* operation lines and their blocks */
  TTM_LOG_BLOCKS,    /* blocks only: operations named by their type */
  TTM_LOG_OPS,       /* operation lines only */
  TTM_LOG_SUBMIT,    /* submit blocks only */
  TTM_LOG_INCIDENTS, /* nothing but error messages */
  TTM_LOG_CAPTURE,   /* a ttnn graph capture: states are derived from what its nodes allocate and free */
  TTM_LOG_LIVE, /* a recording of `ttmem live`: states are samples, operations what processes did between two of them */
} ttm_log_kind;

/* As in findings.json: "full"; NULL for TTM_LOG_NONE. And back: TTM_LOG_NONE for any other text. */
const char *ttm_log_kind_name(ttm_log_kind kind);
ttm_log_kind ttm_log_kind_named(ttm_str name);

/* A block of a bank as the allocator itself tells it. */
typedef struct ttm_held_block {
  uint64_t address, bytes;
  uint32_t op; /* that allocated it; TTM_NONE when it was there first */
} ttm_held_block;
typedef TTM_VEC(ttm_held_block) ttm_held_blocks;
enum { TTM_HELD_MEMORIES = TTM_L1 + 1 };

/* A program that an operation ran, as tt-metal's profiler counts them: GLOBAL CALL COUNT. */
typedef struct ttm_execution {
  uint32_t op;
  uint64_t call;
} ttm_execution;

struct ttm_profile {
  atomic_int more_owners; /* besides the first; see ttm_profile_share */
  uint32_t path;          /* string: as given */
  ttm_fingerprint file;   /* of the file there, taken before it was read; none when there was no file */
  ttm_intern strings;
  TTM_VEC(uint32_t) lists; /* elements of every ttm_list */
  TTM_VEC(ttm_type) types;
  TTM_VEC(ttm_op_text) texts;
  TTM_VEC(ttm_op) ops;
  TTM_VEC(ttm_state) states;
  TTM_VEC(ttm_state_base) state_bases;
  TTM_VEC(ttm_tensor) tensors;
  TTM_VEC(ttm_call) calls;
  TTM_VEC(uint32_t) runs;  /* top-level calls in order of their start, all ranks */
  TTM_VEC(uint32_t) ranks; /* rank number of each dense rank index */
  TTM_VEC(ttm_list) weight_lists;
  TTM_VEC(ttm_graph) graphs;
  TTM_VEC(ttm_incident) incidents;
  ttm_capture capture;                     /* empty unless kind is TTM_LOG_CAPTURE */
  ttm_held_blocks held[TTM_HELD_MEMORIES]; /* memory reports: of DRAM and L1 at their highest, by address */
  TTM_VEC(ttm_execution)
  executions;         /* where the input has the profiler's call counts: graph captures of ttnn 0.81 on */
  ttm_perf_csv perf;  /* what the profiler measured, where somebody added it ... */
  uint32_t perf_path; /* ... string: from there */
  TTM_VEC(ttm_decision_trace) plans; /* what the compiler planned, where somebody added it */
  ttm_seen seen;
  ttm_log_kind kind;
  bool after_ops; /* a memory report of tt-mlir: states stand behind their operations, the first has none */
  bool predicted; /* nobody ran it: operations and states are those that a module says a run would have */
  bool
      filled; /* the log has states around programs at most: those of operations are what the modules say, corrected by them. Without
                     operation lines (seen.op_lines) the operations are the modules', too */
};

/* True for a state that a module says, not the log; of TTM_NONE: whether there are such. */
static inline bool ttm_state_is_predicted(const ttm_profile *p, uint32_t state) {
  return p->predicted || (p->filled && (state >= p->states.n || p->states.at[state].op < p->ops.n));
}

/* Adds what the compiler planned: a decision trace of tt-mlir, or a folder of them. Before findings are made. 0, or as
 * ttm_decision_trace_read. */
int ttm_profile_add_plans(ttm_profile *p, const char *path, ttm_error *err);

/* The same with what tt-metal's profiler measured: its operations CSV. 0, or as ttm_perf_csv_read. */
int ttm_profile_add_times(ttm_profile *p, const char *path, ttm_error *err);

/* Another owner: the profile stays until each has called ttm_profile_free. */
static inline ttm_profile *ttm_profile_share(const ttm_profile *p) {
  ttm_profile *shared = (ttm_profile *)p; /* the count is no part of what is read */
  atomic_fetch_add(&shared->more_owners, 1);
  return shared;
}

/* ---- Reading a profile -------------------------------------------------------------------------------------------- */

static inline ttm_str ttm_profile_string(const ttm_profile *p, uint32_t id) { return ttm_intern_get(&p->strings, id); }

/* The value as printed; `scratch` holds it when it is a number. */
ttm_str ttm_value_print(const ttm_profile *p, ttm_value value, char scratch[TTM_VALUE_CHARS]);

/* The address of a buffer on a core: the same on all of them but for one that has several, and TTM_UNKNOWN where that has none. */
static inline uint64_t ttm_buffer_address_on(const ttm_capture *c, const ttm_buffer *b, unsigned x, unsigned y) {
  for (uint32_t i = b->places; i < b->places + b->place_n; i++)
    if (c->core_places.at[i].x == x && c->core_places.at[i].y == y) return c->core_places.at[i].at;
  return b->place_n ? TTM_UNKNOWN : b->address;
}

static inline const ttm_op_text *ttm_op_text_of(const ttm_profile *p, uint32_t op) {
  return &p->texts.at[p->ops.at[op].text];
}

/* What an operation of a log does with an operand: TTM_USE_*, 0. */
static inline uint8_t ttm_op_text_use(const ttm_op_text *text, uint32_t operand) {
  return text->use && operand != 1 ? TTM_USE_OTHER : text->use;
}

/* True when the input tells what is freed when: the JSON files of a report do not. Without it nobody knows what is alive. */
static inline bool ttm_profile_frees_known(const ttm_profile *p) { return !p->seen.from_report; }

/* True when it tells the life of every tensor and what memory there was meanwhile: a log with operation lines and blocks, or a capture. */
static inline bool ttm_profile_lives_known(const ttm_profile *p) {
  return (p->kind == TTM_LOG_FULL || p->kind == TTM_LOG_CAPTURE) && ttm_profile_frees_known(p);
}

/* Of the program: those it opened, or those its largest graph is for. 0 when not known. */
static inline uint32_t ttm_profile_chips(const ttm_profile *p) {
  uint32_t chips = ttm_chips_in(p->capture.recording.chips);
  for (size_t g = 0; g < p->graphs.n; g++)
    if (p->graphs.at[g].devices > chips) chips = p->graphs.at[g].devices;
  return chips;
}

/* True for a graph capture: it begins after the device was opened, and what was allocated before is only in it where it uses or frees that. A
 * recording begins with the device, unless operations went unrecorded; a report of ttnn-visualizer tells all buffers, or it does not. Sums are a
 * lower bound then. */
static inline bool ttm_profile_is_window(const ttm_profile *p) {
  const ttm_capture *c = &p->capture;
  return p->kind == TTM_LOG_CAPTURE &&
         (!c->recording.is || c->buffers_missing || ttm_recording_is_partial(&c->recording));
}

/* True for the operations that are elements of the reports: all but deallocate and get_device. */
static inline bool ttm_op_is_element(const ttm_profile *p, uint32_t op) {
  uint8_t kind = ttm_op_text_of(p, op)->kind;
  return kind != TTM_OP_DEALLOCATE && kind != TTM_OP_GET_DEVICE;
}

/* The last of them, 0 when there is none: what is freed behind it goes with the program. */
static inline uint32_t ttm_last_element(const ttm_profile *p) {
  uint32_t op = (uint32_t)p->ops.n;
  while (op && !ttm_op_is_element(p, op - 1)) op--;
  return op ? op - 1 : 0;
}

/* The memory's figures in a state; false (and *out zero) when the block did not hold them. */
bool ttm_state_level(const ttm_profile *p, uint32_t state, ttm_memory memory, ttm_level *out);
uint32_t ttm_state_rank(const ttm_profile *p, uint32_t state);

/* False when a memory has other banks in the two states: the device was opened anew in between, and began empty. */
static inline bool ttm_state_same_device(const ttm_profile *p, uint32_t a, uint32_t b, ttm_memory memory) {
  uint32_t first = p->states.at[a].base, second = p->states.at[b].base;
  if (first == second) return true;
  const ttm_level *x = &p->state_bases.at[first].levels[memory], *y = &p->state_bases.at[second].levels[memory];
  return x->banks == y->banks && x->total == y->total;
}

/* The next state of the same rank, or TTM_NONE. */
uint32_t ttm_state_next(const ttm_profile *p, uint32_t state);
/* The previous state of the same rank, or TTM_NONE. */
uint32_t ttm_state_previous(const ttm_profile *p, uint32_t state);

/* The type of result `k` of an operation text; NULL when it is no tensor. */
const ttm_tensor_type *ttm_op_text_output(const ttm_profile *p, const ttm_op_text *text, uint32_t k);
/* The type of a tensor row; NULL when unknown. */
const ttm_tensor_type *ttm_tensor_type_of(const ttm_profile *p, uint32_t tensor);

/* Arguments (indices into the graph's args) behind an operation's `weights`. */
ttm_list ttm_profile_weights(const ttm_profile *p, uint32_t weights);

/* The top-level call around a call (itself when it is one). */
uint32_t ttm_call_top(const ttm_profile *p, uint32_t call);
/* A program run without its end. One without a name is known by the state before its submit, and ended by the one after it. */
bool ttm_call_is_cut(const ttm_call *call);

/* Page and block alignment of the board: from a dump, else by the DRAM bank count (12 Wormhole, 7 and 8 Blackhole). */
ttm_alignment ttm_profile_alignment(const ttm_profile *p);
/* The same for a device of so many DRAM banks; 0 when that is unknown. */
ttm_alignment ttm_profile_alignment_of(const ttm_profile *p, uint32_t dram_banks);

/* First level seen of each memory: banks and capacity. False when the log never shows it. */
bool ttm_profile_config(const ttm_profile *p, ttm_memory memory, ttm_level *out);

/* The device an operation ran on: banks and capacity as the states around it say. False when the log never shows the memory. */
bool ttm_op_config(const ttm_profile *p, uint32_t op, ttm_memory memory, ttm_level *out);
/* The DRAM alignment there. */
ttm_alignment ttm_op_alignment(const ttm_profile *p, uint32_t op);
/* True when the log shows devices of other bank counts: what a type takes per bank then depends on the operation. */
bool ttm_profile_banks_vary(const ttm_profile *p, ttm_memory memory);

/* The dump of the stage that is executed, the later one of two; NULL when it was not kept. */
const ttm_dump *ttm_graph_program(const ttm_profile *p, const ttm_graph *graph);

/* Unpacks a kept dump into `out` (appended). 0, TTM_ENOMEM, or TTM_ENODATA when the text was not kept. */
int ttm_profile_dump_text(const ttm_dump *dump, ttm_buf *out);

#endif
