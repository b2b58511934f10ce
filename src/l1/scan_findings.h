/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong, or worth knowing, between the buffers of a program and its kernels. */
#ifndef TTM_L1_SCAN_FINDINGS_H
#define TTM_L1_SCAN_FINDINGS_H

#include "l1/scan.h"

/* Fills scan->findings. 0 or TTM_ENOMEM. */
int ttm_scan_judge(ttm_scan *scan);

/* ---- Host against kernel (scan_link.c) -------------------------------------------------------------------------------- */

/* The file of the kernel a reference names: one scanned file whose path ends with it; UINT32_MAX when none or several do. */
uint32_t ttm_scan_kernel_file(const ttm_scan *scan, const ttm_kernel_ref *ref);

/* What an id in a kernel means in a program that gives these arguments: a buffer index, or a dataflow buffer by name. */
ttm_scan_value ttm_scan_meaning(const ttm_kernel_ref *ref, const ttm_scan_value *id);

/* The only buffer of a function with that index or name; NULL when there is none, several, or it may be one of the unresolved. */
const ttm_cb *ttm_scan_buffer(const ttm_scan *scan, const ttm_cb_function *function, const ttm_scan_value *meaning);

#endif
