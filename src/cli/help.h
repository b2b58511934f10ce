/* SPDX-License-Identifier: Apache-2.0 */
/* --help, made from the option and command tables. */
#ifndef TTM_CLI_HELP_H
#define TTM_CLI_HELP_H

#include "base/buf.h"
#include "cli/options.h"

/* Help on one command, or on the whole program for TTM_COMMAND_NONE. */
void ttm_help_write(ttm_buf *out, ttm_program program, ttm_command command);

/* The commands that share a first word. */
void ttm_help_write_group(ttm_buf *out, ttm_program program, const char *group);

/* Two or three lines: how the program is called. */
void ttm_usage_write(ttm_buf *out, ttm_program program);

#endif
