/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program that runs, and of all it started, on the host: looked at from outside, so that it is known also when the program is killed. */
#ifndef TTM_LAUNCH_HOST_H
#define TTM_LAUNCH_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TTM_HOST_LOOK_MS = 250, TTM_HOST_PATH = 4096, TTM_HOST_NAME = 32 };

typedef struct ttm_host_watch {
  uint64_t now, peak, others; /* resident bytes of the processes; of those it started */
  uint64_t machine, available, lowest,
      cgroup; /* MemTotal, MemAvailable at the start and at least, limit of the control group; 0: unknown */
  uint64_t kills_before, kills; /* of the OOM killer in the control group */
  unsigned looks;
  char group[TTM_HOST_PATH]; /* the control group's folder; empty: none */
  bool unified;              /* version 2 */
} ttm_host_watch;

void ttm_host_watch_begin(ttm_host_watch *watch);
/* The processes now. One that is a zombie has no memory any more: the figures stay. */
void ttm_host_watch_look(ttm_host_watch *watch, pid_t pid);
/* Whether the OOM killer came meanwhile. */
void ttm_host_watch_end(ttm_host_watch *watch);
/* SIGKILL ended the program, and memory of the host was the reason as far as can be told. */
bool ttm_host_watch_exhausted(const ttm_host_watch *watch, int signal);
/* Memory of the machine, or less where a control group allows this process less; 0: unknown. */
uint64_t ttm_host_memory(void);
/* Kills all that descend from the process. */
void ttm_host_kill_below(pid_t pid);
/* One that descends from it and lives, with its name; 0: there is none. */
pid_t ttm_host_living_below(pid_t pid, char name[TTM_HOST_NAME]);

#endif
