/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_BASE_HOST_NAME_H
#define TTM_BASE_HOST_NAME_H

enum { TTM_HOST_NAME = 256 };

/* The name of this machine, in `room`; "" when it has none. */
const char *ttm_host_name(char room[TTM_HOST_NAME]);

#endif
