/* SPDX-License-Identifier: Apache-2.0 */
/* The tools: what they are called, what they take, and the command line that answers. */
#ifndef TTM_MCP_TOOLS_H
#define TTM_MCP_TOOLS_H

#include "mcp/mcp.h"
#include "report/write/json.h"

typedef enum ttm_mcp_kind {
  TTM_MCP_INPUT,  /* a file or folder below a root, or the name of a stored report */
  TTM_MCP_FILE,   /* the same, not worth keeping; with an option `option`=path */
  TTM_MCP_TEXT,   /* given to the command on its standard input */
  TTM_MCP_OPTION, /* `option`=value */
  TTM_MCP_SWITCH, /* the same; without a value the option alone */
  TTM_MCP_MANY,   /* a list: the option once for each */
  TTM_MCP_REST,   /* a list: a program and its arguments */
} ttm_mcp_kind;

typedef struct ttm_mcp_param {
  const char *name, *help;
  ttm_mcp_kind kind;
  bool required;
  const char *option;
} ttm_mcp_param;

enum { TTM_MCP_PARAMS = 5 };

typedef struct ttm_mcp_tool {
  const char *name, *title, *help;
  const char *command[4]; /* words, ended by NULL */
  ttm_mcp_param params[TTM_MCP_PARAMS];
  bool runs;  /* starts a program of the user */
  bool notes; /* standard output is the program's: the answer stands on standard error */
} ttm_mcp_tool;

/* All of them, ended by one without a name. */
extern const ttm_mcp_tool ttm_mcp_tools[];

/* The tool as tools/list has it. */
void ttm_mcp_put_tool(ttm_json *j, const ttm_mcp_tool *tool);

/* A command line being put together; freed with ttm_mcp_call_free. */
typedef struct ttm_mcp_call {
  TTM_VEC(char *) words; /* ended by NULL */
  ttm_buf input;         /* for its standard input */
  size_t kept;           /* the word that is an input worth keeping; 0 */
} ttm_mcp_call;

/* The command line of a tool for its arguments (a JSON object). 0, TTM_EUSAGE with what is wrong, TTM_ENOMEM. */
int ttm_mcp_call_make(ttm_mcp_call *out, const ttm_mcp *mcp, const ttm_mcp_tool *tool, ttm_str arguments,
                      ttm_error *err);
/* The same of plain words, ended by NULL. */
int ttm_mcp_call_words(ttm_mcp_call *out, const ttm_mcp *mcp, const char *const *words, ttm_error *err);
void ttm_mcp_call_free(ttm_mcp_call *call);

/* Runs it and appends what it printed and what it noted on standard error; *status is its exit status. With `inside` it is a fork of this process that runs
 * it, else the program anew. 0, TTM_EIO, TTM_ENOMEM. */
int ttm_mcp_call_run(const ttm_mcp_call *call, const ttm_mcp *inside, ttm_buf *printed, ttm_buf *noted, int *status,
                     ttm_error *err);

#endif
