/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a program that is started next record what it allocates with ttnn, and run on a mock board when one is named.
 *
 *   ttm_record_begin(&record, &options, &err);      files laid out in a folder of their own, environment set
 *   ttm_pump_run(...);                           the program, as always
 *   ttm_record_check(record, &err);                 could ttnn be used?
 *   ttm_profile_read(&p, options.recording, &err);  the recording is an input like any other
 *   ttm_record_end(record);                         environment as it was, folder of the run removed
 *
 * Nothing of the user's installation is written to. One at a time: the environment is the process's. */
#ifndef TTM_LAUNCH_RECORD_H
#define TTM_LAUNCH_RECORD_H

#include <stdbool.h>

#include "base/error.h"
#include "launch/host.h"

typedef struct ttm_record ttm_record;

typedef struct ttm_record_options {
  const char *board;     /* "n150", or the path of a cluster descriptor; NULL: the hardware there is */
  const char *recording; /* file the program will write; it must not be there. It comes to be when a device is opened */
  char *const *argv;     /* what will be started; a Python named here is asked for ttnn when there is a board */
} ttm_record_options;

/* TTM_EUSAGE: no such board; or no ttnn that could run on it, with the command that helps. Also TTM_EIO, TTM_ENOMEM. */
int ttm_record_begin(ttm_record **out, const ttm_record_options *options, ttm_error *err);

/* After the program: 0, or TTM_EUSAGE when it asked for ttnn and could not have it, with the reason and the command that helps. */
int ttm_record_check(const ttm_record *record, ttm_error *err);

/* After the program: says in the recording, which all its processes wrote to, how it ended and what memory of the host it had, and closes its brackets. */
void ttm_record_close(const ttm_record *record, const ttm_host_watch *host, int signal);

/* True when the program opened a device: there is a recording. */
bool ttm_record_is_there(const ttm_record *record);

/* With a board: true when the program came as far as to import ttnn. */
bool ttm_record_met_ttnn(const ttm_record *record);

/* The board by its short name: "n150"; of a descriptor its path; NULL without one. */
const char *ttm_record_board(const ttm_record *record);

/* NULL is fine. */
void ttm_record_end(ttm_record *record);

#endif
