/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run side by side on mock boards, each below a process of ours, which has the environment and the signals of a launch to itself.
 *
 * There are as many as processors, while memory of the host allows another one by what those before it took; or as many as the user says. When
 * memory runs short all the same, the youngest is ended and forgotten, as if it had not been started: its turn comes when there is room. */
#ifndef TTM_LAUNCH_CREW_H
#define TTM_LAUNCH_CREW_H

#include "base/temp_dir.h"
#include "base/vec.h"
#include "launch/launch.h"

#define TTM_CREW_FILES "TTMEM_FILES" /* tells the recorder where to list what the program reads */

/* What the process below us says in the end. */
typedef struct ttm_crew_end {
  int status; /* as of ttm_launch_run, or of ttm_record_check; `err` has the reason */
  ttm_error err;
  bool recorded, met_ttnn; /* there is a recording; the program came as far as to import ttnn */
  ttm_pump_result result;
  char log[PATH_MAX], recording[PATH_MAX];
} ttm_crew_end;

/* One run. The caller knows it by row and value. */
typedef struct ttm_crew_run {
  size_t row;
  uint64_t value;
  const char *board;
  pid_t pid;
  int report; /* the pipe its end comes through */
  ttm_temp_dir dir;
  ttm_host_watch host; /* of the process and all below it */
  int64_t began, milliseconds;
  ttm_crew_end end;
} ttm_crew_run;

typedef struct ttm_crew_options {
  unsigned jobs; /* at once; 0: as many as processors and memory allow */
  const ttm_launch_viewer *viewer;
  bool quiet;
  bool list_files; /* have the recorder list what the program reads */
} ttm_crew_options;

typedef struct ttm_crew {
  ttm_crew_options options;
  TTM_VEC(ttm_crew_run *) running; /* by age */
  unsigned limit;                  /* at once */
  uint64_t spare;                  /* bytes of the host that stay free */
  uint64_t largest;                /* bytes of the largest run that ended; 0: none has */
  uint64_t ended;                  /* runs, and the time that they took */
  int64_t milliseconds;
  int interrupted; /* 128 + the signal that asked to end, or 0. Nothing is started then */
  int signals;
  sigset_t mask; /* before us */
} ttm_crew;

/* From here on signals are taken by ttm_crew_wait. 0 or TTM_EIO. */
int ttm_crew_begin(ttm_crew *crew, const ttm_crew_options *options, ttm_error *err);
/* Kills what still runs. Signals that ask to end stay blocked when one came. */
void ttm_crew_finish(ttm_crew *crew);

/* True when another program may be started. With `jobs` memory is not asked. */
bool ttm_crew_has_room(const ttm_crew *crew);
/* The rule, in bytes: `available` without what is to stay free, `each` what a run takes, 0: not known, and `now` what those that run have taken. */
bool ttm_crew_allows(uint64_t available, uint64_t each, const uint64_t *now, size_t n);

/* Starts a program; `headline` is said then. The words are copied. 0, TTM_EIO, TTM_ENOMEM. */
int ttm_crew_start(ttm_crew *crew, size_t row, uint64_t value, const char *board, char *const *words,
                   const char *headline, ttm_error *err);
/* The run that is under way; NULL. */
const ttm_crew_run *ttm_crew_find(const ttm_crew *crew, size_t row, uint64_t value);

/* Waits for an end, a signal or a moment. *out is a run that ended, with a status of 0 unless it could not be run; NULL: none did. Freed with
 * ttm_crew_free_run, which removes its files. */
void ttm_crew_wait(ttm_crew *crew, ttm_crew_run **out);
void ttm_crew_free_run(ttm_crew_run *run);

#endif
