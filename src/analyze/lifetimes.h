/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors that stay allocated after their last use, and what freeing them there would bring. */
#ifndef TTM_ANALYZE_LIFETIMES_H
#define TTM_ANALYZE_LIFETIMES_H

#include "profile/profile.h"

enum { TTM_LATE_FREES = 10 };

/* Results of one operation that are freed late: the same one of every run and of every layer (same name and type, locations that differ in
 * their numbers only) together. */
typedef struct ttm_late_free {
  uint32_t tensor; /* the first one */
  uint32_t times;  /* how many of them */
  uint32_t
      gap; /* most operations (deallocations not counted) between a last use and its free, or the end of the program */
  uint64_t bank_bytes; /* of one of them */
  uint64_t cost;       /* bytes per bank x operations, summed over all of them */
  /* Highest state, per bank, if all of them were freed at their last use: from the measured levels. */
  uint64_t peak_bytes;
  /* These alone freed there were played through the allocator again, which is not done when the peak stays as it is ... */
  bool replayed;
  bool replay_agrees; /* ... and came to that peak, with room for everything */
} ttm_late_free;

typedef struct ttm_lifetimes {
  bool known;                         /* false: nothing tells when tensors are last used and freed */
  ttm_late_free late[TTM_LATE_FREES]; /* DRAM, dearest first */
  size_t n;
  uint64_t peak_bytes;         /* DRAM peak as it is, per bank */
  uint64_t peak_without_bytes; /* highest state if all of them were freed at their last use: from the measured levels */
  /* All of them freed at their last use, played through the allocator again: */
  bool replayed;
  uint64_t replayed_peak_bytes; /* highest level */
  bool replay_agrees;           /* with what the measured levels say; the placement found room for everything */
} ttm_lifetimes;

struct ttm_findings;

/* Whether the result of an operation may be a view of what it takes, which lives on then, though its own name is not used again. Of logs: a
 * capture knows views by their buffers. */
bool ttm_op_may_view(const ttm_profile *p, uint32_t op);

/* 0 or TTM_ENOMEM. Needs the elements, peaks and live set of the findings. */
int ttm_lifetimes_make(ttm_lifetimes *out, const struct ttm_findings *f);

#endif
