/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences a dying program leaves: out of memory, circular-buffer clash, buffers beyond L1, fatal. */
#ifndef TTM_PARSE_INCIDENT_TEXT_H
#define TTM_PARSE_INCIDENT_TEXT_H

#include "base/buf.h"
#include "base/str.h"
#include "ttmem/profile.h"

typedef enum ttm_incident_kind {
  TTM_INCIDENT_OOM,         /* Out of Memory: Not enough space ... */
  TTM_INCIDENT_L1_CLASH,    /* Statically allocated circular|dataflow buffers ... clash with L1 buffers */
  TTM_INCIDENT_L1_OVERFLOW, /* ... grow to N B which is beyond max L1 size */
  TTM_INCIDENT_L1_BUFFERS,  /* any other fatal error about circular buffers, dataflow buffers or the room in L1 */
  TTM_INCIDENT_FATAL,       /* any other TT_FATAL, TT_THROW, LOG_ASSERT, LOG_FATAL, critical line */
} ttm_incident_kind;

/* "oom", "l1_clash", "l1_overflow", "l1_buffers", "fatal": as in every JSON output. */
const char *ttm_incident_kind_name(ttm_incident_kind kind);

/* What a fatal error that is none of memory's own sentences is about. */
typedef enum ttm_incident_about {
  TTM_ABOUT_UNKNOWN,
  TTM_ABOUT_KERNELS,       /* a program's kernels exceed the kernel config buffer: size, limit */
  TTM_ABOUT_TRACE_REGION,  /* traces exceed trace_region_size: size, limit */
  TTM_ABOUT_TRACE_OVERLAP, /* trace_region_size is 0, and the trace lies where its own operations allocate or free */
  TTM_ABOUT_TRACE_OTHER,   /* the same, where those of another trace do */
  TTM_ABOUT_TRACE_UNSAFE,  /* a warning: allocated while a trace is alive */
  TTM_ABOUT_HOST_MEMORY,   /* std::bad_alloc, MemoryError, the kernel's out-of-memory killer */
  TTM_ABOUT_HUGEPAGES,     /* the driver finds no huge pages, or cannot pin memory */
  TTM_ABOUT_EXHAUSTED,     /* RESOURCE_EXHAUSTED of XLA: the cause stands in another message */
} ttm_incident_about;

/* "kernels", "trace_region", ...; NULL for TTM_ABOUT_UNKNOWN. */
const char *ttm_incident_about_name(ttm_incident_about about);

/* Numbers are bytes (or absolute L1 addresses); TTM_UNKNOWN where the wording has none. Views point into the text. */
typedef struct ttm_incident_text {
  ttm_incident_kind kind;
  ttm_incident_about about; /* of TTM_INCIDENT_FATAL */
  ttm_str text;             /* the sentence itself: no prefix, no "TT_FATAL: ", no trailing " (assert.hpp:104)" */
  ttm_str memory;           /* "DRAM", "L1", "L1_SMALL", "TRACE"; empty when unknown; errors about L1 say "L1" */
  uint64_t size;            /* whole buffer */
  uint64_t banks;
  uint64_t needed_per_bank;
  uint64_t bank_size;
  uint64_t allocated_per_bank;
  uint64_t free_per_bank;
  uint64_t largest_free_block;
  uint64_t program;      /* clash: program id */
  uint64_t l1_buffer_at; /* clash: lowest L1 buffer address */
  uint64_t buffers_end;  /* clash and overflow: where the static buffers end */
  uint64_t l1_size;      /* overflow: max L1 size */
  uint64_t limit;        /* other errors: the bytes that `size` exceeds */
  uint64_t placeable;    /* out of memory beside per-core allocations: free bytes per bank that they leave, */
  uint64_t window;       /* and the largest block of those */
  ttm_str core_range;    /* as printed */
  bool dataflow;         /* dataflow buffers instead of circular buffers */
  bool service;          /* clash: with what the runtime itself keeps on a service core, not with tensors */
} ttm_incident_text;

/* A fatal error of which nothing is known. */
void ttm_incident_clear(ttm_incident_text *out);

/* The cheap first look: false means that neither ttm_incident_parse nor ttm_incident_is_header can
 * say yes. Both ask it themselves; a caller that wants both asks once. */
bool ttm_incident_is_possible(ttm_str line);

/* Looks for an incident anywhere in one line (prefixes and colour already stripped or not). Recognises every wording
 * and era of spec tt-metal.md 2.1 and 2.2 (both buffer words, both core-range spellings, "only", the "after
 * considering dependencies" form, "Cannot allocate at an address below", "Persistent L1 arena is out of memory", hints
 * after the closing parenthesis), and as TTM_INCIDENT_FATAL those that `about` tells apart, "TT_FATAL: ...",
 * "TT_THROW: ...", "LOG_ASSERT @ ...", "LOG_FATAL @ ...", and lines of level FATAL or critical; of those, sentences about circular buffers, dataflow buffers or
 * room in L1 are TTM_INCIDENT_L1_BUFFERS. The text is the same bytes whichever copy of a message it
 * was read from: log line, exception, pytest's "E   " or a repr with written-out line breaks. Code that only quotes
 * such a message is no incident. A bare "TT_FATAL @ file:462: cond" line (its sentence follows after "info:") is not
 * an incident by itself: see ttm_incident_is_header. False when the line holds none; *out is then unspecified. */
bool ttm_incident_parse(ttm_str line, ttm_incident_text *out);

/* True for "TT_FATAL @ path:line: cond" / "TT_THROW @ ...: tt::exception" lines that announce "info:" and a sentence
 * after it. */
bool ttm_incident_is_header(ttm_str line);

/* The line after "info:" of an exception: any sentence is an incident there, TTM_INCIDENT_FATAL when it is none of the
 * known ones. Its text equals that of the log line which told the same. False only for an empty line. */
bool ttm_incident_parse_info(ttm_str line, ttm_incident_text *out);

/* True for a line that ends with "N B over:". What is over stands on the lines after it; ttm_incident_join puts them on
 * this one, from the front of *rest, and forgets those that say 0 B. */
bool ttm_incident_has_list(ttm_str line);
void ttm_incident_join(ttm_buf *out, ttm_str line, ttm_str *rest);

#endif
