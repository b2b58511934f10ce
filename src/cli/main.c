/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem, or tt-memory-profiler when it is called by that older name: see src/cli/option_table.c for what it understands. */
#include <string.h>

#include "cli/command.h"

int main(int argc, char **argv) {
  const char *name = argc ? argv[0] : "", *slash = strrchr(name, '/');
  bool profiler = !strcmp(slash ? slash + 1 : name, "tt-memory-profiler");
  return ttm_cli_run(profiler ? TTM_PROGRAM_PROFILER : TTM_PROGRAM_TTMEM, argc, argv);
}
