/* SPDX-License-Identifier: Apache-2.0 */
/* Files that travel inside the program; made by cmake/embed.cmake. */
#ifndef TTM_LAUNCH_EMBEDDED_H
#define TTM_LAUNCH_EMBEDDED_H

#include <stddef.h>

typedef struct ttm_embedded {
  const char *name;
  const unsigned char *bytes;
  size_t n;
} ttm_embedded;

/* Cluster descriptors of mock boards, by board. */
extern const ttm_embedded ttm_board_files[];
extern const size_t ttm_board_files_count;

/* What goes before a Python program, by file name. */
extern const ttm_embedded ttm_hook_files[];
extern const size_t ttm_hook_files_count;

/* What of it is in C: a library for the Python of the program. */
extern const ttm_embedded ttm_native_files[];
extern const size_t ttm_native_files_count;

/* The log that `ttmem cb log` shows without a file; the only one. */
extern const ttm_embedded ttm_demo_files[];
extern const size_t ttm_demo_files_count;

#endif
