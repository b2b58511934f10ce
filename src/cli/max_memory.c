/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/max_memory.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/spill.h"
#include "launch/host.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_MEMORY__)
enum { POSSIBLE = false }; /* their own memory is larger than any machine's */
#else
enum { POSSIBLE = true };
#endif

static bool is_limited(const ttm_options *options) {
  return !options->rest && ttm_command_takes(options->command, TTM_OPTION_MAX_MEMORY);
}

static uint64_t most_bytes(const ttm_options *options) {
  return options->given[TTM_OPTION_MAX_MEMORY] ? options->bytes[TTM_OPTION_MAX_MEMORY] : ttm_host_memory() / 2;
}

/* A log of 1 GiB has no table that large; a smaller limit lies near to a smaller input's tables. */
static void allow_spill(uint64_t most) {
  enum { LEAST = 32 << 20, TABLES = 16 };
  ttm_spill_begin(most / TABLES < LEAST ? (size_t)(most / TABLES) : LEAST, most);
}

void ttm_max_memory_apply(const ttm_options *options) {
  struct rlimit limit;
  uint64_t most = is_limited(options) ? most_bytes(options) : 0;
  if (!most) return;
  allow_spill(most);
  if (!POSSIBLE || getrlimit(RLIMIT_DATA, &limit) || most > limit.rlim_cur) return;
  limit.rlim_cur = (rlim_t)most;
  setrlimit(RLIMIT_DATA, &limit);
}

const char *ttm_max_memory_explain(const ttm_options *options, char out[TTM_NO_MEMORY_TEXT]) {
  struct rlimit limit;
  if (!POSSIBLE || !is_limited(options) || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY)
    return "Out of memory on this host.";
  snprintf(out, TTM_NO_MEMORY_TEXT,
           "Out of memory on this host, or of the %.1f MB that are allowed; --max-memory SIZE allows more",
           (double)limit.rlim_cur / (1 << 20));
  return out;
}
