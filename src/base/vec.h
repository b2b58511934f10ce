/* SPDX-License-Identifier: Apache-2.0 */
/* Growable arrays of one type: `TTM_VEC(uint32_t) lines;` Zero is the empty vector; the owner frees it.
 * Large vectors grow by mremap under glibc, so growing copies nothing and touches only what is used. */
#ifndef TTM_BASE_VEC_H
#define TTM_BASE_VEC_H

#include "base/alloc.h"
#include "ttmem/error.h"

#define TTM_VEC(T) \
  struct {         \
    T *at;         \
    size_t n, cap; \
  }

/* Makes room for `need` elements in all. 0 or TTM_ENOMEM. */
int ttm_vec_grow_(void **at, size_t *cap, size_t need, size_t element_size);

/* Room for `extra` more elements; 0 or TTM_ENOMEM. */
#define ttm_vec_reserve(v, extra)        \
  ((v)->n + (extra) <= (v)->cap ? TTM_OK \
                                : ttm_vec_grow_((void **)&(v)->at, &(v)->cap, (v)->n + (extra), sizeof *(v)->at))

/* Appends a value; 0 or TTM_ENOMEM. */
#define ttm_vec_push(v, ...) (ttm_vec_reserve((v), 1) ? TTM_ENOMEM : ((v)->at[(v)->n++] = __VA_ARGS__, TTM_OK))

#define ttm_vec_free(v) (ttm_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

#endif
