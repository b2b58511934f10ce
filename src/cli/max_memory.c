/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/max_memory.h"

#include <stdio.h>
#include <sys/resource.h>

#include "launch/host.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_MEMORY__)
enum { POSSIBLE = false }; /* their own memory is larger than any machine's */
#else
enum { POSSIBLE = true };
#endif

static bool is_limited(const ttm_options *options) {
  return POSSIBLE && !options->rest && ttm_command_takes(options->command, TTM_OPTION_MAX_MEMORY);
}

void ttm_max_memory_apply(const ttm_options *options) {
  struct rlimit limit;
  if (!is_limited(options) || getrlimit(RLIMIT_DATA, &limit)) return;
  bool given = options->given[TTM_OPTION_MAX_MEMORY];
  rlim_t most = (rlim_t)(given ? options->bytes[TTM_OPTION_MAX_MEMORY] : ttm_host_memory() / 2);
  if (!most || most > limit.rlim_cur) return;
  limit.rlim_cur = most;
  setrlimit(RLIMIT_DATA, &limit);
}

const char *ttm_max_memory_explain(const ttm_options *options, char out[TTM_NO_MEMORY_TEXT]) {
  struct rlimit limit;
  if (!is_limited(options) || getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY)
    return "Out of memory on this host.";
  snprintf(out, TTM_NO_MEMORY_TEXT,
           "Out of memory on this host, or of the %.1f MB that are allowed; --max-memory SIZE allows more",
           (double)limit.rlim_cur / (1 << 20));
  return out;
}
