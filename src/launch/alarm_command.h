/* SPDX-License-Identifier: Apache-2.0 */
/* `--exec CMD` of ttmem live: a command of the user, run by the shell when an alarm goes off. */
#ifndef TTM_LAUNCH_ALARM_COMMAND_H
#define TTM_LAUNCH_ALARM_COMMAND_H

#include <signal.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "watch/alarm.h"

/* Starts the command. What happened is in variables named TTMEM_ALARM_*, never in the command's text: no name of a process can become
 * part of it. Its input is empty; its output goes to standard error, or nowhere when `silent`. It gets the signal mask `mask`. */
int ttm_alarm_command_start(const char *command, const ttm_alarm_event *event, const sigset_t *mask, bool silent,
                            pid_t *pid, ttm_error *err);

#endif
