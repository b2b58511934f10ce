/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of the public API that may grow: the first member is the caller's sizeof, so a program and a library of different versions
 * each know which members the other has. */
#ifndef TTM_BASE_SIZED_H
#define TTM_BASE_SIZED_H

#include <stddef.h>

#include "base/error.h"

/* Takes the caller's options into *out, which holds the defaults and is `size` bytes; NULL: the defaults stay. TTM_EUSAGE for a struct
 * without its size, and for members of a later version that are set. */
int ttm_sized_take(void *out, size_t size, const void *given, ttm_error *err);

/* Gives the caller the members that its struct has; what a later version would have there stays. TTM_EUSAGE for a struct without its
 * size. */
int ttm_sized_give(void *out, const void *full, size_t size, ttm_error *err);

#endif
