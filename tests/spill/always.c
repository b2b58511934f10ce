/* SPDX-License-Identifier: Apache-2.0 */
/* Beside src/cli/main.c: a ttmem whose blocks of 16 KB and more are spilled, whatever the input's size. */
#include "base/spill.h"

__attribute__((constructor)) static void always(void) { ttm_spill_begin(16384, UINT64_MAX); }
