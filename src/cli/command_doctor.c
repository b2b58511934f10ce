/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem doctor [LOG]: why a log does not hold what it should, and the commands that help. */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/doctor_ttnn.h"
#include "cli/terminal.h"
#include "launch/switches.h"
#include "report/run/doctor.h"
#include "report/run/other_command.h"

/* ---- Environment -------------------------------------------------------------------------------------------------- */

/* With a log, a variable that is not set here is no finding: the log itself shows what it was made with. */
static void check_switch(ttm_doctor *d, const ttm_switch *s, bool has_log) {
  const char *value = getenv(s->name);
  char title[768], fix[256], room[TTM_SHOWN_ROOM];
  snprintf(fix, sizeof fix, "export %s=%s", s->name, s->value);
  if (value && !ttm_switch_judge(s, value)) {
    ttm_doctor_say(d, "ok", "%s=%s", s->name, ttm_doctor_shown(d, room, value));
  } else if (value) {
    snprintf(title, sizeof title, "%s=%s: %s", s->name, ttm_doctor_shown(d, room, value), ttm_switch_judge(s, value));
    ttm_doctor_finding(d, title, NULL, fix);
  } else if (has_log) {
    ttm_doctor_say(d, "note", "%s is not set here; 'ttmem run' sets it", s->name);
  } else {
    snprintf(title, sizeof title, "%s is not set: the log will lack %s", s->name, s->gives);
    ttm_doctor_finding(d, title, "'ttmem run' sets it. Otherwise:", fix);
  }
}

static void check_environment(ttm_doctor *d, bool has_log) {
  ttm_doc_heading(&d->doc, "Environment");
  for (size_t i = 0; i < TTM_SWITCHES; i++) check_switch(d, &ttm_switches[i], has_log);
  for (size_t i = 0; i < ttm_hindrance_count; i++) {
    const ttm_hindrance *h = &ttm_hindrances[i];
    const char *value = getenv(h->name);
    char title[768], fix[256], room[TTM_SHOWN_ROOM];
    if (!ttm_hindrance_applies(h, value)) continue;
    snprintf(title, sizeof title, "%s=%s %s", h->name, ttm_doctor_shown(d, room, value),
             h->harmful ? "removes lines from the log" : "is obsolete");
    snprintf(fix, sizeof fix, "unset %s", h->name);
    ttm_doctor_finding(d, title, h->why, fix);
  }
}

/* ---- Build -------------------------------------------------------------------------------------------------------- */

/* 1 when the file holds the text, 0 when not, -1 when it cannot be read. Mapped: libraries are large. */
static int file_contains(const char *path, const char *text) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC), found = -1;
  if (fd < 0) return -1;
  if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
      found = memmem(bytes, (size_t)st.st_size, text, strlen(text)) != NULL;
      munmap(bytes, (size_t)st.st_size);
    }
  }
  close(fd);
  return found;
}

#define REBUILD                                                                        \
  "cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Debug -DTT_RUNTIME_DEBUG=ON  # tt-xla: " \
  "cmake --preset debug\ncmake --build build"

static void judge_build(ttm_doctor *d, const char *path, int has_debug) {
  char title[768], room[TTM_SHOWN_ROOM];
  if (has_debug) {
    ttm_doctor_say(d, "ok", "%s: built with TT_RUNTIME_DEBUG=ON", ttm_doctor_shown(d, room, path));
    return;
  }
  snprintf(title, sizeof title, "%s: built without TT_RUNTIME_DEBUG=ON", ttm_doctor_shown(d, room, path));
  ttm_doctor_finding(d, title,
                     "This build prints no memory states and no operation lines, whatever the environment sets. "
                     "CMAKE_BUILD_TYPE=Debug alone does not enable it.",
                     REBUILD);
}

/* CMake's cache says how a build folder was configured; a runtime library that can print operations holds their text. */
static unsigned look_at(ttm_doctor *d, const char *pattern, const char *needle) {
  glob_t found;
  unsigned seen = 0;
  if (glob(pattern, 0, NULL, &found)) return 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    bool is_cache = strstr(found.gl_pathv[i], "CMakeCache.txt") != NULL;
    if (is_cache && file_contains(found.gl_pathv[i], "TT_RUNTIME_DEBUG:") != 1) continue; /* of another project */
    int has = file_contains(found.gl_pathv[i], needle);
    if (has < 0) continue;
    judge_build(d, found.gl_pathv[i], has);
    seen++;
  }
  globfree(&found);
  return seen;
}

static void check_build(ttm_doctor *d, bool proven) {
  const char *environment = getenv("VIRTUAL_ENV");
  char pattern[4096];
  unsigned seen;
  ttm_doc_heading(&d->doc, "Build");
  if (proven) {
    ttm_doctor_say(d, "ok", "the log has DEBUG lines of the runtime: it was built with TT_RUNTIME_DEBUG=ON");
    return;
  }
  seen = look_at(d, "build/CMakeCache.txt", "TT_RUNTIME_DEBUG:BOOL=ON");
  if (environment && *environment) {
    snprintf(pattern, sizeof pattern, "%s/lib/python3*/site-packages/pjrt_plugin_tt/lib/libTTMLIRRuntime.so",
             environment);
    seen += look_at(d, pattern, "Executing operation: ");
  }
  if (!seen)
    ttm_doctor_say(d, "note",
                   "no build found: neither build/CMakeCache.txt nor pjrt_plugin_tt in an active virtual environment. "
                   "A full log needs a build with -DTT_RUNTIME_DEBUG=ON (tt-xla: cmake --preset debug)");
}

/* ---- The whole ---------------------------------------------------------------------------------------------------- */

/* "what is wrong,\nin lines.\nTo get a full log: ...\n  commands", or "what it is:\n  command": the first part is the finding, the
 * second, which begins with `help`, what helps. */
static void tell_diagnosis(ttm_doctor *d, char *message, const char *help) {
  char *fix = strstr(message, help);
  if (fix) {
    *fix++ = '\0';
    fix += strspn(fix, " ");
  }
  for (char *c = message; *c; c++) {
    if (*c == '\n') *c = ' ';
  }
  ttm_doctor_finding(d, message, NULL, fix);
}

/* How the log was made. */
typedef struct log_facts {
  bool is_log;    /* of a runtime: no capture, no recording, nothing for another command */
  bool has_debug; /* its build prints DEBUG lines */
} log_facts;

/* The log's own section. A log with nothing in it is a finding; one that cannot be read is an error. */
static int check_log(ttm_doctor *d, const ttm_options *options, const char *log, log_facts *facts, ttm_error *err) {
  ttm_profile *p = NULL;
  int status = ttm_cli_read(&p, options, log, false, err);
  if (status && status != TTM_ENODATA) return status;
  ttm_buf title = {0};
  ttm_buf_printf(&title, "Log %s", strcmp(log, "-") ? log : "standard input");
  ttm_buf_char(&title, '\0');
  ttm_doc_heading(&d->doc, title.failed ? "" : title.at);
  d->doc.out->failed |= title.failed;
  ttm_buf_free(&title);
  if (status && ttm_name_other_command(log, err)) {
    tell_diagnosis(d, err->message, "\n  ttmem ");
    facts->is_log = false;
  } else if (status) {
    tell_diagnosis(d, err->message, "\nTo get a full log:");
  } else {
    ttm_doctor_log(d, p);
    facts->is_log = p->kind != TTM_LOG_CAPTURE && p->kind != TTM_LOG_LIVE;
    facts->has_debug = p->seen.debug_lines > 0;
  }
  ttm_profile_free(p);
  return TTM_OK;
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_buf text = {0};
  ttm_output_form form;
  if (ttm_output_form_of(&form, options, err)) return TTM_EUSAGE;
  ttm_doctor d = {.doc = ttm_output_doc(form, options, &text)};
  log_facts facts = {.is_log = true};
  int status = options->inputs ? check_log(&d, options, options->input[0], &facts, err) : TTM_OK;
  if (!status) {
    ttm_doctor_machine machine = {.compiler = facts.is_log};
    if (!options->inputs) machine = ttm_doctor_check_machine(&d);
    if (machine.compiler || (facts.is_log && !machine.ttnn)) {
      check_environment(&d, options->inputs > 0);
      check_build(&d, facts.has_debug);
    } else if (machine.ttnn) {
      ttm_doctor_say(&d, "note", "the variables of tt-xla and tt-mlir do not matter to ttnn: none of the two is here");
    }
    char count[TTM_COUNT_ROOM + 16];
    snprintf(count, sizeof count, "%u finding%s", d.findings, d.findings == 1 ? "" : "s");
    ttm_doc_heading(&d.doc, d.findings ? count : "No findings");
    text.failed |= ttm_doc_end(&d.doc) != TTM_OK;
    status = ttm_terminal_print(&text, err);
  }
  ttm_buf_free(&text);
  return !status && d.findings ? TTM_EXIT_FOUND : status;
}

const ttm_command ttm_command_doctor = {
    .name = "doctor",
    .synopsis = "doctor [LOG]",
    .help = "what is missing from a log, and how to get it",
    .more =
        "Checks the log, the environment and the build, and prints the commands that fix each finding. Without a log: "
        "which ttnn or tt-xla Python finds, which board there is, which variables are set and what each would add. For "
        "a graph capture or a recording only the file is checked.",
    .examples = "ttmem doctor\nttmem doctor model_profile.log",
    .exits = "0 no findings; 1 findings; 2 wrong usage, or an unreadable log",
    .max_inputs = 1,
    .logs = 1,
    .takes = TTM_TAKES(TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_THREADS, TTM_OPTION_MAX_MEMORY, TTM_OPTION_COLOR),
    .run = run,
};
