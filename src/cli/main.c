/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem: see src/cli/option_table.c for what it understands. */
#include "cli/command.h"

int main(int argc, char **argv) { return ttm_cli_run(TTM_PROGRAM_TTMEM, argc, argv); }
