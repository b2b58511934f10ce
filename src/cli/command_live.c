/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem live: what running programs hold on the chips of this machine, now and from now on. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "launch/alarm_command.h"
#include "report/live/watch_report.h"
#include "ui/ui.h"
#include "watch/alarm.h"
#include "watch/recorder.h"

enum { FASTEST_MS = 100, SLOWEST_MS = 3600 * 1000, ON_A_PIPE_MS = 1000 };

/* What a device's line last said. */
typedef struct told {
  uint64_t asic_id, changed;
} told;

typedef struct live {
  const ttm_options *options;
  ttm_watch watch;
  ttm_alarm alarm;
  ttm_recorder *recorder;
  uint64_t interval_ms, start_ms, next_ms;
  sigset_t stop, usual; /* what ends the watching; the mask a command gets */
  ttm_output_form form;
  bool headed; /* CSV: the names of the columns are written */
  bool on_screen;
  bool alarmed;        /* a mark was passed */
  bool closed;         /* the reader of our output closed it */
  pid_t command;       /* the last one started */
  uint64_t complained; /* which of the watch's complaints were told last */
  size_t unknown;      /* devices that no mark can judge, told already */
  bool told_full;
  TTM_VEC(told) told;
  ttm_ui_watch shown;
  ttm_buf message; /* for the screen */
  int status;      /* why the watching ended, with `err` */
  ttm_error err;
} live;

static uint64_t clock_ms(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- Options --------------------------------------------------------------------------------------------------------- */

static int read_interval(const char *text, uint64_t *out, ttm_error *err) {
  ttm_str unit = ttm_str_of(text);
  double number = 0;
  bool fine = ttm_str_take_decimal(&unit, &number), in_ms = ttm_str_eq(unit, TTM_LIT("ms"));
  double ms = in_ms ? number : number * 1000;
  fine = fine && (in_ms || !unit.n || ttm_str_eq(unit, TTM_LIT("s")));
  if (!fine || !(ms >= FASTEST_MS - 1e-6 && ms <= SLOWEST_MS))
    return ttm_error_set(err, TTM_EUSAGE, "option '--interval' takes seconds from 0.1 to 3600 (or 100ms), not '%s'",
                         text);
  *out = (uint64_t)(ms + 0.5);
  return TTM_OK;
}

static int read_options(live *l) {
  const ttm_options *o = l->options;
  const char *board = o->value[TTM_OPTION_BOARD], *interval = o->value[TTM_OPTION_INTERVAL];
  bool once = o->given[TTM_OPTION_ONCE];
  ttm_watch_options wish = {.dir = getenv("TTMEM_SHM_DIR")};
  if (wish.dir && !*wish.dir) wish.dir = NULL;
  if (!wish.dir && ttm_os_without_ttnn)
    return ttm_error_set(&l->err, TTM_EUSAGE, "'live' reads the counters of running ttnn programs; %s",
                         ttm_os_without_ttnn);
  if (board && !(wish.board = ttm_board_find(ttm_str_of(board))))
    return ttm_board_unknown(ttm_str_of(board), "", &l->err);
  for (size_t i = 0; i < o->many_count; i++) {
    int status = ttm_alarm_add(&l->alarm, o->many[i].value, &l->err);
    if (status) return status;
  }
  if (o->given[TTM_OPTION_EXEC] && !l->alarm.mark_count)
    return ttm_error_set(&l->err, TTM_EUSAGE, "'--exec' needs an alarm: --alarm 90%%");
  if (once && (interval || o->given[TTM_OPTION_RECORD]))
    return ttm_error_set(&l->err, TTM_EUSAGE, "'--once' does not go with --interval or --record");
  if (ttm_output_form_of(&l->form, o, &l->err)) return TTM_EUSAGE;
  l->on_screen = !once && l->form == TTM_OUTPUT_TERMINAL && isatty(STDIN_FILENO) && ttm_terminal_is_live(STDOUT_FILENO);
  bool fast = l->on_screen || o->given[TTM_OPTION_RECORD] || l->alarm.mark_count;
  l->interval_ms = fast ? FASTEST_MS : ON_A_PIPE_MS;
  ttm_watch_init(&l->watch, &wish);
  return interval ? read_interval(interval, &l->interval_ms, &l->err) : TTM_OK;
}

/* ---- Telling --------------------------------------------------------------------------------------------------------- */

static void write_out(live *l, ttm_buf *text) {
  if (text->failed)
    l->status = ttm_error_nomem(&l->err);
  else if (text->n && !l->status)
    l->status = ttm_terminal_write(ttm_buf_str(text), &l->closed, &l->err);
  ttm_buf_free(text);
}

/* Which files are not believed, each time that changes. */
static void tell_problems(live *l) {
  if (l->watch.complaints == l->complained || l->on_screen) return;
  l->complained = l->watch.complaints;
  if (!l->watch.devices.n && l->watch.looks == 1) return; /* ttm_watch_nothing lists them */
  ttm_buf note = {0};
  ttm_watch_problems(&note, &l->watch, "ttmem: note: ", true);
  ttm_terminal_note(&note);
}

static bool is_news(live *l, const ttm_watch_device *device) {
  for (size_t i = 0; i < l->told.n; i++) {
    told *before = &l->told.at[i];
    if (before->asic_id != device->asic_id) continue;
    bool news = before->changed != device->changed;
    before->changed = device->changed;
    return news;
  }
  if (ttm_vec_push(&l->told, (told){device->asic_id, device->changed})) l->status = ttm_error_nomem(&l->err);
  return true;
}

/* One line for each device that changed, with --csv its rows; with --json all of them, on one line. */
static void tell_changes(live *l, uint64_t now_ms) {
  ttm_buf text = {0};
  double seconds = (double)(now_ms - l->start_ms) / 1000.0;
  bool any = false;
  for (size_t i = 0; i < l->watch.devices.n; i++) {
    const ttm_watch_device *device = l->watch.devices.at[i];
    if (!is_news(l, device)) continue;
    any = true;
    if (l->form == TTM_OUTPUT_CSV)
      ttm_watch_csv(&text, device, seconds, !l->headed), l->headed = true;
    else if (l->form == TTM_OUTPUT_TERMINAL)
      ttm_watch_line(&text, device, seconds);
  }
  if (any && l->form == TTM_OUTPUT_JSON) ttm_watch_json(&text, &l->watch, seconds);
  write_out(l, &text);
}

/* ---- Alarms ---------------------------------------------------------------------------------------------------------- */

static void on_alarm(void *context, const ttm_alarm_event *event) {
  live *l = context;
  const char *command = l->options->value[TTM_OPTION_EXEC];
  ttm_buf words = {0}, note = {0};
  l->alarmed = true;
  ttm_alarm_words(&words, event);
  if (l->on_screen) { /* shown there; after its end when the alarm ends it */
    ttm_buf_put(&l->message, ttm_buf_str(&words));
    ttm_buf_free(&words);
  } else if (l->form != TTM_OUTPUT_TERMINAL) {
    ttm_terminal_note(&words);
  } else {
    write_out(l, &words);
  }
  if (command && !ttm_watch_is_own(event->device)) { /* who says so could say anything */
    ttm_buf_printf(&note, "ttmem: note: the command of --exec is not run: the numbers are those of user %lu\n",
                   (unsigned long)event->device->owner);
    if (l->on_screen)
      ttm_buf_put(&l->message, ttm_buf_str(&note)), ttm_buf_free(&note);
    else
      ttm_terminal_note(&note);
  } else if (command && !l->status)
    l->status = ttm_alarm_command_start(command, event, &l->usual, l->on_screen, &l->command, &l->err);
}

static void check_alarms(live *l) {
  size_t unknown;
  if (!l->alarm.mark_count) return;
  if (ttm_alarm_check(&l->alarm, &l->watch, on_alarm, l, &unknown)) l->status = ttm_error_nomem(&l->err);
  if (unknown > l->unknown && !l->on_screen) {
    ttm_buf note = {0};
    ttm_buf_puts(&note, "ttmem: note: --alarm does not cover ");
    ttm_put_counted(&note, unknown, "device");
    ttm_buf_puts(&note, ": the board is unknown; --board B sets the capacity\n");
    ttm_terminal_note(&note);
  }
  l->unknown = unknown;
}

/* ---- Looking --------------------------------------------------------------------------------------------------------- */

static void look(live *l, uint64_t now_ms) {
  l->status = ttm_watch_look(&l->watch, now_ms, &l->err);
  if (!l->status && l->recorder) l->status = ttm_recorder_take(l->recorder, &l->watch, now_ms - l->start_ms, &l->err);
  if (l->status) return;
  if (l->recorder && ttm_recorder_full(l->recorder) && !l->told_full) {
    static const char words[] =
        "ttmem: note: the recording reached its limit of 64 MB; later readings are not recorded\n";
    ttm_buf note = {0};
    ttm_buf_puts(l->on_screen ? &l->message : &note, words);
    ttm_terminal_note(&note);
    l->told_full = true;
  }
  tell_problems(l);
  while (waitpid(-1, NULL, WNOHANG) > 0) continue; /* commands that are done */
}

/* An alarm ends the watching unless there is something to run. */
static bool is_over(const live *l) {
  return l->status || l->closed || (l->alarmed && !l->options->given[TTM_OPTION_EXEC]);
}

static int end_of(const live *l) {
  if (l->status) return l->status;
  return l->alarmed && !l->options->given[TTM_OPTION_EXEC] ? TTM_EXIT_FOUND : TTM_EXIT_OK;
}

static bool is_stopped(const live *l, uint64_t wait_ms) { return ttm_os_signal_within(&l->stop, wait_ms); }

/* ---- The three ways of showing it ------------------------------------------------------------------------------------ */

static int show_once(live *l) {
  ttm_buf text = {0}, note = {0};
  ttm_watch_view view = {.utf8 = ttm_terminal_utf8(),
                         .color = ttm_terminal_color(STDOUT_FILENO, l->options->value[TTM_OPTION_COLOR]),
                         .columns = ttm_terminal_columns(STDOUT_FILENO),
                         .sort = TTM_USES,
                         .history = TTM_USES,
                         .hide_idle = !l->options->given[TTM_OPTION_ALL],
                         .hide_mock = !l->options->given[TTM_OPTION_ALL],
                         .once = true};
  bool csv = l->form == TTM_OUTPUT_CSV;
  l->status = ttm_watch_look(&l->watch, clock_ms(CLOCK_MONOTONIC), &l->err);
  if (l->status) return end_of(l);
  if (l->form == TTM_OUTPUT_JSON) ttm_watch_json(&text, &l->watch, -1);
  for (size_t i = 0; csv && i < l->watch.devices.n; i++) ttm_watch_csv(&text, l->watch.devices.at[i], -1, !i);
  if (l->form == TTM_OUTPUT_TERMINAL && ttm_watch_text(&text, &l->watch, &view)) text.failed = true;
  write_out(l, &text);
  if (!l->watch.devices.n) {
    ttm_buf_puts(&note, "ttmem: error: ");
    ttm_watch_nothing(&note, &l->watch);
    ttm_terminal_note(&note);
    return l->status ? end_of(l) : TTM_EXIT_WRONG;
  }
  tell_problems(l);
  check_alarms(l);
  while (wait(NULL) > 0) continue; /* the command of an alarm */
  if (l->status) return end_of(l);
  return l->alarmed ? TTM_EXIT_FOUND : TTM_EXIT_OK;
}

static int show_lines(live *l) {
  ttm_buf note = {0};
  for (bool first = true; !is_over(l); first = false) {
    uint64_t now = clock_ms(CLOCK_MONOTONIC);
    look(l, now);
    if (l->status) break;
    if (first && !l->watch.devices.n) {
      ttm_buf_puts(&note, "ttmem: note: ");
      ttm_watch_nothing(&note, &l->watch);
      ttm_buf_puts(&note, "Waiting for a device; Ctrl-C stops.\n");
      ttm_terminal_note(&note);
    }
    tell_changes(l, now);
    check_alarms(l);
    uint64_t took = clock_ms(CLOCK_MONOTONIC) - now;
    if (!is_over(l) && is_stopped(l, took < l->interval_ms ? l->interval_ms - took : 1)) break;
  }
  return end_of(l);
}

/* Called by the screen ten times a second. */
static bool screen_tick(void *context, const char **message) {
  live *l = context;
  uint64_t now = clock_ms(CLOCK_MONOTONIC);
  *message = NULL;
  if (is_stopped(l, 0) || !isatty(STDIN_FILENO)) return false; /* the terminal may go without a word (nohup) */
  if (now < l->next_ms) return true;
  l->next_ms = now + l->interval_ms - l->interval_ms / 10; /* a tick that comes a little early counts */
  if (!is_over(l)) ttm_buf_clear(&l->message);
  look(l, now);
  if (!l->status) check_alarms(l);
  if (l->message.n && !is_over(l)) {
    ttm_buf_char(&l->message, '\0');
    if (!l->message.failed) *message = l->message.at;
  }
  return !is_over(l);
}

static int show_screen(live *l) {
  ttm_ui_options ui = {.utf8 = ttm_terminal_utf8(),
                       .color = ttm_terminal_color(STDOUT_FILENO, l->options->value[TTM_OPTION_COLOR]),
                       .watch = &l->shown};
  int status = ttm_ui_run(&ui, &l->err);
  if (!l->status) l->status = status;
  if (!l->status && is_over(l)) write_out(l, &l->message);
  return end_of(l);
}

/* ---- Begin and end --------------------------------------------------------------------------------------------------- */

static int begin(live *l, const ttm_options *options) {
  *l = (live){.options = options};
  l->shown = (ttm_ui_watch){
      .watch = &l->watch, .recording = options->value[TTM_OPTION_RECORD], .context = l, .tick = screen_tick};
  l->shown.all = options->given[TTM_OPTION_ALL];
  sigemptyset(&l->stop);
  sigaddset(&l->stop, SIGINT);
  sigaddset(&l->stop, SIGTERM);
  sigaddset(&l->stop, SIGHUP);
  pthread_sigmask(SIG_SETMASK, NULL, &l->usual);
  l->start_ms = clock_ms(CLOCK_MONOTONIC);
  return l->status = read_options(l);
}

static void end(live *l) {
  ttm_recorder_close(l->recorder, clock_ms(CLOCK_MONOTONIC) - l->start_ms);
  ttm_watch_free(&l->watch);
  ttm_alarm_free(&l->alarm);
  ttm_vec_free(&l->told);
  ttm_buf_free(&l->message);
}

static void end_inside(void *context) {
  end(context);
  ttm_free(context);
}

int ttm_live_begin(const ttm_ui_watch **out, const ttm_options *options, ttm_error *err) {
  live *l = ttm_alloc(sizeof *l);
  if (!l) return ttm_error_nomem(err);
  int status = begin(l, options);
  l->shown.end = end_inside;
  *out = &l->shown;
  if (status) *err = l->err, end_inside(l);
  return status;
}

static int run(const ttm_options *options, ttm_error *err) {
  live l;
  bool once = options->given[TTM_OPTION_ONCE];
  if (!begin(&l, options) && options->given[TTM_OPTION_RECORD])
    l.status = ttm_recorder_open(&l.recorder, options->value[TTM_OPTION_RECORD], clock_ms(CLOCK_REALTIME),
                                 l.interval_ms, &l.err);
  if (!once) pthread_sigmask(SIG_BLOCK, &l.stop, NULL); /* asked for between looks: a recording gets its end */
  int exit_status = l.status ? l.status : once ? show_once(&l) : l.on_screen ? show_screen(&l) : show_lines(&l);
  if (l.status) *err = l.err;
  end(&l);
  return exit_status;
}

const ttm_command ttm_command_live = {
    .name = "live",
    .synopsis = "live [options]",
    .help = "memory that running programs hold now",
    .more =
        "Reads the counters that every ttnn process (0.70 and later) keeps in /dev/shm (TTMEM_SHM_DIR replaces "
        "it). The programs are not touched. On a terminal: a screen. On a pipe: a line for each change. --json "
        "prints the devices as JSON, --csv devices and processes as rows. Numbers are bytes over all banks, of live "
        "processes. Idle devices, and mock ones beside a real board, are not shown without --all; JSON and CSV have "
        "all.",
    .examples = "ttmem live\nttmem live --once --json\nttmem live --alarm dram:90% --exec 'notify-send full'",
    .exits =
        "0 stopped (q, Ctrl-C), or --once; 1 an --alarm went off (while it runs: without --exec); 2 wrong usage, "
        "or --once found no device",
    .takes = TTM_TAKES(TTM_OPTION_ONCE, TTM_OPTION_INTERVAL, TTM_OPTION_RECORD, TTM_OPTION_ALARM, TTM_OPTION_EXEC,
                       TTM_OPTION_BOARD, TTM_OPTION_ALL, TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_COLOR),
    .run = run,
};
