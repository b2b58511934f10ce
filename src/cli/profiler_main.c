/* SPDX-License-Identifier: Apache-2.0 */
/* tt-memory-profiler: the name under which the analysis has been called so far. */
#include "cli/command.h"

int main(int argc, char **argv) { return ttm_cli_run(TTM_PROGRAM_PROFILER, argc, argv); }
