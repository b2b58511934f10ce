/* SPDX-License-Identifier: Apache-2.0 */
/* What both text reports say about a finding: names, rankings and verdicts in words. */
#ifndef TTM_ANALYZE_WORDS_H
#define TTM_ANALYZE_WORDS_H

#include "analyze/findings.h"
#include "base/buf.h"
#include "base/format.h"

/* "ttnn.add"; the block's type when there was no operation line. */
ttm_str ttm_words_name(const ttm_profile *p, uint32_t op);

/* Where the log came from: its path, or "standard input". */
ttm_str ttm_words_source(const ttm_profile *p);

/* The weight that a load_cached without a location of its own brings, as a string id; 0. "@main_const_eval_7" tells nobody anything. */
uint32_t ttm_words_weight(const ttm_profile *p, uint32_t op);

/* The operation's location, or the weight that a load_cached without one brings; "N/A" when the log does not tell. */
ttm_str ttm_words_location(const ttm_profile *p, uint32_t op);

/* Takes "model.py:15" apart; false, and nothing changed, when it is no place in a source. */
bool ttm_words_source_place(ttm_str place, ttm_str *file, uint32_t *line);

/* The report index as text: "#74", or "deallocate" and the like for operations without one. */
void ttm_words_index(ttm_buf *out, const ttm_findings *f, uint32_t op);

/* A class of the live set: "KV cache". */
const char *ttm_words_class(const ttm_profile *p, ttm_alive_class class);

/* A type: "1x96x256 bf16, tiles in DRAM"; "of a type that is not told" where nothing tells. */
void ttm_words_type(ttm_buf *out, const ttm_profile *p, uint32_t type, ttm_text_form form);

/* Why late frees, waste and fixes of the peak were not looked for; NULL when they were. A part of a sentence. */
const char *ttm_words_lives_unknown(const ttm_findings *f);
/* The same of an input of that kind, for who has only its findings.json; `rough`: made of a report's files. */
const char *ttm_words_lives_need(bool rough, bool capture, bool live);
/* A log prints its states; those of a capture are worked out from its nodes. */
ttm_basis ttm_words_state_basis(const ttm_profile *p, uint32_t state);
/* What a rank is called: a process of a distributed run, or a device. */
const char *ttm_words_rank(const ttm_profile *p);
/* False for captures, recordings and samples: nothing tells where a run of the program begins. */
bool ttm_words_has_runs(const ttm_profile *p);

/* What the log holds, and what it cannot tell for lack of the rest; the second is NULL when nothing is missing. */
const char *ttm_words_kind(const ttm_profile *p);
const char *ttm_words_missing(const ttm_profile *p);

/* Why the sums of a window are a lower bound; a sentence. */
const char *ttm_words_window(const ttm_profile *p);
/* Why peaks are: also what the reader did not get of the input. NULL when they are exact. */
const char *ttm_words_at_least(const ttm_profile *p);

/* Lines and states the reader could not use: torn lines, states without their operation. */
uint64_t ttm_words_not_understood(const ttm_seen *seen);

/* Appends why the input is not all of a run: cut, damaged, without its end, or not understood. False when it is. An input that tells a failure
 * may end there. */
bool ttm_words_partial(ttm_buf *out, const ttm_profile *p);

#endif
