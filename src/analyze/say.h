/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences with numbers, operations and foreign texts in them: ttm_say(out, f, "DRAM peak {} per bank, raised by {}", TTM_MB_OF(n), TTM_OP(op)).
 * Each {} takes the next word. One style of numbers for every surface: what a bank holds in MB, what a chip or a core holds in the unit that
 * suits it, thousands separated. Foreign texts come out on one line, without control characters, shortened in the middle when long. */
#ifndef TTM_ANALYZE_SAY_H
#define TTM_ANALYZE_SAY_H

#include "analyze/findings.h"
#include "base/format.h"

typedef enum ttm_word_kind {
  TTM_SAY_NONE,
  TTM_SAY_TEXT,
  TTM_SAY_MB,     /* bytes: "978.4 MB" */
  TTM_SAY_NUMBER, /* bytes: "978.4" */
  TTM_SAY_CHANGE, /* thousandths of a MB: "+8.00 MB" */
  TTM_SAY_BYTES,  /* "11.5 GB", "45.3 KB" */
  TTM_SAY_PAIR,   /* "11.5 of 12.0 GB" */
  TTM_SAY_COUNT,  /* "1,520" */
  TTM_SAY_LINE,   /* of a log: "20939", as editors have it */
  TTM_SAY_PLURAL, /* "1 run", "1,520 operations" */
  TTM_SAY_SHARE,  /* "95.6 %" */
  TTM_SAY_NS,     /* "1.23 ms" */
  TTM_SAY_MB_MS,  /* bytes times nanoseconds: "1,234.5 MB·ms" */
  TTM_SAY_OP,     /* "#12 ttnn.add layers.0|dot.3 (log line 90)" */
  TTM_SAY_OP_AT,  /* the same with another name for its place */
} ttm_word_kind;

typedef struct ttm_word {
  ttm_word_kind kind;
  uint64_t n, whole;
  int64_t change;
  double share;
  ttm_str text;
} ttm_word;

#define TTM_TEXT(str) ((ttm_word){.kind = TTM_SAY_TEXT, .text = (str)})
#define TTM_WORDS(cstr) ((ttm_word){.kind = TTM_SAY_TEXT, .text = ttm_str_of(cstr)})
#define TTM_MB_OF(bytes) ((ttm_word){.kind = TTM_SAY_MB, .n = (bytes)})
#define TTM_NUMBER(bytes) ((ttm_word){.kind = TTM_SAY_NUMBER, .n = (bytes)})
#define TTM_CHANGE(milli) ((ttm_word){.kind = TTM_SAY_CHANGE, .change = (milli)})
#define TTM_BYTES(bytes) ((ttm_word){.kind = TTM_SAY_BYTES, .n = (bytes)})
#define TTM_PAIR(some, all) ((ttm_word){.kind = TTM_SAY_PAIR, .n = (some), .whole = (all)})
#define TTM_COUNT(count) ((ttm_word){.kind = TTM_SAY_COUNT, .n = (count)})
#define TTM_LINE(line) ((ttm_word){.kind = TTM_SAY_LINE, .n = (line)})
#define TTM_PLURAL(count, noun) ((ttm_word){.kind = TTM_SAY_PLURAL, .n = (count), .text = ttm_str_of(noun)})
#define TTM_SHARE(part, whole) \
  ((ttm_word){.kind = TTM_SAY_SHARE, .share = ttm_percent((double)(part), (double)(whole))})
#define TTM_PERCENT(percent) ((ttm_word){.kind = TTM_SAY_SHARE, .share = (percent)})
#define TTM_NS(ns) ((ttm_word){.kind = TTM_SAY_NS, .n = (ns)})
#define TTM_MB_MS(byte_ns) ((ttm_word){.kind = TTM_SAY_MB_MS, .share = (byte_ns)})
#define TTM_OP(op) ((ttm_word){.kind = TTM_SAY_OP, .n = (op)})
#define TTM_OP_AT(op, place) ((ttm_word){.kind = TTM_SAY_OP_AT, .n = (op), .text = (place)})

void ttm_say_words(ttm_buf *out, const ttm_findings *f, const char *sentence, const ttm_word *words, size_t n);
#define ttm_say(out, f, sentence, ...)                                                         \
  ttm_say_words(out, f, sentence, (const ttm_word[]){{.kind = TTM_SAY_NONE}, __VA_ARGS__} + 1, \
                sizeof((const ttm_word[]){{.kind = TTM_SAY_NONE}, __VA_ARGS__}) / sizeof(ttm_word) - 1)

/* "ttnn.gelu layers.6|gelu (line 70 of the module)", of a program's module. */
void ttm_say_module_op(ttm_buf *out, const ttm_program_need *program, uint32_t op);

/* "Out of memory in DRAM: fragmented, short by 0.513 MB per bank": what a failure is called everywhere. */
void ttm_say_failure(ttm_buf *out, const ttm_incident_text *what, ttm_verdict verdict, uint64_t shortfall);

/* ", bound by DRAM bandwidth, at 96.7 % of the model's ideal", as far as known. */
void ttm_say_bound(ttm_buf *out, const ttm_findings *f, ttm_bound bound, double ideal_pct);

/* "L1 height_sharded 8x4". */
void ttm_say_layout(ttm_buf *out, const ttm_plan_layout *layout);

/* "In the way: the result of #1 ttnn.empty at model.py:5 (...), 1.17 MB per core at address 270,336." There is at least one. */
void ttm_say_obstacles(ttm_buf *out, const ttm_findings *f, const ttm_obstacles *obstacles);

#endif
