/* SPDX-License-Identifier: Apache-2.0 */
/* The version of ttmem. The build, the package files and the programs take it from here. */
#ifndef TTMEM_VERSION_H
#define TTMEM_VERSION_H

#include "ttmem/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of these headers. */
#define TTM_VERSION_MAJOR 0
#define TTM_VERSION_MINOR 2
#define TTM_VERSION_PATCH 0
#define TTM_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define TTM_VERSION_TEXT(major, minor, patch) TTM_VERSION_TEXT_(major, minor, patch)
/* As text: "MAJOR.MINOR.PATCH". */
#define TTM_VERSION TTM_VERSION_TEXT(TTM_VERSION_MAJOR, TTM_VERSION_MINOR, TTM_VERSION_PATCH)

/* The same of the library that runs: it may be newer than the headers. */
TTM_API const char *ttm_version(void);

#ifdef __cplusplus
}
#endif
#endif
