/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "mcp/tools.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "parse/json_text.h"

#define INPUT                                                                                                         \
  {                                                                                                                   \
    "input",                                                                                                          \
        "log (.gz, .zst too), graph capture, recording, db.sqlite of ttnn-visualizer, TTNN module, report folder or " \
        "stored report",                                                                                              \
        TTM_MCP_INPUT, true, NULL                                                                                     \
  }
#define BOARDS                                                                                                        \
  {                                                                                                                   \
    "boards", "comma-separated: n150, n300, t3k, galaxy, p100, p150, p300; all when left out", TTM_MCP_OPTION, false, \
        "--board"                                                                                                     \
  }

const ttm_mcp_tool ttm_mcp_tools[] = {
    {"summary",
     "Summary of a run",
     "Peaks of DRAM and L1, the failure, the fixes, what is alive: one screen.",
     {"analyze", "--no-json", "--no-html"},
     {INPUT},
     false,
     false},
    {"explain_failure",
     "Verdict of a failure",
     "What an out-of-memory or clash message means: fragmented, insufficient or impossible, by how many bytes, what "
     "would "
     "have fit. Of pasted text, or of the failures in an input.",
     {"explain"},
     {{"text", "the message, pasted", TTM_MCP_TEXT, false, NULL},
      {"input", "a file that holds it", TTM_MCP_INPUT, false, NULL}},
     false,
     false},
    {"findings",
     "Every finding",
     "All statements with their evidence and the fixes, each with how it was verified.",
     {"ask", "--findings"},
     {INPUT,
      {"times", "operations CSV of tt-metal's profiler: adds memory over device time", TTM_MCP_FILE, false, "--times"},
      {"decision_trace", "decision trace of tt-mlir, or a folder of them: adds what the compiler planned", TTM_MCP_FILE,
       false, "--decision-trace"}},
     false,
     false},
    {"peak",
     "What fills the peak",
     "The operation that raised the peak and the tensors alive then, by class.",
     {"ask"},
     {INPUT, {"memory", "dram or l1; both when left out", TTM_MCP_SWITCH, false, "--at-peak"}},
     false,
     false},
    {"live_set",
     "Memory at any moment",
     "Live tensors, free blocks and fragmentation right before an operation.",
     {"ask"},
     {INPUT, {"at", "an operation's index, line:N of the log, or peak", TTM_MCP_OPTION, true, "--at"}},
     false,
     false},
    {"operation",
     "One operation",
     "Inputs, outputs, memory before it and its delta, log or source line.",
     {"ask"},
     {INPUT, {"index", "index of the operation in the reports", TTM_MCP_OPTION, true, "--op"}},
     false,
     false},
    {"operations",
     "A range of operations",
     "DRAM before each of them, its delta, name, location and log line.",
     {"ask"},
     {INPUT, {"range", "A-B, indices of the reports", TTM_MCP_OPTION, true, "--range"}},
     false,
     false},
    {"find_operations",
     "Operations by name",
     "Operations whose name or location is or contains this: index, DRAM before it, its delta, log line.",
     {"ask"},
     {INPUT, {"name", "name or location, or part of one; * stands for anything", TTM_MCP_OPTION, true, "--ops"}},
     false,
     false},
    {"tensor",
     "Tensors by name",
     "Weights and results whose name or location is or contains this; * stands for anything.",
     {"ask"},
     {INPUT, {"name", "name, or part of one", TTM_MCP_OPTION, true, "--tensor"}},
     false,
     false},
    {"fit_boards",
     "Will it fit",
     "Which boards have enough memory for this run, replayed, with headroom and largest batch.",
     {"fit", "--no-history"},
     {INPUT,
      BOARDS,
      {"scale_batch", "replay N times the batch", TTM_MCP_OPTION, false, "--scale-batch"},
      {"weights_dtype", "bf16, bfp8 or bfp4", TTM_MCP_OPTION, false, "--weights-dtype"}},
     false,
     false},
    {"plan_cache",
     "How large a KV cache fits",
     "The most KV-cache blocks and tokens beside the rest on each board, trace_region_size and l1_small_size, and the "
     "settings for tt_transformers, vLLM on TT and tt-inference-server.",
     {"plan"},
     {INPUT,
      BOARDS,
      {"trace_region", "trace_region_size to count with, in bytes", TTM_MCP_OPTION, false, "--trace-region"}},
     false,
     false},
    {"verify_fix",
     "Try a change",
     "The replayed peak with a change, and whether what failed then has room.",
     {"verify"},
     {INPUT, {"changes", "such as dtype=bfp8:layers.*, free=NAME, board=p150", TTM_MCP_MANY, true, "--change"}},
     false,
     false},
    {"predict",
     "What a module needs",
     "What a compiled TTNN module, or a program that died, needs to finish.",
     {"predict"},
     {INPUT, BOARDS, {"runner", "compiled or python", TTM_MCP_OPTION, false, "--runner"}},
     false,
     false},
    {"diff_runs",
     "Compare two runs",
     "What changed: peaks, operations, failures, tensors.",
     {"diff"},
     {{"before", "the older input", TTM_MCP_INPUT, true, NULL},
      {"after", "the newer input", TTM_MCP_INPUT, true, NULL}},
     false,
     false},
    {"history",
     "Runs over time",
     "The run in which a peak changed or a failure began, which tensors and layers changed it, and when memory will be "
     "full. Without a model all of them are listed.",
     {"history"},
     {{"model", "as the history names it; * stands for anything", TTM_MCP_OPTION, false, "--model"},
      {"board", "n150, p150, ...; all when left out", TTM_MCP_OPTION, false, "--board"},
      {"since", "7d, 12h, 2w or 2026-11-16", TTM_MCP_OPTION, false, "--since"}},
     false,
     false},
    {"circular_buffers",
     "Circular buffers",
     "L1 of each program in a TT-Metal log: buffers, cores, clashes.",
     {"cb", "log"},
     {{"input", "a TT-Metal log or memory report", TTM_MCP_FILE, true, NULL}},
     false,
     false},
    {"run_program",
     "Run on a mock board",
     "Runs a ttnn program on a board that is not here, and reports its memory.",
     {"run"},
     {{"board", "n150, p150, ...", TTM_MCP_OPTION, true, "--board"},
      {"command", "program and arguments", TTM_MCP_REST, true, NULL}},
     true,
     true},
    {"fit_program",
     "Will this program fit",
     "Runs a ttnn program on a mock board of each kind, or finds the largest argument with which it fits.",
     {"fit"},
     {BOARDS,
      {"find", "such as BATCH=1..256 or SEQ=1024..131072*2; {BATCH} in the command", TTM_MCP_MANY, false, "--ops"},
      {"command", "program and arguments", TTM_MCP_REST, true, NULL}},
     true,
     false},
    {.name = NULL},
};

/* ---- What they are ------------------------------------------------------------------------------------------------------- */

static bool is_list(const ttm_mcp_param *param) { return param->kind == TTM_MCP_MANY || param->kind == TTM_MCP_REST; }

static void put_param(ttm_json *j, const ttm_mcp_param *param) {
  ttm_json_put_object(j, param->name);
  ttm_json_put_str(j, "type", is_list(param) ? TTM_LIT("array") : TTM_LIT("string"));
  if (is_list(param)) {
    ttm_json_put_object(j, "items");
    ttm_json_put_str(j, "type", TTM_LIT("string"));
    ttm_json_end(j);
  }
  ttm_json_put_str(j, "description", ttm_str_of(param->help));
  ttm_json_end(j);
}

static void put_output_schema(ttm_json *j) {
  static const char *const names[] = {"command", "exit_status"};
  ttm_json_put_object(j, "outputSchema");
  ttm_json_put_str(j, "type", TTM_LIT("object"));
  ttm_json_put_object(j, "properties");
  for (size_t i = 0; i < 2; i++) {
    ttm_json_put_object(j, names[i]);
    ttm_json_put_str(j, "type", i == 1 ? TTM_LIT("integer") : TTM_LIT("string"));
    ttm_json_end(j);
  }
  ttm_json_end(j);
  ttm_json_put_array(j, "required");
  for (size_t i = 0; i < 2; i++) ttm_json_put_str(j, NULL, ttm_str_of(names[i]));
  ttm_json_end(j);
  ttm_json_end(j);
}

void ttm_mcp_put_tool(ttm_json *j, const ttm_mcp_tool *tool) {
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "name", ttm_str_of(tool->name));
  ttm_json_put_str(j, "title", ttm_str_of(tool->title));
  ttm_json_put_str(j, "description", ttm_str_of(tool->help));
  ttm_json_put_object(j, "inputSchema");
  ttm_json_put_str(j, "type", TTM_LIT("object"));
  ttm_json_put_object(j, "properties");
  for (size_t i = 0; i < TTM_MCP_PARAMS && tool->params[i].name; i++) put_param(j, &tool->params[i]);
  ttm_json_end(j);
  ttm_json_put_array(j, "required");
  for (size_t i = 0; i < TTM_MCP_PARAMS && tool->params[i].name; i++)
    if (tool->params[i].required) ttm_json_put_str(j, NULL, ttm_str_of(tool->params[i].name));
  ttm_json_end(j);
  ttm_json_put_bool(j, "additionalProperties", false);
  ttm_json_end(j);
  put_output_schema(j);
  ttm_json_put_object(j, "annotations");
  ttm_json_put_bool(j, "readOnlyHint", !tool->runs);
  ttm_json_put_bool(j, "destructiveHint", tool->runs);
  ttm_json_put_bool(j, "idempotentHint", !tool->runs);
  ttm_json_put_bool(j, "openWorldHint", tool->runs);
  ttm_json_end(j);
  ttm_json_end(j);
}

/* ---- Paths ---------------------------------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *root) {
  size_t n = strlen(root);
  if (n == 1) return true; /* "/" */
  return !strncmp(path, root, n) && (path[n] == '/' || path[n] == '\0');
}

/* The real path of an input: below a root, or a stored report by its name. */
static char *resolve(const ttm_mcp *mcp, const char *name) {
  char *real = realpath(name, NULL);
  if (!real && mcp->store && !strchr(name, '/')) {
    ttm_buf path = {0};
    ttm_buf_printf(&path, "%s/%s", mcp->store, name);
    ttm_buf_char(&path, '\0');
    real = path.failed ? NULL : realpath(path.at, NULL);
    ttm_buf_free(&path);
  }
  struct stat st;
  bool readable = real && !stat(real, &st) && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)); /* a device may never end */
  for (const char *const *root = mcp->roots; readable && *root; root++)
    if (is_below(real, *root)) return real;
  free(real);
  return NULL;
}

/* ---- Command lines -------------------------------------------------------------------------------------------------------- */

static int add_word(ttm_mcp_call *call, const char *before, ttm_str word) {
  ttm_buf text = {0};
  if (before) ttm_buf_puts(&text, before);
  ttm_buf_put(&text, word);
  char *copy = ttm_buf_take(&text);
  if (!copy || ttm_vec_push(&call->words, copy)) return ttm_free(copy), TTM_ENOMEM;
  return TTM_OK;
}

static int add_option(ttm_mcp_call *call, const char *option, ttm_str value) {
  ttm_buf text = {0};
  ttm_buf_printf(&text, "%s=", option);
  ttm_buf_char(&text, '\0');
  int status = text.failed ? TTM_ENOMEM : add_word(call, text.at, value);
  ttm_buf_free(&text);
  return status;
}

static int add_input(ttm_mcp_call *call, const ttm_mcp *mcp, const ttm_mcp_param *param, ttm_str name, ttm_error *err) {
  ttm_buf text = {0};
  ttm_buf_put(&text, name);
  ttm_buf_char(&text, '\0');
  char *real = text.failed || strlen(text.at) != name.n ? NULL : resolve(mcp, text.at);
  ttm_buf_free(&text);
  if (!real)
    return ttm_error_set(err, TTM_EUSAGE,
                         "'%.*s' is not there, or not below a folder that this server may read (--root)",
                         (int)(name.n < 200 ? name.n : 200), name.p);
  ttm_str path = ttm_str_of(real);
  int status = param->option ? add_option(call, param->option, path) : add_word(call, NULL, path);
  if (param->kind == TTM_MCP_INPUT && !call->kept) call->kept = call->words.n - 1;
  free(real);
  return status ? ttm_error_nomem(err) : TTM_OK;
}

static int add_value(ttm_mcp_call *call, const ttm_mcp *mcp, const ttm_mcp_param *param, ttm_str value,
                     ttm_error *err) {
  if (memchr(value.p, '\0', value.n)) return ttm_error_set(err, TTM_EUSAGE, "'%s' holds a NUL", param->name);
  if (param->kind <= TTM_MCP_FILE) return add_input(call, mcp, param, value, err);
  int status = TTM_OK;
  if (param->kind == TTM_MCP_TEXT) {
    ttm_buf_put(&call->input, value);
    status = call->input.failed ? TTM_ENOMEM : add_word(call, NULL, TTM_LIT("-"));
  } else {
    status = param->kind == TTM_MCP_REST ? add_word(call, NULL, value) : add_option(call, param->option, value);
  }
  return status ? ttm_error_nomem(err) : TTM_OK;
}

/* A string of the request; false when the value is none. */
static bool take_string(ttm_buf *out, ttm_str value) {
  out->n = 0;
  if (!value.n || value.p[0] != '"') return false;
  ttm_json_get_string(out, value);
  return true;
}

static int add_param(ttm_mcp_call *call, const ttm_mcp *mcp, const ttm_mcp_param *param, ttm_str arguments,
                     ttm_error *err) {
  ttm_str value = ttm_json_get_member(arguments, param->name), element;
  ttm_buf text = {0};
  int status = TTM_OK;
  if (!value.n) {
    if (param->required) return ttm_error_set(err, TTM_EUSAGE, "'%s' is missing", param->name);
    if (param->kind == TTM_MCP_SWITCH && add_word(call, NULL, ttm_str_of(param->option))) return ttm_error_nomem(err);
    return TTM_OK;
  }
  if (param->kind == TTM_MCP_REST && add_word(call, NULL, TTM_LIT("--"))) return ttm_error_nomem(err);
  if (is_list(param)) {
    size_t n = 0;
    for (ttm_str rest = value; !status && ttm_json_get_element(&rest, &element); n++)
      status = take_string(&text, element) ? add_value(call, mcp, param, ttm_buf_str(&text), err)
                                           : ttm_error_set(err, TTM_EUSAGE, "'%s' is a list of strings", param->name);
    if (!status && !n) status = ttm_error_set(err, TTM_EUSAGE, "'%s' is a list of strings", param->name);
  } else {
    status = take_string(&text, value) ? add_value(call, mcp, param, ttm_buf_str(&text), err)
                                       : ttm_error_set(err, TTM_EUSAGE, "'%s' is a string", param->name);
  }
  if (text.failed) status = ttm_error_nomem(err);
  ttm_buf_free(&text);
  return status;
}

int ttm_mcp_call_words(ttm_mcp_call *call, const ttm_mcp *mcp, const char *const *words, ttm_error *err) {
  int status = add_word(call, NULL, ttm_str_of(mcp->program));
  for (; *words && !status; words++) status = add_word(call, NULL, ttm_str_of(*words));
  return status ? ttm_error_nomem(err) : TTM_OK;
}

int ttm_mcp_call_make(ttm_mcp_call *call, const ttm_mcp *mcp, const ttm_mcp_tool *tool, ttm_str arguments,
                      ttm_error *err) {
  *call = (ttm_mcp_call){.input = {0}};
  if (tool->runs && !mcp->allow_run)
    return ttm_error_set(err, TTM_EUSAGE, "this server starts no programs: it was begun without --allow-run");
  bool kept =
      !tool->runs && tool->params[0].kind == TTM_MCP_OPTION; /* no input: it reads what lies beside the reports */
  char *store = kept && mcp->store ? resolve(mcp, mcp->store) : NULL;
  if (kept && !store)
    return ttm_error_set(err, TTM_EUSAGE,
                         "the history is not there, or not below a folder that this server may read (--root)");
  free(store);
  int status = ttm_mcp_call_words(call, mcp, tool->command, err);
  size_t given = call->words.n;
  for (size_t i = 0; i < TTM_MCP_PARAMS && tool->params[i].name && !status; i++)
    status = add_param(call, mcp, &tool->params[i], arguments, err);
  if (!status && call->words.n == given && !kept)
    status = ttm_error_set(err, TTM_EUSAGE, "'%s' is missing", tool->params[0].name);
  return status;
}

void ttm_mcp_call_free(ttm_mcp_call *call) {
  for (size_t i = 0; i < call->words.n; i++) ttm_free(call->words.at[i]);
  ttm_vec_free(&call->words);
  ttm_buf_free(&call->input);
}
