/* SPDX-License-Identifier: Apache-2.0 */
/* --help, made from the table of options and the rows of the commands. */
#ifndef TTM_CLI_HELP_H
#define TTM_CLI_HELP_H

#include "base/buf.h"
#include "cli/options.h"

/* Prints help on one command; without one on `options->group`, the commands that share a first word, or on the whole program. */
int ttm_help_print(const ttm_options *options, const ttm_command *command, ttm_error *err);

/* One line per command: how the program is called. */
void ttm_usage_write(ttm_buf *out, ttm_program program);

#endif
