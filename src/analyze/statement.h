/* SPDX-License-Identifier: Apache-2.0 */
/* Conclusions as values. A conclusion is made once, as a statement, and worded once; the terminal, markdown, the page, the interactive program,
 * `ask`, `explain`, `diff`, the Python package and agents only lay statements out. findings.json carries them, and ttm_statements_read
 * (report/files/statements_json.h) reads them back. Texts are UTF-8 on one line each, without control characters; a surface escapes them for its
 * own form. Operations are named by their report index, so that statements live without the profile. */
#ifndef TTM_ANALYZE_STATEMENT_H
#define TTM_ANALYZE_STATEMENT_H

#include "base/arena.h"
#include "base/basis.h"
#include "base/vec.h"

typedef enum ttm_severity {
  TTM_SEVERITY_FAILURE, /* the program failed, or cannot work */
  TTM_SEVERITY_WARNING, /* it costs memory, or will fail */
  TTM_SEVERITY_NOTE,    /* worth knowing */
  TTM_SEVERITY_OK,      /* looked for, not found */
  TTM_SEVERITY_UNKNOWN, /* not in this log; the headline says why */
} ttm_severity;

/* What a statement is about, in the order they are told. */
typedef enum ttm_topic {
  TTM_TOPIC_FAILURE,
  TTM_TOPIC_NEED,
  TTM_TOPIC_TESTS,
  TTM_TOPIC_PEAK,
  TTM_TOPIC_ALIVE,
  TTM_TOPIC_GROWTH,
  TTM_TOPIC_FREED_LATE,
  TTM_TOPIC_FRAGMENTATION,
  TTM_TOPIC_WASTE,
  TTM_TOPIC_PADDING,
  TTM_TOPIC_RUNS,
  TTM_TOPIC_LAYERS,
  TTM_TOPIC_L1_CORE,
  TTM_TOPIC_TRACES,
  TTM_TOPIC_HOST,
  TTM_TOPIC_COMPILER,
  TTM_TOPIC_TIME,
  TTM_TOPIC_INPUT,
  TTM_TOPICS
} ttm_topic;

/* How far a fix was tried. */
typedef enum ttm_fix_check {
  TTM_FIX_REPLAYED, /* on the recorded allocations, through the allocator's rules */
  TTM_FIX_DERIVED,  /* follows from measured numbers */
  TTM_FIX_ESTIMATED,
  TTM_FIX_PREDICTED, /* replayed or derived on a run that nobody made: a module's */
} ttm_fix_check;

/* A row of evidence. */
typedef struct ttm_point {
  ttm_str text;
  double mb;          /* per bank, the row's own figure; below 0: it has none */
  uint32_t operation; /* report index; UINT32_MAX */
} ttm_point;

typedef struct ttm_quantity {
  const char *name; /* "needed_per_bank"; a literal, or of the arena */
  const char *unit; /* "B", "MB", "%", "" for counts */
  double value;
} ttm_quantity;

typedef struct ttm_fix {
  const char *kind; /* stable, e.g. "weights_dtype" */
  ttm_str text;     /* "Store ... as bfp8: frees 570.6 MB per bank (estimated)" */
  uint64_t bytes;   /* per bank it frees, or the number the text is about */
  uint64_t count;   /* tensors, parts or chips; 0 */
  ttm_fix_check check;
  uint32_t operation; /* report index; UINT32_MAX */
  ttm_str
      change; /* with which `ttmem verify --change` tries it again; empty: it was not tried, and the next three say nothing */
  uint64_t peak_after; /* per bank */
  int fits;            /* what failed has room then: 1, 0, -1 unknown ... */
  int rest_fits;       /* ... and so has what follows: 1, 0, -1 unknown */
  bool rest_predicted; /* what follows is what the module tells, to the end of the program; else what is recorded */
  ttm_str paste;       /* lines of Python that make the change, with line ends; empty: the text has to do */
} ttm_fix;

typedef struct ttm_statement {
  const char *id; /* stable: "oom.fragmented" */
  ttm_topic topic;
  ttm_severity severity;
  ttm_basis basis;
  ttm_str headline;   /* one sentence without its full stop: what, and by how much */
  ttm_str detail;     /* further sentences; may be empty */
  uint32_t line;      /* of the log, 0 */
  uint32_t operation; /* report index it is about; UINT32_MAX */
  uint32_t number;    /* of several of its kind: of an incident, a leak ... in findings.json; 0 */
  uint32_t first_point, points, first_quantity, quantities, first_fix, fixes;
} ttm_statement;

/* Freed with ttm_statements_free. `fixes` holds those of each statement together. `best` ranks all of them: what ends a failure first, then by
 * the bytes it frees; a fix that several statements would give is there once. */
typedef struct ttm_statements {
  TTM_VEC(ttm_statement) at;
  TTM_VEC(ttm_point) points;
  TTM_VEC(ttm_quantity) quantities;
  TTM_VEC(ttm_fix) fixes;
  TTM_VEC(uint32_t) best;
  ttm_arena arena; /* of the texts */
} ttm_statements;

struct ttm_findings;

/* Every statement of the findings, in the order of their topics. 0 or TTM_ENOMEM. Needs everything else. */
int ttm_statements_make(ttm_statements *out, const struct ttm_findings *f);
void ttm_statements_free(ttm_statements *statements);

/* The first statement of a topic; NULL. */
const ttm_statement *ttm_statements_first(const ttm_statements *all, ttm_topic topic);
/* The number-th one with this id ("oom.*" matches every id that begins so); NULL. */
const ttm_statement *ttm_statements_find(const ttm_statements *all, const char *id, uint32_t number);

/* The statement of a failure: of f->incidents.at[incident]. */
const ttm_statement *ttm_statements_of_incident(const ttm_statements *all, uint32_t incident);

/* "failure", "warning", "note", "ok", "unknown". */
const char *ttm_severity_name(ttm_severity severity);
/* As in findings.json: "freed_late"; and as a heading: "Freed late". */
const char *ttm_topic_name(ttm_topic topic);
const char *ttm_topic_title(ttm_topic topic);
/* "replayed", "derived", "estimated", "predicted". */
const char *ttm_fix_check_name(ttm_fix_check check);
static inline ttm_basis ttm_fix_basis(const ttm_fix *fix) {
  return fix->check == TTM_FIX_ESTIMATED   ? TTM_ESTIMATED
         : fix->check == TTM_FIX_PREDICTED ? TTM_PREDICTED
                                           : TTM_DERIVED;
}

#endif
