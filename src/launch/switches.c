/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* strncasecmp */
#include "launch/switches.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { OPERATIONS, STATES, DUMPS };

const ttm_switch ttm_switches[TTM_SWITCHES] = {
    [OPERATIONS] = {"TTMLIR_RUNTIME_LOGGER_LEVEL", "DEBUG", "operation lines", "DEBUG|TRACE"},
    [STATES] = {"TT_RUNTIME_MEMORY_LOG_LEVEL", "operation", "a memory state before each operation",
                "operation|any|all"},
    [DUMPS] = {"TTXLA_LOGGER_LEVEL", "DEBUG", "module dumps: weights by name, IR", "DEBUG|VERBOSE"},
};

enum { TRACKING_OFF, OVERRIDES, LOG_LEVEL };

const ttm_ttnn_switch ttm_ttnn_switches[] = {
    [TRACKING_OFF] = {"TT_METAL_SHM_TRACKING_DISABLED", NULL, "'ttmem live' sees the program all the same"},
    [OVERRIDES] = {"TTNN_CONFIG_OVERRIDES",
                   "'{\"enable_fast_runtime_mode\": false, \"enable_logging\": true, "
                   "\"enable_graph_report\": true}'",
                   "graph captures in a report of ttnn-visualizer"},
    [LOG_LEVEL] = {"TT_LOGGER_LEVEL", NULL, "how much tt-metal logs; a release build has no debug lines"},
    {"TT_METAL_ALLOCATOR_MODE_HYBRID", NULL, "tensors may have an address on each core, which recordings tell"},
    {"TT_METAL_TRACE_ALLOC_TRACKING", "1", "lines about what is allocated while a trace exists"},
    {"TT_METAL_DEVICE_PROFILER", "1", "device time of every operation, in builds with Tracy"},
    {"TT_METAL_MEM_PROFILER", NULL, "allocations in Tracy, in builds with it"},
    {"TT_METAL_SLOW_DISPATCH_MODE", NULL, "the host starts every program itself: no traces, all cores compute"},
    {"TT_METAL_SIMULATOR", NULL, "programs run on a simulator"},
    {"TT_LOGGER_FILE", NULL, "tt-metal logs to this file; a recording has its failures all the same"},
    {"TT_METAL_LOGGER_FILE", NULL, "tt-metal logs to this file; a recording has its failures all the same"},
    {"TT_VISIBLE_DEVICES", NULL, "only these chips are used"},
    {"TT_METAL_HOME", NULL, "ttnn takes kernels from this tree"},
};
const size_t ttm_ttnn_switch_count = sizeof ttm_ttnn_switches / sizeof *ttm_ttnn_switches;

const ttm_hindrance ttm_hindrances[] = {
    {"TTMLIR_RUNTIME_LOGGER_FILE",
     "The runtime writes its lines to that file instead of standard output: the log lacks them.", NULL, 1},
    {"TTMLIR_RUNTIME_LOGGER_TYPES",
     "Only the types it names are printed. Memory states are of type Always, operations of type RuntimeTTNN.",
     "Always|RuntimeTTNN", 1},
    {"LOGGER_LEVEL",
     "The deprecated name of TTMLIR_RUNTIME_LOGGER_LEVEL. A runtime that still reads it prints nothing.", NULL, 1},
    {"TT_LOGGER_FILE", "tt-metal writes its lines, including out-of-memory messages, to that file.", NULL, 1},
    {"TT_METAL_LOGGER_FILE", "tt-metal writes its lines, including out-of-memory messages, to that file.", NULL, 1},
    {"TT_METAL_MEMORY_REPORT", "tt-metal does not read it: it has no effect.", NULL, 0},
    {"TT_METAL_LOGGER_LEVEL",
     "The old name of TT_LOGGER_LEVEL. A release build has no debug lines at any level. Memory states come from "
     "TT_RUNTIME_MEMORY_LOG_LEVEL.",
     NULL, 0},
};
const size_t ttm_hindrance_count = sizeof ttm_hindrances / sizeof *ttm_hindrances;

/* True when `value` is one of the words, whatever the case of its letters. */
static bool is_one_of(const char *words, const char *value) {
  size_t length = strlen(value);
  for (const char *at = words;; at++) {
    size_t n = strcspn(at, "|");
    if (n == length && strncasecmp(at, value, n) == 0) return true;
    at += n;
    if (!*at) return false;
  }
}

const char *ttm_switch_judge(const ttm_switch *s, const char *value) {
  if (is_one_of(s->good, value)) return NULL;
  if (s == &ttm_switches[OPERATIONS]) return "operation lines are printed at DEBUG level only: the log will have none";
  if (s == &ttm_switches[DUMPS]) return "module dumps are printed at DEBUG level only: weights will have no names";
  if (is_one_of("program", value)) return "states are printed around programs only, not before each operation";
  if (is_one_of("none", value)) return "no memory states are printed";
  return "tt-xla refuses to start with it (Invalid memory logging level)";
}

const char *ttm_ttnn_switch_judge(const ttm_ttnn_switch *s, const char *value) {
  if (s == &ttm_ttnn_switches[TRACKING_OFF] && value[0] == '1') return "'ttmem live' does not see the program";
  if (s == &ttm_ttnn_switches[LOG_LEVEL] && is_one_of("off", value)) return "failures are missing from the log";
  if (s == &ttm_ttnn_switches[OVERRIDES] && value[strspn(value, " \t\n")] != '{')
    return "ttnn wants a JSON object and stops when it is imported";
  return NULL;
}

static bool has_all(const char *words, const char *value) {
  for (const char *at = words; *at;) {
    size_t n = strcspn(at, "|");
    char word[64];
    memcpy(word, at, n);
    word[n] = '\0';
    if (!strstr(value, word)) return false;
    at += n + (at[n] == '|');
  }
  return true;
}

int ttm_hindrance_applies(const ttm_hindrance *h, const char *value) {
  if (!value || !*value) return 0;
  return !h->unless || !(strstr(value, "All") || has_all(h->unless, value));
}
