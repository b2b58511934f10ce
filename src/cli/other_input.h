/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is no runtime log may be one that another command reads. */
#ifndef TTM_CLI_OTHER_INPUT_H
#define TTM_CLI_OTHER_INPUT_H

#include <stdbool.h>

#include "base/error.h"

/* `err` says that `path` holds nothing to report on; when another command reads it, `err` names that command instead, in a line of its
 * own, and the answer is true. */
bool ttm_name_other_command(const char *path, ttm_error *err);

#endif
