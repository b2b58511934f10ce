/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files that make statements. A statement is begun, told and ended; what fails for lack of memory shows at the end of all. Private to
 * analyze. */
#ifndef TTM_ANALYZE_TELL_H
#define TTM_ANALYZE_TELL_H

#include "analyze/say.h"
#include "analyze/statement.h"
#include "analyze/words.h"

typedef struct ttm_teller {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_statements *out;
  ttm_buf text; /* of the sentence being put together */
  bool failed;
} ttm_teller;

/* Begins a statement; the ones below belong to it until the next. */
ttm_statement *ttm_tell(ttm_teller *t, const char *id, ttm_topic topic, ttm_severity severity, ttm_basis basis);
/* Takes the sentence in t->text as the headline, the detail (further calls append), or a row of evidence, and empties it. */
void ttm_tell_headline(ttm_teller *t);
void ttm_tell_detail(ttm_teller *t);
void ttm_tell_point(ttm_teller *t, double mb, uint32_t op);
void ttm_tell_quantity(ttm_teller *t, const char *name, const char *unit, double value);
void ttm_tell_fix(ttm_teller *t, const ttm_remedy *remedy, const ttm_incident_text *what);
/* The log line it is about; the operation, and its line where none was told. */
void ttm_tell_line(ttm_teller *t, uint32_t line);
void ttm_tell_op(ttm_teller *t, uint32_t op);

#define ttm_headline(t, ...) (ttm_say(&(t)->text, (t)->f, __VA_ARGS__), ttm_tell_headline(t))
#define ttm_detail(t, ...) (ttm_say(&(t)->text, (t)->f, __VA_ARGS__), ttm_tell_detail(t))
#define ttm_point_at(t, mb, op, ...) (ttm_say(&(t)->text, (t)->f, __VA_ARGS__), ttm_tell_point(t, mb, op))

enum { TTM_NO_FIGURE = -1 };

/* Each tells one topic. What was looked for and not found is told too, and what this log cannot tell. */
void ttm_tell_failures(ttm_teller *t);
void ttm_tell_need(ttm_teller *t); /* of the whole program, where a module tells */
void ttm_tell_tests(ttm_teller *t);
void ttm_tell_devices(ttm_teller *t); /* of how many chips the peaks are */
void ttm_tell_peaks(ttm_teller *t);
void ttm_tell_alive(ttm_teller *t);
void ttm_tell_growth(ttm_teller *t);
void ttm_tell_freed_late(ttm_teller *t);
void ttm_tell_fragmentation(ttm_teller *t);
void ttm_tell_waste(ttm_teller *t);
void ttm_tell_padding(ttm_teller *t);
void ttm_tell_runs(ttm_teller *t);
void ttm_tell_layers(ttm_teller *t);
void ttm_tell_l1_core(ttm_teller *t);
void ttm_tell_traces(ttm_teller *t);
void ttm_tell_host(ttm_teller *t);
void ttm_tell_compiler(ttm_teller *t);    /* where a decision trace is beside the input */
void ttm_tell_device_time(ttm_teller *t); /* where the profiler's CSV is */
void ttm_tell_input(ttm_teller *t);

struct ttm_program_need;
struct ttm_board_need;
/* The same of a program and a board. */
void ttm_tell_needs(ttm_teller *t, const struct ttm_program_need *program, const struct ttm_board_need *row);

/* What is alive in a memory `when`: "at the DRAM peak". */
void ttm_tell_alive_set(ttm_teller *t, const ttm_alive_set *set, ttm_str when);

/* The sizes and addresses of a failure's message, as detail. */
void ttm_tell_numbers(ttm_teller *t, const ttm_incident_text *what);

/* "Unknown: ..." of a topic that takes the lives of tensors. True when it was told. */
bool ttm_tell_lives_unknown(ttm_teller *t, const char *id, ttm_topic topic, const char *what);

#endif
