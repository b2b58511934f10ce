/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the LLM report: what each section writes with. */
#ifndef TTM_REPORT_LLM_PARTS_H
#define TTM_REPORT_LLM_PARTS_H

#include "analyze/words.h"
#include "base/format.h"

enum {
  TTM_LLM_CELL = 80,      /* columns of a foreign text in a table */
  TTM_LLM_SENTENCE = 600, /* of an error message */
};

/* A report being written. */
typedef struct ttm_llm {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_buf *out;
} ttm_llm;

/* A foreign text in a table or a sentence. */
void ttm_llm_cell(ttm_llm *r, ttm_str text);

/* "#74 ttnn.argmax at argmax (log line 1234)". */
void ttm_llm_op(ttm_llm *r, uint32_t op);

/* "9787392 B (9.33 MB)". */
void ttm_llm_bytes(ttm_llm *r, uint64_t bytes);

/* Sections; each writes its heading, or nothing when there is nothing to say. */
void ttm_llm_incidents(ttm_llm *r);
void ttm_llm_live_sets(ttm_llm *r);
void ttm_llm_advices(ttm_llm *r);
void ttm_llm_lifetimes(ttm_llm *r);
void ttm_llm_fragmentation(ttm_llm *r);
void ttm_llm_wastes(ttm_llm *r);
void ttm_llm_layers(ttm_llm *r);
void ttm_llm_runs(ttm_llm *r);
void ttm_llm_leaks(ttm_llm *r);
/* A line for each analysis that the sections leave out: it found nothing, or could not look. */
void ttm_llm_the_rest(ttm_llm *r);
void ttm_llm_gaps(ttm_llm *r);

#endif
