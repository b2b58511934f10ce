/* SPDX-License-Identifier: Apache-2.0 */
/* Is the process of a slot still there, or did another one get its number? */
#ifndef TTM_WATCH_PROCESS_H
#define TTM_WATCH_PROCESS_H

#include "base/buf.h"

/* True when the process `pid` runs and is the one that wrote at `updated_ns` (since 1970): a process that began later is another
 * one with the same number. A name that changed only decides when the clock may have been set in between. A zombie is dead. */
bool ttm_process_alive(int32_t pid, uint64_t updated_ns, const char *name);

/* Appends the value of a variable in the environment that the process was started with. False when it has none, or may not be
 * looked at. */
bool ttm_process_variable(int32_t pid, const char *variable, ttm_buf *out);

#endif
