/* SPDX-License-Identifier: Apache-2.0 */
/* Is the process of a slot still there, or did another one get its number? */
#ifndef TTM_WATCH_PROCESS_H
#define TTM_WATCH_PROCESS_H

#include <sys/types.h>

#include "base/buf.h"

/* What the system says of a process number at one moment. */
typedef struct ttm_process {
  int32_t pid;
  bool there;        /* a process has the number, and it is no zombie */
  uint64_t began_ns; /* since 1970; 0 when that may not be looked at */
  uint64_t start;    /* ticks since the machine began, which no setting of the clock changes; 0 likewise */
} ttm_process;

ttm_process ttm_process_look(int32_t pid);

/* True when it is the process that wrote at `updated_ns` (since 1970): one that began later is another one with the same number. A
 * name that changed only decides when the clock may have been set in between. */
bool ttm_process_wrote(const ttm_process *process, uint64_t updated_ns, const char *name);

/* True when the user `owner` runs it. False for others, and where that may not be looked at. */
bool ttm_process_is_of(int32_t pid, uid_t owner);

/* Appends the value of a variable in the environment that the process was started with. False when it has none, or may not be
 * looked at. */
bool ttm_process_variable(int32_t pid, const char *variable, ttm_buf *out);

#endif
