/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs that stay read: each in a process of its own, which forks for every question, so that a question neither reads anew nor can do harm to the next.
 * A few are kept, and only as much memory as a quarter of the machine; one whose file has changed is dropped. */
#ifndef TTM_MCP_KEEP_H
#define TTM_MCP_KEEP_H

#include <sys/types.h>

#include "mcp/tools.h"

enum { TTM_MCP_KEPT = 4 };

/* By what a changed file is known. */
typedef struct ttm_mcp_mark {
  uint64_t device, inode, size, seconds, nanoseconds;
} ttm_mcp_mark;

typedef struct ttm_mcp_keeper {
  char *path;
  ttm_mcp_mark marks[2]; /* of the input; of a report's folder also of its log */
  pid_t pid;
  int line; /* questions and answers; -1 */
  uint64_t used;
} ttm_mcp_keeper;

/* Zero is empty. */
typedef struct ttm_mcp_keepers {
  ttm_mcp_keeper at[TTM_MCP_KEPT];
  uint64_t clock;
} ttm_mcp_keepers;

/* As ttm_mcp_call_run, by the process that keeps the call's input; without one for it as before. */
int ttm_mcp_keepers_run(ttm_mcp_keepers *keepers, const ttm_mcp *mcp, const ttm_mcp_call *call, ttm_buf *printed,
                        ttm_buf *noted, int *status, ttm_error *err);
void ttm_mcp_keepers_end(ttm_mcp_keepers *keepers);

#endif
