/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk of log -> the few lines that matter, as events. This is the hot path: one pass, nothing copied, no state carried from
 * chunk to chunk, so that chunks can be scanned by several threads and joined in order. */
#ifndef TTM_PARSE_LOG_SCAN_H
#define TTM_PARSE_LOG_SCAN_H

#include "base/chunks.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"
#include "parse/memory_view.h"
#include "parse/op_line.h"

typedef enum ttm_event_kind {
  TTM_EV_OPERATION,     /* text: the operation; hash of it */
  TTM_EV_BEFORE_OP,     /* block header; text: the operation's type; op_kind of it */
  TTM_EV_BEFORE_SUBMIT, /* block header */
  TTM_EV_AFTER_SUBMIT,  /* block header */
  TTM_EV_LEVEL,         /* one memory of a block; level */
  TTM_EV_REST,          /* the three lines after a DRAM line, the same as last time; rest: position in `rests` */
  TTM_EV_BLOCK, /* an operation line and its whole block, all seen before but for DRAM's figures; op_kind; text: the operation */
  TTM_EV_BAD_LEVEL,       /* a memory line that does not parse, or, behind its own event, does not add up */
  TTM_EV_PROGRAM_START,   /* text: program name */
  TTM_EV_PROGRAM_FINISH,  /* text: program name */
  TTM_EV_CACHE_KEY,       /* text: function and hash under which its results are cached */
  TTM_EV_CACHE_MISS,      /* text: function */
  TTM_EV_CACHE_HIT,       /* text: function */
  TTM_EV_RETAINED,        /* the deallocate before it freed nothing */
  TTM_EV_TRACE,           /* trace capture or replay */
  TTM_EV_INCIDENT,        /* text: the line from its message on */
  TTM_EV_INCIDENT_HEADER, /* `TT_FATAL @ ...`: the sentence follows behind "info:" */
  TTM_EV_DUMP_BEGIN,      /* text: stage */
  TTM_EV_DUMP_END,
  TTM_EV_FRAME,      /* `  File "model.py", line 17, in forward` of a Python traceback */
  TTM_EV_FRAME_CALL, /* the line behind it; text: from "ttnn." on */
} ttm_event_kind;

/* What a known block adds to its operation line. The banks and sizes are those of `rest`, DRAM's too. */
typedef struct ttm_block_event {
  uint64_t hash;                     /* of the operation text */
  uint32_t allocated, free, largest; /* of DRAM */
  uint32_t rest;                     /* position in `rests` */
  uint32_t type_at, type_n;          /* the operation's type, as in TTM_EV_BEFORE_OP */
} ttm_block_event;

typedef struct ttm_event {
  uint8_t kind;
  union {
    uint8_t memory; /* ttm_memory of levels */
    /* ttm_op_kind of block headers: told here, because the thread that joins would have to fetch the text. */
    uint8_t op_kind;
  };
  uint16_t rank;     /* or TTM_NO_RANK */
  uint32_t line;     /* 0-based within the chunk */
  uint32_t line_at;  /* where its line (or \r segment) starts in the chunk ... */
  uint32_t line_end; /* ... and ends, line end not included */
  uint32_t text_at, text_n;
  union {
    ttm_level level;
    uint64_t hash;
    uint32_t rest;
    ttm_block_event block;
  };
} ttm_event;

/* L1, L1_SMALL and TRACE of one block. */
typedef struct ttm_rest {
  ttm_level levels[TTM_MEMORIES]; /* of DRAM only banks and total count */
} ttm_rest;

/* Counts that need no event. */
typedef struct ttm_scan_counts {
  uint64_t lines; /* line ends */
  uint64_t runtime_lines, debug_lines;
  bool loguru; /* there are loguru lines */
} ttm_scan_counts;

/* A prefix seen before, so that the next line with it costs one comparison. */
typedef struct ttm_known_prefix {
  uint8_t n;
  uint8_t severity;
  uint16_t rank;
  char bytes[124];
} ttm_known_prefix;

enum { TTM_KNOWN_PREFIXES = 6 };

/* Blocks seen before. A compiled program prints the same lines in every run: the operation line, the header of its memory block
 * and the DRAM line up to its first changing figure. Knowing the bytes, and which block followed which, turns three lines into
 * one comparison: no line ends to look for, nothing to hash. Only speed depends on what is known, never a result. */
#define TTM_NO_BLOCK UINT32_MAX

/* A run of bytes inside a block, counted from the block's start. */
typedef struct ttm_block_part {
  uint32_t at, end;
} ttm_block_part;

typedef struct ttm_known_block {
  uint32_t at, n; /* its bytes in ttm_known_blocks.bytes */
  ttm_block_part op_line, op_text, header_line, header_text;
  /* Where the line and its MemoryView{ start; the block ends before "allocated"'s figure. */
  uint32_t dram_line, dram_view;
  uint32_t banks, total; /* of that view */
  uint32_t next;         /* the block that came after it last time, or TTM_NO_BLOCK */
  uint16_t rank;
  uint8_t debug_lines; /* of its three */
  uint8_t op_kind;     /* by its header */
  uint64_t hash;       /* of op_text */
  /* DRAM's figures as they stood behind it last time: most runs repeat them. */
  ttm_level use;
  uint8_t use_n;
  char use_bytes[120];
} ttm_known_block;

/* Zero is empty. */
typedef struct ttm_known_blocks {
  TTM_VEC(ttm_known_block) blocks;
  ttm_buf bytes;
  ttm_map of_hash;
} ttm_known_blocks;

/* What one chunk held. Zero is empty; reused from chunk to chunk. */
typedef struct ttm_scanned {
  TTM_VEC(ttm_event) events;
  TTM_VEC(ttm_rest) rests;
  ttm_scan_counts counts;
} ttm_scanned;

/* One scanner per thread; zero is ready to use. It learns prefixes and blocks, which changes its speed but never its results. */
typedef struct ttm_scanner {
  ttm_known_prefix prefixes[TTM_KNOWN_PREFIXES]; /* most recently used first */
  ttm_known_blocks known;
} ttm_scanner;

/* Fills `out` anew. 0 or TTM_ENOMEM. */
int ttm_scanner_scan(ttm_scanner *scanner, const ttm_chunk *chunk, ttm_scanned *out);
void ttm_scanner_free(ttm_scanner *scanner);
void ttm_scanned_free(ttm_scanned *scanned);

#endif
