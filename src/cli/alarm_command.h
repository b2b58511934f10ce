/* SPDX-License-Identifier: Apache-2.0 */
/* `--exec CMD` of ttmem live: a command of the user, run by the shell when an alarm goes off. */
#ifndef TTM_CLI_ALARM_COMMAND_H
#define TTM_CLI_ALARM_COMMAND_H

#include <signal.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "watch/alarm.h"

/* Starts the command. What happened is in variables named TTMEM_ALARM_*, never in the command's text: no name of a process can become
 * part of it. Its input is empty; its output goes to standard error, or nowhere when `silent`. It gets the signal mask `mask`. */
int ttm_alarm_command_start(const char *command, const ttm_alarm_event *event, const sigset_t *mask, bool silent,
                            pid_t *pid, ttm_error *err);

/* "alarm: device 0: DRAM is at 91.3% (11.2 GB of 12.0 GB), the mark is 90%; most of it is held by python[123]" with a line end. */
void ttm_alarm_words(ttm_buf *out, const ttm_alarm_event *event);

#endif
