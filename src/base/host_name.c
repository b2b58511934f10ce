/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/host_name.h"

#include <unistd.h>

const char *ttm_host_name(char room[TTM_HOST_NAME]) {
  room[0] = room[TTM_HOST_NAME - 1] = '\0';
  if (gethostname(room, TTM_HOST_NAME - 1)) room[0] = '\0';
  return room;
}
