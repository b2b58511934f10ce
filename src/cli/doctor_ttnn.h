/* SPDX-License-Identifier: Apache-2.0 */
/* What `ttmem doctor` says of a machine on which ttnn programs run. Private to the command. */
#ifndef TTM_CLI_DOCTOR_TTNN_H
#define TTM_CLI_DOCTOR_TTNN_H

#include <stdbool.h>

#include "report/run/doctor.h"

enum { TTM_SHOWN_COLUMNS = 150, TTM_SHOWN_ROOM = TTM_SHOWN_COLUMNS * 4 + 1 };
/* A value or path as a message can hold it: without its middle when it is long, so that no character is cut. */
const char *ttm_doctor_shown(ttm_doctor *d, char room[TTM_SHOWN_ROOM], const char *value);

/* Who writes the logs here. */
typedef struct ttm_doctor_machine {
  bool ttnn;     /* Python finds ttnn */
  bool compiler; /* and tt-xla or ttrt, or one of their variables is set: their logs are wanted */
} ttm_doctor_machine;

/* The sections "Python", "Board" and "ttnn"; the last only where there is a ttnn. */
ttm_doctor_machine ttm_doctor_check_machine(ttm_doctor *d);

#endif
