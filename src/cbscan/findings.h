/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong, or worth knowing, between the buffers of a program and its kernels. */
#ifndef CBS_FINDINGS_H
#define CBS_FINDINGS_H

#include "cbscan/scan.h"

/* Fills scan->findings. 0 or TTM_ENOMEM. */
int cbs_judge(cbs_scan *scan);

/* ---- Host against kernel (link.c) -------------------------------------------------------------------------------- */

/* The file of the kernel a reference names: one scanned file whose path ends with it; UINT32_MAX when none or several do. */
uint32_t cbs_kernel_file(const cbs_scan *scan, const cbs_kernel_ref *ref);

/* What an id in a kernel means in a program that gives these arguments: a buffer index, or a dataflow buffer by name. */
cbs_value cbs_meaning(const cbs_kernel_ref *ref, const cbs_value *id);

/* The only buffer of a function with that index or name; NULL when there is none, several, or it may be one of the unresolved. */
const cbs_buffer *cbs_find_buffer(const cbs_scan *scan, const cbs_function *function, const cbs_value *meaning);

#endif
