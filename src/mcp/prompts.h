/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to use the tools that are worth a button. */
#ifndef TTM_MCP_PROMPTS_H
#define TTM_MCP_PROMPTS_H

#include "report/write/json.h"

enum { TTM_MCP_PROMPT_ARGUMENTS = 3 };

typedef struct ttm_mcp_prompt {
  const char *name, *title, *help;
  struct {
    const char *name, *help;
  } arguments[TTM_MCP_PROMPT_ARGUMENTS];
  const char *text; /* "{0}" stands for the first argument */
} ttm_mcp_prompt;

/* All of them, ended by one without a name. */
extern const ttm_mcp_prompt ttm_mcp_prompts[];

/* As prompts/list has it. */
void ttm_mcp_put_prompt(ttm_json *j, const ttm_mcp_prompt *prompt);
/* Its text for these arguments (a JSON object). */
void ttm_mcp_prompt_text(ttm_buf *out, const ttm_mcp_prompt *prompt, ttm_str arguments);

#endif
