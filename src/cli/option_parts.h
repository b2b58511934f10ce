/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of parsing a command line. */
#ifndef TTM_CLI_OPTION_PARTS_H
#define TTM_CLI_OPTION_PARTS_H

#include "cli/options.h"

/* The option of a name without its dashes, or of a letter; TTM_OPTIONS when there is none. */
int ttm_option_find(const ttm_options *out, const char *name, size_t length);
int ttm_option_find_letter(ttm_program program, char letter);

/* Reads a value into `out`. 0, or TTM_EUSAGE when the option takes no such value. */
int ttm_option_take(ttm_options *out, int option, const char *value, ttm_error *err);

/* TTM_EUSAGE with what was probably meant. `word` of ttm_command_unknown_in is the second one, "" when it is missing. */
int ttm_option_unknown(ttm_program program, const char *word, size_t length, ttm_error *err);
int ttm_command_unknown(const char *word, ttm_error *err);
int ttm_command_unknown_in(const char *group, const char *word, ttm_error *err);

#endif
