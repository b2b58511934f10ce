/* SPDX-License-Identifier: Apache-2.0 */
/* $TTMEM_HOME/config, else ~/.ttmem/config: defaults of options, a line each ("per = chip"), "#" begins a comment. */
#ifndef TTM_CLI_CONFIG_H
#define TTM_CLI_CONFIG_H

#include "cli/options.h"

/* What the file says counts where the command takes the option and the user gave none. The values point into *kept, which is freed with
 * ttm_free in any case. 0 also without a file; TTM_EUSAGE names file and line, TTM_EIO, TTM_ENOMEM. */
int ttm_config_apply(ttm_options *options, char **kept, ttm_error *err);

#endif
