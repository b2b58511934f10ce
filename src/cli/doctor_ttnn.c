/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cli/doctor_ttnn.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "base/os.h"
#include "launch/child.h"
#include "launch/switches.h"
#include "watch/chip_board.h"

const char *ttm_doctor_shown(ttm_doctor *d, char room[TTM_SHOWN_ROOM], const char *value) {
  ttm_buf text = {0};
  ttm_put_text(&text, ttm_str_of(value), TTM_SHOWN_COLUMNS, TTM_FORM_UTF8);
  snprintf(room, TTM_SHOWN_ROOM, "%.*s", (int)text.n, text.failed ? "" : text.at);
  d->doc.out->failed |= text.failed;
  ttm_buf_free(&text);
  return room;
}

/* ---- Python ----------------------------------------------------------------------------------------------------------- */

/* A line each: name, version, place. Nothing is imported: ttnn takes seconds. A folder without __init__.py is none, as in a checkout of tt-metal. Of the
 * current folder, where others may have put a csv.py, nothing is imported either. */
static const char question[] =
    "import sys\n"
    "whole = sys.path\n"
    "sys.path = own = [p for p in whole if p]\n"
    "import importlib.metadata as m, importlib.util as u\n"
    "print('python', '.'.join(map(str, sys.version_info[:3])), sys.executable, sep='\\t')\n"
    "for name, package in (('ttnn', 'ttnn'), ('pjrt_plugin_tt', 'pjrt-plugin-tt'), ('ttrt', 'ttrt')):\n"
    "  sys.path = whole\n"
    "  try: spec = u.find_spec(name)\n"
    "  except Exception: spec = None\n"
    "  sys.path = own\n"
    "  if not (spec and spec.origin): continue\n"
    "  try: version = m.version(package)\n"
    "  except Exception: version = ''\n"
    "  print(name, version, spec.origin, sep='\\t')\n";

static bool ask(const char *python, ttm_buf *out) {
  char *const argv[] = {(char *)(uintptr_t)python, (char[]){"-c"}, (char *)(uintptr_t)question, NULL};
  int ends[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC), status = -1;
  sigset_t mask;
  pid_t pid;
  ssize_t got = 1;
  sigemptyset(&mask);
  out->n = 0;
  if (nothing < 0 || ttm_os_pipe(ends)) return nothing >= 0 && (close(nothing), false);
  bool started = !ttm_child_spawn(&pid, argv, environ, (int[]){nothing, ends[1], nothing}, &mask);
  close(nothing);
  close(ends[1]);
  while (started && got > 0 && ttm_buf_room(out, 4096) && (got = read(ends[0], out->at + out->n, 4096)) > 0)
    out->n += (size_t)got;
  close(ends[0]);
  if (started) waitpid(pid, &status, 0);
  return started && status == 0 && !out->failed;
}

/* The Python that `python3 model.py` would start. */
static bool ask_python(ttm_buf *out) {
  static const char *const names[] = {"python3", "python"};
  const char *environment = getenv("VIRTUAL_ENV");
  char path[4096];
  snprintf(path, sizeof path, "%s/bin/python", environment ? environment : "");
  if (environment && *environment && !access(path, X_OK) && ask(path, out)) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ask(names[i], out)) return true;
  return false;
}

static void tell_module(ttm_doctor *d, ttm_str name, ttm_str version, ttm_str place, ttm_doctor_machine *machine) {
  char where[4096], room[TTM_SHOWN_ROOM];
  snprintf(where, sizeof where, "%.*s", (int)(place.n < sizeof where ? place.n : sizeof where - 1), place.p);
  machine->ttnn |= ttm_str_eq(name, TTM_LIT("ttnn"));
  machine->compiler |= ttm_str_eq(name, TTM_LIT("pjrt_plugin_tt")) || ttm_str_eq(name, TTM_LIT("ttrt"));
  if (ttm_str_eq(name, TTM_LIT("pjrt_plugin_tt"))) name = TTM_LIT("tt-xla (pjrt_plugin_tt)");
  ttm_doctor_say(d, "ok", "%.*s %.*s, %s", (int)name.n, name.p, (int)(version.n ? version.n : 15),
                 version.n ? version.p : "without version", ttm_doctor_shown(d, room, where));
}

static void check_python(ttm_doctor *d, ttm_doctor_machine *machine) {
  ttm_buf answer = {0};
  ttm_doc_heading(&d->doc, "Python");
  if (!ask_python(&answer)) ttm_doctor_say(d, "note", "no python3 can be started: ttnn and tt-xla cannot be found");
  for (ttm_str rest = ttm_buf_str(&answer); rest.n;) {
    ttm_str line = ttm_str_take_to(&rest, '\n');
    ttm_str name = ttm_str_take_to(&line, '\t'), version = ttm_str_take_to(&line, '\t');
    if (name.n && line.n) tell_module(d, name, version, line, machine);
  }
  if (answer.n && !machine->ttnn && !machine->compiler)
    ttm_doctor_say(d, "note", "it has no ttnn, no tt-xla (pjrt_plugin_tt) and no ttrt");
  d->doc.out->failed |= answer.failed;
  ttm_buf_free(&answer);
}

/* ---- Board ------------------------------------------------------------------------------------------------------------ */

/* Device files of the driver, and how many of them may be used. */
static unsigned count_devices(const char *folder, unsigned *usable) {
  unsigned n = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    n++;
    *usable += !faccessat(dirfd(dir), entry->d_name, R_OK | W_OK, 0);
  }
  if (dir) closedir(dir);
  return n;
}

static void check_board(ttm_doctor *d) {
  const char *folder = getenv("TTMEM_DEVICE_DIR"), *mock = getenv("TT_METAL_MOCK_CLUSTER_DESC_PATH");
  char title[256], room[TTM_SHOWN_ROOM];
  unsigned usable = 0;
  const ttm_board *board = folder ? NULL : ttm_chip_board_of_driver("/sys/class/tenstorrent");
  if (!folder) folder = "/dev/tenstorrent";
  unsigned n = count_devices(folder, &usable);
  ttm_doc_heading(&d->doc, "Board");
  if (mock && *mock)
    ttm_doctor_say(d, "ok", "a mock board by TT_METAL_MOCK_CLUSTER_DESC_PATH=%s", ttm_doctor_shown(d, room, mock));
  if (n && usable < n) {
    snprintf(title, sizeof title, "%u of %u device files in %s cannot be opened by this user", n - usable, n, folder);
    ttm_doctor_finding(d, title, "ttnn opens every one of them for reading and writing.", "ls -l /dev/tenstorrent");
  } else if (n) {
    ttm_doctor_say(d, "ok", "%u device file%s in %s%s%s", n, n == 1 ? "" : "s", folder, board ? ": " : "",
                   board ? board->name : "");
  } else if (!mock || !*mock) {
    ttm_doctor_say(d, "note",
                   "no device files in %s: a mock board runs ttnn programs with its real allocator (ttmem run --board "
                   "n150 -- python3 model.py)",
                   folder);
  }
}

/* ---- ttnn ------------------------------------------------------------------------------------------------------------- */

static void check_ttnn(ttm_doctor *d) {
  ttm_doc_heading(&d->doc, "ttnn");
  ttm_doctor_say(d, "ok", "ttmem run -- python3 model.py records every allocation; no variable has to be set");
  for (size_t i = 0; i < ttm_ttnn_switch_count; i++) {
    const ttm_ttnn_switch *s = &ttm_ttnn_switches[i];
    const char *value = getenv(s->name), *wrong = value && *value ? ttm_ttnn_switch_judge(s, value) : NULL;
    char title[768], fix[256], room[TTM_SHOWN_ROOM];
    snprintf(fix, sizeof fix, "unset %s", s->name);
    if (wrong) {
      snprintf(title, sizeof title, "%s=%s: %s", s->name, ttm_doctor_shown(d, room, value), wrong);
      ttm_doctor_finding(d, title, NULL, fix);
    } else if (value && *value) {
      ttm_doctor_say(d, "ok", "%s=%s: %s", s->name, ttm_doctor_shown(d, room, value), s->does);
    } else if (s->example) {
      ttm_doctor_say(d, "note", "%s=%s would add %s", s->name, s->example, s->does);
    }
  }
}

ttm_doctor_machine ttm_doctor_check_machine(ttm_doctor *d) {
  ttm_doctor_machine machine = {0};
  check_python(d, &machine);
  for (size_t i = 0; i < TTM_SWITCHES; i++) machine.compiler |= getenv(ttm_switches[i].name) != NULL;
  check_board(d);
  if (machine.ttnn) check_ttnn(d);
  return machine;
}
