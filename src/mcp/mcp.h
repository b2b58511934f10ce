/* SPDX-License-Identifier: Apache-2.0 */
/* `ttmem mcp`: questions of agents, as the Model Context Protocol has them (JSON-RPC, a message per line). Each tool is a command of this program and
 * its answer what that command prints, so that an agent and a person read the same sentence. Every question runs in a process of its own; what it reads stays
 * in another one for the next (keep.h). */
#ifndef TTM_MCP_MCP_H
#define TTM_MCP_MCP_H

#include "base/buf.h"
#include "base/error.h"

typedef struct ttm_mcp {
  int in, out;
  const char *program;            /* that answers: ours */
  const char *store;              /* folder of the reports; NULL */
  const char *const *roots;       /* inputs lie below one of them; resolved, ended by NULL */
  bool allow_run;                 /* tools may start programs */
  bool (*keep)(const char *path); /* reads an input and keeps it in this process; false when it cannot be read */
  int (*run)(int argc, char *const *argv); /* a command line in this process, with what is kept; its exit status */
} ttm_mcp;

/* Until the input ends. 0, TTM_EIO or TTM_ENOMEM. */
int ttm_mcp_serve(const ttm_mcp *mcp, ttm_error *err);

#endif
