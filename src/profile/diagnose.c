/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diagnose.h"

#include <stdio.h>

#include "base/error.h"

/* The commands that give a full log; every diagnosis of a real log ends with them. */
#define CAPTURE                                                                            \
  "\nTo get a full log: build with -DTT_RUNTIME_DEBUG=ON (tt-xla: cmake --preset debug)\n" \
  "and run with\n"                                                                         \
  "  " TTM_EXPORT_OPERATIONS                                                               \
  "\n"                                                                                     \
  "  " TTM_EXPORT_STATES                                                                   \
  "\n"                                                                                     \
  "  " TTM_EXPORT_DUMPS                                                                    \
  "\n"                                                                                     \
  "  " TTM_RUN_AND_KEEP

/* The log came from a run with tt-mlir's runtime, but neither blocks nor operations are in it. */
static int diagnose_runtime(const ttm_seen *seen, const char *path, ttm_error *err) {
  if (seen->debug_lines)
    return ttm_error_set(
        err, TTM_ENODATA,
        "%s has %llu runtime log lines at DEBUG level, but no operation and no memory state.\n"
        "Either no program was executed, or the memory level is unset: TT_RUNTIME_MEMORY_LOG_LEVEL." CAPTURE,
        path, (unsigned long long)seen->runtime_lines);
  return ttm_error_set(
      err, TTM_ENODATA,
      "%s has %llu runtime log lines, but no operation (needs TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG) and no memory\n"
      "state (needs TT_RUNTIME_MEMORY_LOG_LEVEL). Both need a build with TT_RUNTIME_DEBUG=ON." CAPTURE,
      path, (unsigned long long)seen->runtime_lines);
}

int ttm_profile_diagnose(const ttm_profile *p, ttm_error *err) {
  const ttm_seen *seen = &p->seen;
  ttm_str name = ttm_profile_string(p, p->path);
  if (ttm_str_eq(name, TTM_LIT("-"))) name = TTM_LIT("Standard input");
  char path[512]; /* a longer one would leave no room for the message */
  snprintf(path, sizeof path, "%.*s", (int)(name.n < sizeof path ? name.n : sizeof path - 1), name.p);
  if (seen->bytes == 0) return ttm_error_set(err, TTM_ENODATA, "%s is empty." CAPTURE, path);
  if (seen->looks_like_binary)
    return ttm_error_set(err, TTM_ENODATA, "%s is a binary file, not a text log." CAPTURE, path);
  if (seen->runtime_lines) return diagnose_runtime(seen, path, err);
  if (seen->dumps)
    return ttm_error_set(
        err, TTM_ENODATA,
        "%s holds %llu MLIR module dumps, but not a line of the runtime: no operation and no memory state.\n"
        "Either compilation failed before anything ran, or tt-mlir was built without TT_RUNTIME_DEBUG=ON\n"
        "(CMAKE_BUILD_TYPE=Debug alone does not turn it on)." CAPTURE,
        path, (unsigned long long)seen->dumps);
  if (seen->loguru)
    return ttm_error_set(
        err, TTM_ENODATA,
        "%s has tt-xla log lines, but not a line of the runtime: standard output was not captured, or tt-mlir\n"
        "was built without TT_RUNTIME_DEBUG=ON." CAPTURE,
        path);
  return ttm_error_set(
      err, TTM_ENODATA,
      "%s (%llu lines) is no TT-XLA / TT-MLIR runtime log: no operation, no memory state, no error message\n"
      "of the runtime was found." CAPTURE,
      path, (unsigned long long)seen->lines);
}

int ttm_profile_diagnose_packed(ttm_str first, const char *path, ttm_error *err) {
  static const struct {
    ttm_str begin;
    const char *name, *unpack;
  } forms[] = {{TTM_LIT("\xFD"
                        "7zXZ"),
                "xz", "xz -dc"},
               {TTM_LIT("BZh"), "bzip2", "bzip2 -dc"},
               {TTM_LIT("\x04\x22\x4D\x18"), "lz4", "lz4 -dc"}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ttm_str_starts(first, forms[i].begin))
      return ttm_error_set(err, TTM_EFORMAT,
                           "%s is compressed with %s, which is not read here (gzip and zstd are). "
                           "Give what '%s' makes of it, '-' for a pipe.",
                           path, forms[i].name, forms[i].unpack);
  return TTM_OK;
}

int ttm_profile_diagnose_capture(const ttm_capture_reader *nodes, ttm_error *err) {
  if (nodes->json.error)
    return ttm_error_set(err, TTM_EFORMAT,
                         "line %llu of this JSON breaks off before the first operation of a graph capture: %s.",
                         (unsigned long long)nodes->json.line, nodes->json.error);
  return ttm_error_set(err, TTM_ENODATA,
                       "this JSON holds no operation of a graph capture. To make one:\n"
                       "  ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)\n"
                       "  ...\n"
                       "  ttnn.graph.end_graph_capture_to_file('capture.json')");
}
