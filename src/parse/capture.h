/* SPDX-License-Identifier: Apache-2.0 */
/* A ttnn graph capture, node by node (also one that `ttmem run` recorded piece by piece): the array that `end_graph_capture` gives, or the report object that
 * `end_graph_capture_to_file` writes (nodes under "graph", beside them devices and metadata). Every version from 2024 on: numbers
 * may be strings, fields may be missing. Total: unknown node types and fields are counted and passed over; a capture that is cut
 * gives the nodes before the cut. */
#ifndef TTM_PARSE_CAPTURE_H
#define TTM_PARSE_CAPTURE_H

#include "base/buf.h"
#include "base/vec.h"
#include "parse/json_pull.h"

typedef enum ttm_node_type {
  TTM_NODE_OTHER,  /* one we do not know */
  TTM_NODE_SILENT, /* one that says nothing of memory */
  TTM_NODE_FUNCTION_START,
  TTM_NODE_FUNCTION_END,
  TTM_NODE_TENSOR,
  TTM_NODE_BUFFER,
  TTM_NODE_BUFFER_ALLOCATE,
  TTM_NODE_BUFFER_DEALLOCATE,
  TTM_NODE_CIRCULAR_BUFFER,
  TTM_NODE_DATAFLOW_BUFFER,
  TTM_NODE_SCRATCHPAD,
  TTM_NODE_PROGRAM_FREE, /* circular_buffer_deallocate_all */
  TTM_NODE_PROGRAM_EXECUTION,
  /* These stand in recordings only: bindings/python/ttmem/hook/ttmem_recorder.py writes them. */
  TTM_NODE_PIECE,     /* counters begin anew */
  TTM_NODE_AGAIN,     /* a call did what one of an earlier piece did, at other addresses */
  TTM_NODE_FREED,     /* buffers, by device, memory and address */
  TTM_NODE_OPERATION, /* the program called it; what it did stands in the next piece */
  TTM_NODE_TEST,      /* a test of the program begins */
  TTM_NODE_TEST_END,
  TTM_NODE_RESULTS,     /* names and addresses of its results, where it has several */
  TTM_NODE_MEMORY_VIEW, /* what the allocator says */
  TTM_NODE_FAILURE,     /* the last operation raised an exception */
  TTM_NODE_DEVICE_OPEN,
  TTM_NODE_DEVICE_CLOSE,
  TTM_NODE_HOST,          /* memory of a process on the host */
  TTM_NODE_HOST_END,      /* how the program ended, by who started it */
  TTM_NODE_UNCAUGHT,      /* an exception that ended the program or a thread */
  TTM_NODE_RECORDING_END, /* of a process; missing when the program was killed or crashed */
  TTM_NODE_TYPES
} ttm_node_type;

/* Params that are numbers, and those that are texts. */
typedef enum ttm_node_number {
  TTM_PARAM_SIZE,
  TTM_PARAM_ADDRESS,
  TTM_PARAM_PAGE_SIZE,
  TTM_PARAM_NUM_CORES,
  TTM_PARAM_PER_BANK, /* max_size_per_bank */
  TTM_PARAM_DEVICE,
  TTM_PARAM_BUFFER_TYPE,
  TTM_PARAM_GLOBAL,    /* globally_allocated */
  TTM_PARAM_BORROWS,   /* borrows_memory */
  TTM_PARAM_CACHE_HIT, /* program_cache_hit */
  TTM_PARAM_BANKS,     /* num_banks */
  TTM_PARAM_TOTAL,     /* total_bytes_per_bank */
  TTM_PARAM_ALLOCATED, /* allocated_per_bank */
  TTM_PARAM_LARGEST,   /* largest_free_per_bank */
  TTM_PARAM_BASE,      /* base_address */
  TTM_PARAM_ELSEWHERE, /* operations that were not recorded */
  TTM_PARAM_LATE,      /* operations written behind later ones of another thread */
  TTM_PARAM_LANE,      /* process and thread; 0: the first of each */
  TTM_PARAM_ID,        /* of an operation, in its process */
  TTM_PARAM_CHIPS,     /* of a device: a bit each */
  TTM_PARAM_ASKED,     /* the program asked how many chips there are */
  TTM_PARAM_CAUSE,     /* process << 32 | id: failed operation that an exception comes from; 0: none */
  TTM_PARAM_IN_THREAD, /* it ended a thread, not the program */
  TTM_PARAM_TRACES,    /* that were only pretended */
  TTM_PARAM_KEY,       /* the same for operations with the same kinds of arguments */
  TTM_PARAM_KEPT,      /* an object of the program keeps the result */
  TTM_PARAM_RSS,       /* of a process: resident bytes ... */
  TTM_PARAM_PEAK,      /* ... and the most there ever were */
  TTM_PARAM_PINNED,
  TTM_PARAM_LOCKED,
  TTM_PARAM_HUGE,             /* in huge pages */
  TTM_PARAM_ADDRESS_SPACE,    /* highest ever */
  TTM_PARAM_ADDRESS_LIMIT,    /* ulimit -v */
  TTM_PARAM_MACHINE,          /* MemTotal */
  TTM_PARAM_AVAILABLE,        /* MemAvailable */
  TTM_PARAM_LOWEST_AVAILABLE, /* while the program ran */
  TTM_PARAM_CGROUP,           /* lowest limit of the control groups */
  TTM_PARAM_SIGNAL,           /* that ended the program */
  TTM_PARAM_OOM_KILLS,        /* of the control group while it ran */
  TTM_PARAM_TRACE,            /* id of the trace an operation ends, replays or releases */
  TTM_PARAM_PROGRAM,          /* the same for programs of the same device operation with the same arguments */
  TTM_PARAM_WAITS,            /* for events, which were left out */
  TTM_PARAM_SUB_DEVICES,      /* loads of them that no worker was told */
  TTM_PARAM_SITE,             /* number of the place of a call, which is told once */
  TTM_PARAM_SLOT,             /* which of the addresses of a repetition takes the place of this one */
  TTM_PARAM_PER_CORE,         /* the tensor has an address on every core */
  TTM_PARAM_RANGE_LOCKSTEP,   /* it has one address that is its own on its cores only */
  TTM_PARAM_CALL,             /* global_call_count of a program */
  TTM_PARAM_NUMBERS
} ttm_node_number;

typedef enum ttm_node_text {
  TTM_PARAM_NAME,
  TTM_PARAM_TYPE, /* "DRAM", "L1" */
  TTM_PARAM_LAYOUT,
  TTM_PARAM_CORES, /* core_range_set; of a tensor in a recording: of its shards */
  TTM_PARAM_MEMORY_CONFIG,
  TTM_PARAM_SHAPE,
  TTM_PARAM_DTYPE,
  TTM_PARAM_FACTORY, /* program_factory_type */
  TTM_PARAM_AT,      /* file:line of the program */
  TTM_PARAM_STACK,   /* the calls of the program that led there, outermost first: "a.py:3|b.py:7" */
  TTM_PARAM_TO,      /* what the program calls the result; of several: "q|k|v" */
  TTM_PARAM_PLACES,  /* addresses of several results */
  TTM_PARAM_MODE,    /* run mode of a capture that the program made itself */
  TTM_PARAM_OUTCOME, /* of a test: "passed", "failed", "skipped" */
  TTM_PARAM_MESSAGE, /* of an exception */
  TTM_PARAM_REASON,  /* how a recording ended */
  TTM_PARAM_TEXTS
} ttm_node_text;

typedef TTM_VEC(int64_t) ttm_node_list; /* counters of nodes */

typedef struct ttm_capture_node {
  ttm_node_type type;
  uint32_t line;    /* 1-based, of its opening brace */
  bool has_counter; /* false in broken captures only */
  int64_t counter;
  uint64_t numbers; /* bit per ttm_node_number that is given and an integer (true and false count as 1 and 0) */
  uint64_t words;   /* bit per ttm_node_number that was written as true or false: tt-metal's own extractors stumble */
  int64_t number[TTM_PARAM_NUMBERS];
  ttm_str text[TTM_PARAM_TEXTS];     /* empty when not given */
  ttm_node_list connections, inputs; /* inputs: "input_tensors" */
  uint64_t arguments;                /* hash of "arguments", when they are wanted */
} ttm_capture_node;

static inline bool ttm_node_has(const ttm_capture_node *node, ttm_node_number which) {
  return node->numbers >> which & 1;
}
/* The number, or `otherwise` when it is not given or negative. */
static inline uint64_t ttm_node_get(const ttm_capture_node *node, ttm_node_number which, uint64_t otherwise) {
  return ttm_node_has(node, which) && node->number[which] >= 0 ? (uint64_t)node->number[which] : otherwise;
}

/* devices[] of a report object; 0 where nothing is said. */
typedef struct ttm_capture_device {
  uint64_t l1_bytes, l1_banks, l1_bank_bytes, l1_base, dram_banks, dram_bank_bytes, grid_x, grid_y;
  char arch[24]; /* "WORMHOLE_B0" */
} ttm_capture_device;

/* What stands around the nodes, as far as it has been read. */
typedef struct ttm_capture_facts {
  bool report;    /* the report object, not the bare array */
  bool recording; /* made by `ttmem run` */
  char board[64]; /* mock board of a recording, as it was called; empty: a real one, or not told */
  TTM_VEC(ttm_capture_device) devices;
  bool has_rank;
  uint64_t rank, world;
  char version[32];     /* of ttnn: "0.81.1" */
  uint64_t bad_nodes;   /* elements of the array that are no nodes */
  uint64_t other_nodes; /* of unknown type */
} ttm_capture_facts;

/* A key that came behind certain others: the keys of a node are a way through a tree. */
typedef struct ttm_key_step {
  ttm_json_gap gap; /* before its value */
  uint8_t key;
  uint16_t first, other; /* the first that came behind it; another one that came in its place; 0 */
} ttm_key_step;

typedef struct ttm_capture_reader {
  ttm_json_pull json;
  ttm_capture_facts facts;
  ttm_capture_node node;
  ttm_buf texts;  /* of the node ... */
  unsigned given; /* ... a bit per ttm_node_text */
  TTM_VEC(ttm_key_step) steps;
  int state;
  bool wants_arguments;
  bool cut; /* the text ended or broke before the document did: json.error says how */
} ttm_capture_reader;

/* True when bytes that start a file start a capture. */
bool ttm_capture_detect(ttm_str first);

/* As ttm_json_init. */
void ttm_capture_init(ttm_capture_reader *r, ttm_source *source, ttm_str first);
/* The next node, or NULL at the end; the node lives until the next call. `r->json.status` tells an end from an error of reading
 * (TTM_EIO, TTM_ENOMEM); anything else only sets `cut`. */
const ttm_capture_node *ttm_capture_next(ttm_capture_reader *r);
void ttm_capture_free(ttm_capture_reader *r);

#endif
