/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/prompts.h"

#include "parse/json_text.h"

const ttm_mcp_prompt ttm_mcp_prompts[] = {
    {"triage_out_of_memory",
     "Triage an out-of-memory",
     "What filled the memory, and the smallest change that ends it.",
     {{"input", "log, capture or recording of the failed run"}},
     "The run in {0} ran out of memory. Call `summary`, then `findings`. Say what failed and by how many bytes, what "
     "filled the "
     "memory and which operation did it, with log or source lines. Take the fixes in their order; try each with "
     "`verify_fix` "
     "(its `change` is in the findings) and recommend the first after which everything fits. Mark every figure that is "
     "estimated."},
    {"review_pull_request",
     "Review a pull request's memory",
     "Whether a change made memory worse, and which operation did.",
     {{"before", "input of the base"}, {"after", "input of the pull request"}},
     "Compare {0} with {1}: call `diff_runs`. Say in two sentences whether the peak, the fragmentation or the failures "
     "got worse "
     "and by how much. Name the operations and tensors that make the difference (`operation` shows one). If nothing "
     "changed, say so."},
    {"size_deployment",
     "Size a deployment",
     "Which boards it fits, with how much room.",
     {{"input", "log, recording or TTNN module of the model"}, {"boards", "boards to consider"}},
     "For {0}, call `fit_boards` (boards: {1}); of a TTNN module call `predict`. Say which boards fit, the headroom on "
     "each and what "
     "limits it, the largest batch, and whether weights in bfp8 would change the answer (`weights_dtype`)."},
    {.name = NULL},
};

void ttm_mcp_put_prompt(ttm_json *j, const ttm_mcp_prompt *prompt) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "name", ttm_str_of(prompt->name));
  ttm_json_put_str(j, "title", ttm_str_of(prompt->title));
  ttm_json_put_str(j, "description", ttm_str_of(prompt->help));
  ttm_json_put_array(j, "arguments");
  for (size_t i = 0; i < TTM_MCP_PROMPT_ARGUMENTS && prompt->arguments[i].name; i++) {
    ttm_json_put_object(j, NULL);
    ttm_json_put_str(j, "name", ttm_str_of(prompt->arguments[i].name));
    ttm_json_put_str(j, "description", ttm_str_of(prompt->arguments[i].help));
    ttm_json_put_bool(j, "required", i == 0);
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_mcp_prompt_text(ttm_buf *out, const ttm_mcp_prompt *prompt, ttm_str arguments) {
  for (const char *at = prompt->text; *at; at++) {
    bool slot = at[0] == '{' && at[1] >= '0' && at[1] < '0' + TTM_MCP_PROMPT_ARGUMENTS && at[2] == '}';
    if (!slot) {
      ttm_buf_char(out, *at);
      continue;
    }
    size_t before = out->n;
    ttm_json_get_string(out, ttm_json_get_member(arguments, prompt->arguments[at[1] - '0'].name));
    if (out->n == before) ttm_buf_puts(out, "all");
    at += 2;
  }
}
