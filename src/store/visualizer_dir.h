/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that ttnn-visualizer opens: db.sqlite, config.json and, where the board is known, cluster_descriptor.yaml. */
#ifndef TTM_STORE_VISUALIZER_DIR_H
#define TTM_STORE_VISUALIZER_DIR_H

#include "analyze/findings.h"

/* Writes the folder as a whole. `descriptor` may be empty. TTM_EUSAGE when there is a folder that was not written by this: it stays as it is. TTM_EIO,
 * TTM_ENOMEM. */
int ttm_visualizer_dir_write(const ttm_findings *f, const char *folder, ttm_str name, ttm_str descriptor,
                             ttm_error *err);

#endif
