/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_REPORT_OTHER_COMMAND_H
#define TTM_REPORT_OTHER_COMMAND_H

#include <stdbool.h>

#include "ttmem/error.h"

/* `err` says that `path` holds nothing to report on; when another command reads it, `err` names that command instead, in a line of its
 * own, and the answer is true. */
bool ttm_name_other_command(const char *path, ttm_error *err);

#endif
