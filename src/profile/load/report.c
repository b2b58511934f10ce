/* SPDX-License-Identifier: Apache-2.0 */
/* The files are turned back into the log they came from, line by line, and that log is read like any other: one parser, one
 * builder, one truth. Afterwards the rows get the line numbers of the real log where the files tell them. */
#include "profile/read_report.h"

#include <math.h>

#include "base/error.h"
#include "parse/json_text.h"
#include "profile/feed.h"

enum { FEED_BYTES = 1 << 18 };

typedef struct retelling {
  ttm_feed *feed;
  ttm_buf out;                /* log text not fed yet */
  ttm_buf scratch;            /* reused */
  ttm_buf program;            /* const-eval program that runs, empty for none */
  double run;                 /* top-level run that is open, -1 for none */
  double after[TTM_MEMORIES]; /* allocated once the last operation was done; NAN when not told */
  uint32_t after_line;
  ttm_str last;            /* the last operation's states, to print those after it with */
  TTM_VEC(uint32_t) lines; /* of the real log: one per operation and extra state, in order */
  bool lines_known;
} retelling;

static bool is_null(ttm_str value) { return value.n == 0 || ttm_str_eq(value, TTM_LIT("null")); }

/* Where a row stood in the real log; 0 when it does not say. */
static uint32_t line_of(ttm_str row) {
  uint64_t line = ttm_json_get_count(ttm_json_get_member(row, "line"), 0);
  return line < UINT32_MAX ? (uint32_t)line : 0;
}

/* A string of the files on one line of the log: line ends inside become blanks. */
static void put_line_text(retelling *r, ttm_str value) {
  ttm_buf_clear(&r->scratch);
  ttm_json_get_string(&r->scratch, value);
  for (size_t i = 0; i < r->scratch.n; i++) {
    char c = r->scratch.at[i];
    ttm_buf_char(&r->out, c == '\n' || c == '\r' ? ' ' : c);
  }
}

/* The same inside an MLIR string. */
static void put_quoted(retelling *r, ttm_str value) {
  ttm_buf_clear(&r->scratch);
  ttm_json_get_string(&r->scratch, value);
  ttm_buf_char(&r->out, '"');
  for (size_t i = 0; i < r->scratch.n; i++) {
    unsigned char c = (unsigned char)r->scratch.at[i];
    if (c < 0x20 || c == '"' || c == '\\')
      ttm_buf_printf(&r->out, "\\%02X", c);
    else
      ttm_buf_char(&r->out, (char)c);
  }
  ttm_buf_char(&r->out, '"');
}

static int feed(retelling *r, size_t from, ttm_error *err) {
  if (r->out.failed || r->scratch.failed || r->program.failed) return ttm_error_nomem(err);
  if (r->out.n < from) return TTM_OK;
  int code = ttm_feed_put(r->feed, r->out.at, r->out.n, err);
  ttm_buf_clear(&r->out);
  return code;
}

#define RUNTIME "            RuntimeTTNN |    DEBUG | "
#define ALWAYS "                 Always |     INFO | "

/* ---- Module texts ------------------------------------------------------------------------------------------------- */

static void put_dump(retelling *r, const char *stage, ttm_str text) {
  if (text.n < 3) return; /* "" */
  ttm_buf_printf(&r->out,
                 "2026-01-01 00:00:00.000 (   0.000s) [        0]      module_builder.cc:1     1| MLIR Module %s:\n",
                 stage);
  ttm_json_get_string(&r->out, text);
  ttm_buf_puts(&r->out, "\n------------------ END OF MLIR MODULE ------------------\n");
}

/* A module of nothing but its arguments, when the report kept those alone. */
static void put_arguments(retelling *r, ttm_str registry) {
  ttm_str entries = ttm_json_get_member(registry, "entries"), entry;
  bool any = false;
  while (ttm_json_get_element(&entries, &entry)) {
    ttm_str shape = ttm_json_get_member(entry, "shape"), dtype = ttm_json_get_member(entry, "dtype");
    if (is_null(dtype)) continue;
    if (!any)
      ttm_buf_puts(&r->out,
                   "2026-01-01 00:00:00.000 (   0.000s) [        0]      module_builder.cc:1     1| MLIR Module "
                   "ttnn:\nmodule {\n  func.func @main(");
    if (any) ttm_buf_puts(&r->out, ", ");
    any = true;
    put_line_text(r, ttm_json_get_member(entry, "ssa"));
    ttm_buf_puts(&r->out, ": tensor<");
    if (!is_null(shape)) put_line_text(r, shape), ttm_buf_char(&r->out, 'x');
    put_line_text(r, dtype);
    ttm_buf_puts(&r->out, "> {ttcore.argument_type = #ttcore.argument_type<");
    put_line_text(r, ttm_json_get_member(entry, "type"));
    ttm_buf_puts(&r->out, ">, ttir.name = ");
    put_quoted(r, ttm_json_get_member(entry, "name"));
    ttm_buf_char(&r->out, '}');
  }
  if (any) ttm_buf_puts(&r->out, ") {\n    return\n  }\n}\n------------------ END OF MLIR MODULE ------------------\n");
}

static void put_modules(retelling *r, const ttm_report_texts *texts) {
  ttm_str ttir = ttm_json_get_member(ttm_json_get_member(texts->ir, "ttir"), "text");
  ttm_str ttnn = ttm_json_get_member(ttm_json_get_member(texts->ir, "ttnn"), "text");
  put_dump(r, "ttir", ttir);
  put_dump(r, "ttnn", ttnn);
  if (ttir.n < 3 && ttnn.n < 3) put_arguments(r, texts->registry);
}

/* ---- States ------------------------------------------------------------------------------------------------------- */

static void put_memory_line(retelling *r, int m, ttm_str level, double allocated) {
  static const char *const keys[] = {"totalBytesPerBank_MB", "totalBytesFreePerBank_MB",
                                     "largestContiguousBytesFreePerBank_MB"};
  double total = ttm_json_get_number(ttm_json_get_member(level, keys[0]), 0);
  double before = ttm_json_get_number(ttm_json_get_member(level, "totalBytesAllocatedPerBank_MB"), 0);
  double free_now = ttm_json_get_number(ttm_json_get_member(level, keys[1]), 0);
  double largest = ttm_json_get_number(ttm_json_get_member(level, keys[2]), 0);
  if (!isnan(allocated)) { /* after the operation: the files do not say how the free blocks lie */
    free_now = fmax(0, free_now + before - allocated);
    largest = fmin(largest, free_now);
    before = allocated;
  }
  ttm_buf_printf(&r->out,
                 ALWAYS
                 "Device %s memory state: MemoryView{numBanks: %.0f, totalBytesPerBank: %.3f MB, "
                 "totalBytesAllocatedPerBank: %.3f MB, totalBytesFreePerBank: %.3f MB, "
                 "largestContiguousBytesFreePerBank: %.3f MB}\n",
                 ttm_memory_name((ttm_memory)m), fabs(ttm_json_get_number(ttm_json_get_member(level, "numBanks"), 0)),
                 fabs(total), fabs(before), fabs(free_now), fabs(largest));
}

static void put_state(retelling *r, ttm_str op_type, ttm_str memory, const double *after) {
  if (is_null(memory)) return;
  ttm_buf_puts(&r->out, ALWAYS "Device memory state before operation ");
  if (is_null(op_type))
    ttm_buf_puts(&r->out, after ? "DeallocateOp" : "Op");
  else
    put_line_text(r, op_type);
  ttm_buf_char(&r->out, '\n');
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_str level = ttm_json_get_member(memory, ttm_memory_name((ttm_memory)m));
    if (level.n) put_memory_line(r, m, level, after ? after[m] : NAN);
  }
}

/* When frees lie between two operations, the state after the first one is not the state before the second: it is printed before
 * a free of something nobody knows, which is what stood there. */
static void put_state_after(retelling *r, ttm_str next_memory) {
  bool differs = is_null(next_memory) && r->last.n;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_str level = ttm_json_get_member(next_memory, ttm_memory_name((ttm_memory)m));
    double allocated = ttm_json_get_number(ttm_json_get_member(level, "totalBytesAllocatedPerBank_MB"), NAN);
    if (!isnan(r->after[m]) && !isnan(allocated) && fabs(allocated - r->after[m]) > 0.0005) differs = true;
  }
  if (!differs || isnan(r->after[TTM_DRAM])) return;
  ttm_buf_puts(
      &r->out, RUNTIME
      "Executing operation: \"ttnn.deallocate\"(%ttmem) <{force = false}> : (tensor<1xbf16>) -> () loc(unknown)\n");
  put_state(r, TTM_LIT(""), r->last, r->after);
  if (ttm_vec_push(&r->lines, r->after_line)) r->out.failed = true;
}

static void remember_state_after(retelling *r, ttm_str element, uint32_t line) {
  ttm_str effect = ttm_json_get_member(element, "effect_MB");
  r->last = ttm_json_get_member(element, "memory");
  r->after_line = line;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_str level = ttm_json_get_member(r->last, ttm_memory_name((ttm_memory)m));
    r->after[m] = ttm_json_get_number(ttm_json_get_member(level, "totalBytesAllocatedPerBank_MB"), NAN) +
                  ttm_json_get_number(ttm_json_get_member(effect, ttm_memory_name((ttm_memory)m)), NAN);
  }
}

/* ---- Programs ----------------------------------------------------------------------------------------------------- */

static void put_program(retelling *r, const char *verb, ttm_str name) {
  ttm_buf_printf(&r->out, RUNTIME "%s execution of program: ", verb);
  ttm_buf_put(&r->out, name);
  ttm_buf_char(&r->out, '\n');
}

static void end_const_eval(retelling *r) {
  if (r->program.n) put_program(r, "Finished", ttm_buf_str(&r->program));
  ttm_buf_clear(&r->program);
}

static void put_programs(retelling *r, ttm_str element) {
  double run = ttm_json_get_number(ttm_json_get_member(element, "run"), 0);
  ttm_str inner = ttm_json_get_member(element, "const_eval_graph");
  ttm_buf_clear(&r->scratch);
  if (!is_null(inner)) ttm_json_get_string(&r->scratch, inner);
  bool same = run == r->run && ttm_str_eq(ttm_buf_str(&r->scratch), ttm_buf_str(&r->program));
  if (same) return;
  ttm_buf name = r->scratch; /* the calls below use scratch */
  r->scratch = (ttm_buf){0};
  end_const_eval(r);
  if (run != r->run) {
    if (r->run >= 0) put_program(r, "Finished", TTM_LIT("main"));
    put_program(r, "Starting", TTM_LIT("main"));
    r->run = run;
  }
  if (name.n) {
    if (ttm_str_eq(ttm_json_get_member(element, "const_eval_cache_miss"), TTM_LIT("true"))) {
      ttm_buf_puts(&r->out, RUNTIME "Cache miss or invalid cache for function: ");
      ttm_buf_put(&r->out, ttm_buf_str(&name));
      ttm_buf_char(&r->out, '\n');
    }
    put_program(r, "Starting", ttm_buf_str(&name));
  }
  ttm_buf_free(&r->program);
  r->program = name;
}

/* ---- Operations --------------------------------------------------------------------------------------------------- */

static void put_operation(retelling *r, ttm_str operation) {
  ttm_str name = ttm_json_get_member(operation, "mlir_op"), result = ttm_json_get_member(operation, "result");
  ttm_str inputs = ttm_json_get_member(operation, "inputs"), types = ttm_json_get_member(operation, "input_types"),
          input;
  ttm_str outputs = ttm_json_get_member(operation, "output_type"), location = ttm_json_get_member(operation, "loc");
  ttm_str attributes = ttm_json_get_member(operation, "attributes");
  bool cached = ttm_str_contains(name, TTM_LIT("load_cached")), later = false;
  if (is_null(name) || is_null(types) || is_null(outputs)) return; /* a state without its operation line */
  ttm_buf_puts(&r->out, RUNTIME "Executing operation: ");
  if (!is_null(result)) {
    double results = ttm_json_get_number(ttm_json_get_member(operation, "results"), 1);
    put_line_text(r, result);
    if (results > 1 && results < 65536) ttm_buf_printf(&r->out, ":%.0f", results);
    ttm_buf_puts(&r->out, " = ");
  }
  if (cached)
    put_line_text(r, name);
  else
    put_quoted(r, name);
  ttm_buf_char(&r->out, '(');
  while (ttm_json_get_element(&inputs, &input)) {
    if (later) ttm_buf_puts(&r->out, ", ");
    later = true;
    put_line_text(r, input);
  }
  ttm_buf_char(&r->out, ')');
  if (!is_null(attributes)) {
    ttm_buf_puts(&r->out, " <{");
    put_line_text(r, attributes);
    ttm_buf_puts(&r->out, "}>");
  }
  ttm_buf_puts(&r->out, " : (");
  put_line_text(r, types);
  ttm_buf_puts(&r->out, ") -> ");
  put_line_text(r, outputs);
  ttm_buf_puts(&r->out, " loc(");
  if (is_null(location) || ttm_str_starts(location, TTM_LIT("\"@")))
    ttm_buf_puts(&r->out, "unknown");
  else
    put_quoted(r, location);
  ttm_buf_puts(&r->out, ")\n");
}

static int put_elements(retelling *r, const ttm_report_texts *texts, ttm_error *err) {
  ttm_str elements = ttm_json_get_member(texts->memory, "operations"), operations = texts->operations, element,
          operation;
  int code = TTM_OK;
  while (!code && ttm_json_get_element(&elements, &element)) {
    ttm_str memory = ttm_json_get_member(element, "memory");
    if (!ttm_json_get_element(&operations, &operation)) operation = element; /* its names at least */
    r->lines_known |= ttm_json_get_member(element, "line").n > 0;
    put_state_after(r, memory);
    put_programs(r, element);
    put_operation(r, operation);
    put_state(r, ttm_json_get_member(element, "op_type"), memory, NULL);
    uint32_t own = line_of(element);
    if (ttm_vec_push(&r->lines, own)) return ttm_error_nomem(err);
    remember_state_after(r, element, own);
    code = feed(r, FEED_BYTES, err);
  }
  put_state_after(r, TTM_LIT(""));
  end_const_eval(r);
  return code;
}

static void put_incidents(retelling *r, ttm_str findings) {
  ttm_str incidents = ttm_json_get_member(findings, "incidents"), incident;
  while (ttm_json_get_element(&incidents, &incident)) {
    ttm_buf_puts(&r->out, "2026-01-01 00:00:00.000 | critical |          Always | TT_FATAL: ");
    put_line_text(r, ttm_json_get_member(incident, "text"));
    ttm_buf_puts(&r->out, " (assert.hpp:104)\n");
  }
}

/* ---- Afterwards --------------------------------------------------------------------------------------------------- */

/* The rows learn where they stood in the real log; 0 when the files do not say. */
static void restore_lines(ttm_profile *p, const retelling *r, ttm_str findings) {
  ttm_str incidents = ttm_json_get_member(findings, "incidents"), incident;
  bool same = p->ops.n == r->lines.n;
  for (size_t i = 0; i < p->ops.n; i++) {
    uint32_t line = same && r->lines_known ? r->lines.at[i] : 0;
    p->ops.at[i].line = line;
    if (p->ops.at[i].state < p->states.n) p->states.at[p->ops.at[i].state].line = line;
  }
  for (size_t i = 0; i < p->incidents.n; i++) {
    bool told = ttm_json_get_element(&incidents, &incident);
    p->incidents.at[i].line = told ? line_of(incident) : 0;
  }
}

static int restore_source(ttm_profile *p, retelling *r, ttm_str findings) {
  ttm_str input = ttm_json_get_member(findings, "input"), path = ttm_json_get_member(input, "path");
  p->seen.from_report = true;
  p->seen.cut = ttm_str_eq(ttm_json_get_member(input, "truncated"), TTM_LIT("true"));
  p->seen.unfinished = 0; /* the retold log ends where the files end */
  p->seen.bytes = ttm_json_get_count(ttm_json_get_member(input, "bytes"), 0);
  p->seen.lines = ttm_json_get_count(ttm_json_get_member(input, "lines"), 0);
  p->seen.deallocations = ttm_json_get_count(ttm_json_get_member(input, "deallocations"), 0);
  if (is_null(path)) return TTM_OK;
  ttm_buf_clear(&r->scratch);
  ttm_json_get_string(&r->scratch, path);
  return r->scratch.failed ? TTM_ENOMEM : ttm_intern_add(&p->strings, ttm_buf_str(&r->scratch), &p->path);
}

int ttm_profile_read_report(ttm_profile **out, const ttm_report_texts *texts, const char *path, ttm_error *err) {
  retelling r = {.run = -1, .after = {NAN, NAN, NAN, NAN}};
  ttm_profile *p = NULL;
  int code = ttm_feed_begin(&r.feed, path, NULL, err);
  if (code) return code;
  put_modules(&r, texts);
  code = put_elements(&r, texts, err);
  put_incidents(&r, texts->findings);
  if (!code) code = feed(&r, 0, err);
  if (code)
    ttm_feed_free(r.feed);
  else
    code = ttm_feed_end(r.feed, &p, err);
  if (!code) restore_lines(p, &r, texts->findings);
  if (!code && restore_source(p, &r, texts->findings)) code = ttm_error_nomem(err);
  if (code == TTM_ENODATA)
    ttm_error_set(err, TTM_ENODATA, "'%s' holds no operations; analyse the log again: ttmem analyze LOG", path);
  ttm_buf_free(&r.out);
  ttm_buf_free(&r.scratch);
  ttm_buf_free(&r.program);
  ttm_vec_free(&r.lines);
  if (code)
    ttm_profile_free(p);
  else
    *out = p;
  return code;
}
