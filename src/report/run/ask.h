/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem ask`: one detail in a few lines, for people and agents. 0, TTM_ENODATA with a message when there is no such thing, or TTM_ENOMEM. */
#ifndef TTM_REPORT_ASK_H
#define TTM_REPORT_ASK_H

#include "analyze/moment.h"
#include "report/write/doc.h"

/* Rows of the tables (ttmem/table.h) that an answer is about, ascending. */
typedef struct ttm_ask_rows {
  TTM_VEC(uint32_t) operations, tensors;
} ttm_ask_rows;

typedef struct ttm_ask {
  const ttm_findings *f;
  ttm_doc *doc;
  bool per_chip;      /* tables count a whole chip, not one of its banks */
  bool whole;         /* long texts are not shortened */
  ttm_ask_rows *rows; /* filled unless NULL */
} ttm_ask;

/* One operation by its index in the reports. */
int ttm_ask_op(const ttm_ask *ask, uint32_t index, ttm_error *err);
/* The same of any operation of the profile, deallocations too. */
void ttm_ask_operation(const ttm_ask *ask, uint32_t op);

/* A weight by its name, or what operations at a location make: the whole name, in which '*' stands for anything, as in folded rows; else every
 * one that contains it. */
int ttm_ask_tensor(const ttm_ask *ask, ttm_str name, ttm_error *err);

/* Operations first to last, one row each, and what they did together. */
int ttm_ask_range(const ttm_ask *ask, uint32_t first, uint32_t last, ttm_error *err);

/* Operations whose name or location is this, with '*' for anything, else those that contain it: rows as above. */
int ttm_ask_find(const ttm_ask *ask, ttm_str name, ttm_error *err);

/* Live tensors at the peak of a memory (ttm_memory), or of DRAM and L1 each. */
enum { TTM_ASK_BOTH = -1 };
int ttm_ask_peak(const ttm_ask *ask, int memory, ttm_error *err);

/* Live tensors and free blocks of DRAM and L1 at any moment. */
int ttm_ask_at(const ttm_ask *ask, ttm_instant at, ttm_error *err);
/* The same of one memory, for who has it at hand: sorts its free blocks by size. Does not end the document. 0 or TTM_ENOMEM. */
int ttm_ask_moment(const ttm_ask *ask, ttm_moment *moment);

#endif
