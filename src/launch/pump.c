/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pthread_sigmask, FIONREAD */
#include "launch/pump.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/out_file.h"
#include "launch/child.h"
#include "launch/ring.h"

enum { SHOWER, PARSER };
enum {
  READ_BYTES = 256 * 1024,
  PARSE_BATCH = 64 * 1024,
  PARSE_PATIENCE_MS = 100,
  STILL_RUNS_MS = 5000, /* after being asked to end */
  QUIET_MS = 500,       /* silence of what a program left behind */
  LINGER_MS = 2000,     /* and how long it is listened to in all */
  ASKED_ENOUGH = 3,
};

typedef struct pump {
  const ttm_pump_options *options;
  ttm_pump_result *result;
  ttm_child child;
  ttm_ring ring;
  int signals;       /* ttm_os_signals */
  int asked;         /* requests to end the program */
  int64_t look_at;   /* when to look at its memory */
  int64_t remind_at; /* when to say that it still runs; 0: never */
  bool output_over;
  bool left;                  /* while somebody still had the output open: that was told */
  int64_t owed;               /* bytes that were in the pipe when the program ended */
  int64_t quiet_at, leave_at; /* when to stop listening; 0 while bytes are owed */
  pthread_mutex_t lock;       /* guards the figures */
  ttm_feed_figures figures;
} pump;

int64_t ttm_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void ttm_launch_say(const ttm_launch_viewer *viewer, const char *format, ...) {
  char sentence[2048];
  va_list args;
  if (!viewer->say) return;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  viewer->say(viewer->context, sentence);
}

/* ---- The two readers ---------------------------------------------------------------------------------------------- */

static void *show_all(void *argument) {
  pump *c = argument;
  bool ended = false, watched = true;
  while (watched && !ended) {
    ttm_str bytes = ttm_ring_wait(&c->ring, SHOWER, &ended);
    pthread_mutex_lock(&c->lock);
    ttm_feed_figures figures = c->figures;
    pthread_mutex_unlock(&c->lock);
    watched = c->options->viewer.show(c->options->viewer.context, bytes, &figures);
    ttm_ring_taken(&c->ring, SHOWER, bytes.n);
  }
  ttm_ring_leave(&c->ring, SHOWER);
  return NULL;
}

static void *parse_all(void *argument) {
  pump *c = argument;
  bool ended = false;
  int64_t told_at = 0;
  while (!ended) {
    ttm_str bytes = ttm_ring_wait(&c->ring, PARSER, &ended);
    if (bytes.n && ttm_feed_put(c->options->feed, bytes.p, bytes.n, NULL)) break;
    ttm_ring_taken(&c->ring, PARSER, bytes.n);
    int64_t now = ttm_now_ms();
    if (!ended && now - told_at < PARSE_PATIENCE_MS) continue;
    told_at = now;
    pthread_mutex_lock(&c->lock);
    c->figures = *ttm_feed_now(c->options->feed);
    pthread_mutex_unlock(&c->lock);
    ttm_ring_nudge(&c->ring, SHOWER);
  }
  c->result->fed = ended;
  ttm_ring_leave(&c->ring, PARSER);
  return NULL;
}

/* ---- Output ------------------------------------------------------------------------------------------------------- */

static void keep(pump *c, const char *p, size_t n) {
  if (c->result->log_errno) return;
  c->result->log_errno = ttm_write_all(c->options->log, p, n);
  if (c->result->log_errno)
    ttm_launch_say(&c->options->viewer,
                   "error: cannot write %s: %s; the log written so far is kept, the program continues",
                   c->options->path, strerror(c->result->log_errno));
}

static void listen_until(pump *c, int64_t now) {
  c->quiet_at = now + QUIET_MS;
  if (!c->leave_at) c->leave_at = now + LINGER_MS;
}

/* Takes what the pipe holds, as far as there is room. */
static void take_output(pump *c) {
  size_t room;
  char *to = ttm_ring_room(&c->ring, &room);
  if (!room) return;
  ssize_t n = read(c->child.output, to, room < READ_BYTES ? room : READ_BYTES);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    c->output_over = true;
    return;
  }
  keep(c, to, (size_t)n); /* first of all: whatever happens next, this is in the log */
  c->result->bytes += (uint64_t)n;
  ttm_ring_push(&c->ring, (size_t)n);
  if (!c->child.gone) return;
  c->owed -= n;
  if (c->owed <= 0) listen_until(c, ttm_now_ms());
}

/* ---- Signals ------------------------------------------------------------------------------------------------------ */

/* What was ignored before us (nohup) stays ignored, by the program too. */
void ttm_pump_signals(sigset_t *set) {
  static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
  sigemptyset(set);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    struct sigaction old;
    if (!sigaction(wanted[i], NULL, &old) && old.sa_handler != SIG_IGN) sigaddset(set, wanted[i]);
  }
  sigaddset(set, SIGCHLD);
}

static void pass_on(pump *c, int number) {
  if (!c->child.gone) kill(c->child.pid, number);
}

/* A request to end the program. The first two are passed on, the third kills it. */
static void ask_to_end(pump *c, int number, bool sent_to_us) {
  c->result->interrupted = true;
  if (c->child.gone) { /* only what it left behind is still waited for */
    c->output_over = true;
    return;
  }
  if (++c->asked >= ASKED_ENOUGH) {
    pass_on(c, SIGKILL);
    ttm_launch_say(&c->options->viewer, "killed the program (process %ld) after the third request to end",
                   (long)c->child.pid);
    return;
  }
  if (sent_to_us) pass_on(c, number);
  c->remind_at = ttm_now_ms() + STILL_RUNS_MS;
}

void ttm_pump_stop_ourselves(const ttm_launch_viewer *viewer) {
  sigset_t stop;
  if (viewer->say) viewer->say(viewer->context, NULL);
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, NULL); /* stops here */
  pthread_sigmask(SIG_BLOCK, &stop, NULL);
}

static void note_end(pump *c) {
  int waiting = 0;
  if (c->child.gone || !ttm_child_check(&c->child)) return;
  c->remind_at = 0;
  c->owed = !c->output_over && !ioctl(c->child.output, FIONREAD, &waiting) ? waiting : 0;
  if (c->owed <= 0) listen_until(c, ttm_now_ms());
}

static void take_signals(pump *c) {
  ttm_os_signal taken;
  while (ttm_os_signal_take(c->signals, &taken)) {
    int number = taken.number;
    /* A key pressed on the terminal reaches the program by itself; what a process sent to us does not. */
    if (number == SIGTSTP) {
      if (taken.sent) pass_on(c, number);
      ttm_pump_stop_ourselves(&c->options->viewer);
    } else if (number == SIGUSR1 || number == SIGUSR2 || number == SIGCONT) {
      if (taken.sent) pass_on(c, number);
    } else if (number != SIGCHLD) {
      ask_to_end(c, number, taken.sent);
    }
  }
  note_end(c);
}

/* ---- The loop ----------------------------------------------------------------------------------------------------- */

static int until(int64_t deadline, int64_t now) { return deadline <= now ? 0 : (int)(deadline - now); }

/* How long nothing needs to be done; -1: for ever. */
static int patience(const pump *c) {
  int64_t now = ttm_now_ms();
  int best = -1;
  if (!c->child.gone) best = until(c->look_at, now);
  if (c->remind_at && (best < 0 || until(c->remind_at, now) < best)) best = until(c->remind_at, now);
  if (c->child.gone && c->leave_at) {
    int64_t deadline = c->quiet_at < c->leave_at ? c->quiet_at : c->leave_at;
    int wait = until(deadline, now);
    if (best < 0 || wait < best) best = wait;
  }
  return best;
}

static void look_at_clock(pump *c) {
  int64_t now = ttm_now_ms();
  if (!c->child.gone && now >= c->look_at) {
    ttm_host_watch_look(&c->result->host, c->child.pid);
    c->look_at = ttm_now_ms() + TTM_HOST_LOOK_MS;
  }
  if (c->remind_at && now >= c->remind_at) {
    c->remind_at = 0;
    ttm_launch_say(&c->options->viewer,
                   "the program (process %ld) is still running; a third request kills it; log so far: %s",
                   (long)c->child.pid, c->options->path);
  }
  if (c->child.gone && !c->output_over && c->leave_at && (now >= c->quiet_at || now >= c->leave_at)) {
    c->output_over = c->left = true;
    ttm_launch_say(&c->options->viewer,
                   "the program ended, but a process it started keeps its output open; "
                   "later output of that process is not logged");
  }
}

static void run_loop(pump *c) {
  while (!c->child.gone || !c->output_over) {
    size_t room;
    ttm_ring_room(&c->ring, &room);
    struct pollfd on[] = {
        {.fd = c->signals, .events = POLLIN},
        {.fd = c->output_over || !room ? -1 : c->child.output, .events = POLLIN},
        {.fd = room ? -1 : c->ring.room[0], .events = POLLIN},
    };
    if (poll(on, sizeof on / sizeof *on, room ? patience(c) : -1) < 0) continue; /* interrupted: once more */
    if (on[0].revents) take_signals(c);
    if (on[1].revents) take_output(c);
    if (room) look_at_clock(c); /* a full ring is not silence of the program */
  }
}

/* What the program started and left behind comes to us, as its new parent. Helpers of Python end a moment after their program. */
static void tell_who_goes_on(const pump *c) {
  enum { GRACE_MS = 500, STEP_MS = 20 };
  char name[TTM_HOST_NAME];
  pid_t pid = ttm_host_living_below(getpid(), name);
  for (int waited = 0; pid && waited < GRACE_MS; waited += STEP_MS) {
    poll(NULL, 0, STEP_MS);
    pid = ttm_host_living_below(getpid(), name);
  }
  if (pid)
    ttm_launch_say(
        &c->options->viewer,
        "the program ended, but process %ld (%s) that it started goes on; what that one allocates from now on is "
        "not in the report",
        (long)pid, name);
}

/* The readers wait before the program starts: once it runs, nothing can fail any more. */
static int run(pump *c, const sigset_t *mask, ttm_error *err) {
  pthread_t shower, parser;
  ttm_ring_reader *reader = &c->ring.readers[PARSER];
  *reader = (ttm_ring_reader){.wake = reader->wake, .batch = PARSE_BATCH, .patience_ms = PARSE_PATIENCE_MS};
  bool shown = c->options->viewer.show != NULL;
  if (shown && pthread_create(&shower, NULL, show_all, c)) return ttm_error_set(err, TTM_EIO, "cannot start a thread");
  if (!shown) ttm_ring_leave(&c->ring, SHOWER);
  bool parsing = c->options->feed && !pthread_create(&parser, NULL, parse_all, c);
  if (!parsing) ttm_ring_leave(&c->ring, PARSER);
  int status = ttm_child_start(&c->child, c->options->argv, mask, err);
  ttm_host_watch_begin(&c->result->host);
  if (!status) run_loop(c);
  if (!status && !c->left) tell_who_goes_on(c);
  ttm_host_watch_end(&c->result->host);
  ttm_ring_end(&c->ring);
  if (parsing) pthread_join(parser, NULL);
  if (shown) pthread_join(shower, NULL);
  if (status) return status;
  close(c->child.output);
  c->result->exit_status = ttm_child_exit_status(&c->child);
  c->result->signal = WIFSIGNALED(c->child.status) ? WTERMSIG(c->child.status) : 0;
  return TTM_OK;
}

int ttm_pump_run(ttm_pump_result *out, const ttm_pump_options *options, ttm_error *err) {
  pump c = {.options = options, .result = out};
  sigset_t wanted, mask;
  *out = (ttm_pump_result){0};
  ttm_os_adopt_orphans();
  ttm_pump_signals(&wanted);
  pthread_sigmask(SIG_BLOCK, &wanted, &mask);
  c.signals = ttm_os_signals(&wanted);
  if (c.signals < 0) return ttm_error_set(err, TTM_EIO, "cannot listen to signals: %s", strerror(errno));
  int status = ttm_ring_open(&c.ring, err);
  if (!status) {
    pthread_mutex_init(&c.lock, NULL);
    status = run(&c, &mask, err);
    pthread_mutex_destroy(&c.lock);
    ttm_ring_close(&c.ring);
  }
  close(c.signals);
  return status;
}
