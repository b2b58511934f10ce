/* SPDX-License-Identifier: Apache-2.0 */
/* Marks what libttmem offers; everything else is hidden. */
#ifndef TTMEM_EXPORT_H
#define TTMEM_EXPORT_H

#if defined(__GNUC__)
#define TTM_API __attribute__((visibility("default")))
#else
#define TTM_API
#endif

#endif
