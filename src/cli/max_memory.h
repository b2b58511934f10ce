/* SPDX-License-Identifier: Apache-2.0 */
/* --max-memory. An input may be a few bytes that stand for terabytes: what a command takes beyond the limit is refused by the system, and it ends
 * as with any lack of memory. As much again may lie on the disk (base/spill.h). A program that is started is not ours to limit. */
#ifndef TTM_CLI_MAX_MEMORY_H
#define TTM_CLI_MAX_MEMORY_H

#include "cli/options.h"

enum { TTM_NO_MEMORY_TEXT = 256 };

void ttm_max_memory_apply(const ttm_options *options);
/* Says why there is no memory, without any. */
const char *ttm_max_memory_explain(const ttm_options *options, char out[TTM_NO_MEMORY_TEXT]);

#endif
