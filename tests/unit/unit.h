/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with what it wants included before it, and the few helpers every unit test uses. */
#ifndef TTM_TESTS_UNIT_H
#define TTM_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

/* The view holds exactly these bytes. */
#define assert_view(view, literal)                              \
  do {                                                          \
    ttm_str got_ = (view), want_ = TTM_LIT(literal);            \
    assert_int_equal(got_.n, want_.n);                          \
    if (want_.n) assert_memory_equal(got_.p, want_.p, want_.n); \
  } while (0)

/* A view of a heap copy of exactly its size: a read past the end is then an ASan report. The caller frees .p. */
static inline ttm_str heap_view(ttm_str v) {
  char *copy = malloc(v.n ? v.n : 1);
  assert_non_null(copy);
  if (v.n) memcpy(copy, v.p, v.n);
  return (ttm_str){copy, v.n};
}

/* The whole of a file of at most 1 MB, with a NUL behind it. The caller frees .p. */
static inline ttm_str file_view(const char *path) {
  enum { ROOM = 1 << 20 };
  FILE *f = fopen(path, "rb");
  char *text = malloc(ROOM);
  assert_true(f && text);
  size_t n = fread(text, 1, ROOM, f);
  assert_true(n > 0 && n < ROOM && !ferror(f));
  fclose(f);
  text[n] = '\0';
  return (ttm_str){text, n};
}

#endif
