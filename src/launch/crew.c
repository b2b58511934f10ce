/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setenv */
#include "launch/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/os.h"
#include "base/out_file.h"

/* ---- Begin ---------------------------------------------------------------------------------------------------------- */

int ttm_crew_begin(ttm_crew *crew, const ttm_crew_options *options, ttm_error *err) {
  enum { SPARE_PART = 10 }; /* of the machine's memory */
  sigset_t wanted;
  ttm_host_watch host;
  *crew = (ttm_crew){.options = *options, .limit = options->jobs ? options->jobs : ttm_os_processors()};
  ttm_host_watch_begin(&host);
  crew->spare = host.machine / SPARE_PART;
  ttm_pump_signals(&wanted);
  pthread_sigmask(SIG_BLOCK, &wanted, &crew->mask);
  crew->signals = ttm_os_signals(&wanted);
  return crew->signals < 0 ? ttm_error_set(err, TTM_EIO, "cannot listen to signals: %s", strerror(errno)) : TTM_OK;
}

/* Kills all that descends from the process, until it has noticed. */
static void stop(const ttm_crew_run *run) {
  while (!waitpid(run->pid, NULL, WNOHANG)) {
    ttm_host_kill_below(run->pid);
    poll(NULL, 0, 10);
  }
}

void ttm_crew_free_run(ttm_crew_run *run) {
  if (run->report >= 0) close(run->report);
  ttm_temp_dir_remove(&run->dir);
  ttm_free(run);
}

/* ---- Is there room? ------------------------------------------------------------------------------------------------- */

static const uint64_t LEAST = UINT64_C(1) << 30;

bool ttm_crew_allows(uint64_t available, uint64_t each, const uint64_t *now, size_t n) {
  uint64_t most = 0;
  for (size_t i = 0; i < n; i++) most = now[i] > most ? now[i] : most;
  if (!each) each = ttm_mul_sat(most, 2); /* none has ended: they may grow */
  if (each < LEAST) each = LEAST;
  uint64_t need = each;
  for (size_t i = 0; i < n; i++) need = ttm_add_sat(need, ttm_sub_sat(each, now[i]));
  return need <= available;
}

/* Bytes that may still be taken, below the limit of a control group too. */
static uint64_t available(const ttm_crew *crew) {
  uint64_t taken = 0, limit = UINT64_MAX;
  ttm_host_watch now;
  for (size_t i = 0; i < crew->running.n; i++) {
    const ttm_host_watch *w = &crew->running.at[i]->host;
    taken += w->now;
    if (w->cgroup && w->cgroup < limit) limit = w->cgroup;
  }
  ttm_host_watch_begin(&now);
  uint64_t left = ttm_sub_sat(limit, taken);
  return ttm_sub_sat(left < now.available ? left : now.available, crew->spare);
}

bool ttm_crew_has_room(const ttm_crew *crew) {
  uint64_t now[64];
  size_t n = crew->running.n;
  if (crew->interrupted || n >= crew->limit) return false;
  if (!n || crew->options.jobs) return true;
  if (n > sizeof now / sizeof *now) return false;
  for (size_t i = 0; i < n; i++) now[i] = crew->running.at[i]->host.now;
  return ttm_crew_allows(available(crew), crew->largest, now, n);
}

/* ---- The process below us ------------------------------------------------------------------------------------------- */

/* Only the first program has our standard input: the others would find it empty after that one. */
static void leave_input(void) {
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) dup2(null, STDIN_FILENO);
}

static void launch(const ttm_crew *crew, const ttm_crew_run *run, char *const *words, ttm_crew_end *end) {
  ttm_launch_options options = {.words = words,
                                .name = "fit",
                                .base = run->dir.path,
                                .board = run->board,
                                .record = true,
                                .quiet = true,
                                .viewer = *crew->options.viewer};
  ttm_launch r;
  options.viewer.show = NULL;
  end->status = ttm_launch_run(&r, &options, &end->err);
  if (!end->status) end->status = ttm_record_check(r.record, &end->err);
  if (!end->status) {
    end->recorded = ttm_launch_is_recorded(&r);
    end->met_ttnn = end->recorded || ttm_record_met_ttnn(r.record);
    end->result = r.result;
    snprintf(end->log, sizeof end->log, "%s", r.log.at);
    snprintf(end->recording, sizeof end->recording, "%s", r.recording.at);
  }
  ttm_launch_free(&r);
}

static _Noreturn void work(const ttm_crew *crew, ttm_crew_run *run, char *const *words) {
  char list[PATH_MAX + 8];
  snprintf(list, sizeof list, "%s/files", run->dir.path);
  ttm_os_end_with_parent();
  if (crew->options.list_files) setenv(TTM_CREW_FILES, list, 1);
  if (crew->running.n || crew->ended) leave_input();
  pthread_sigmask(SIG_SETMASK, &crew->mask, NULL);
  launch(crew, run, words, &run->end);
  ttm_write_all(run->report, (const char *)&run->end, sizeof run->end);
  _exit(0);
}

static int begin(ttm_crew *crew, ttm_crew_run *run, char *const *words, ttm_error *err) {
  int ends[2], status = ttm_temp_dir_make(&run->dir, "fit", err);
  if (status) return status;
  if (ttm_os_pipe(ends)) return ttm_error_set(err, TTM_EIO, "cannot make a pipe: %s", strerror(errno));
  run->pid = fork();
  run->report = ends[run->pid ? 0 : 1];
  close(ends[run->pid ? 1 : 0]);
  if (!run->pid) work(crew, run, words);
  if (run->pid < 0) return ttm_error_set(err, TTM_EIO, "cannot start a process: %s", strerror(errno));
  ttm_host_watch_begin(&run->host);
  run->began = ttm_now_ms();
  crew->running.at[crew->running.n++] = run;
  return TTM_OK;
}

int ttm_crew_start(ttm_crew *crew, size_t row, uint64_t value, const char *board, char *const *words,
                   const char *headline, ttm_error *err) {
  ttm_crew_run *run = ttm_alloc(sizeof *run);
  if (!run || ttm_vec_reserve(&crew->running, 1)) return ttm_free(run), ttm_error_nomem(err);
  run->row = row, run->value = value, run->board = board, run->report = -1;
  if (!crew->options.quiet) ttm_launch_say(crew->options.viewer, "%s", headline);
  int status = begin(crew, run, words, err);
  if (status) ttm_crew_free_run(run);
  return status;
}

const ttm_crew_run *ttm_crew_find(const ttm_crew *crew, size_t row, uint64_t value) {
  for (size_t i = 0; i < crew->running.n; i++)
    if (crew->running.at[i]->row == row && crew->running.at[i]->value == value) return crew->running.at[i];
  return NULL;
}

/* ---- Waiting -------------------------------------------------------------------------------------------------------- */

static void take_signals(ttm_crew *crew) {
  ttm_os_signal taken;
  while (ttm_os_signal_take(crew->signals, &taken)) {
    int number = taken.number;
    if (number == SIGCHLD) continue;
    /* A key pressed on the terminal reaches the processes below by itself. */
    for (size_t i = 0; i < crew->running.n && taken.sent; i++) kill(crew->running.at[i]->pid, number);
    if (number == SIGTSTP)
      ttm_pump_stop_ourselves(crew->options.viewer);
    else if (number != SIGUSR1 && number != SIGUSR2 && number != SIGCONT && !crew->interrupted)
      crew->interrupted = 128 + number;
  }
}

static ttm_crew_run *take_away(ttm_crew *crew, size_t i) {
  ttm_crew_run *run = crew->running.at[i];
  crew->running.n--;
  memmove(&crew->running.at[i], &crew->running.at[i + 1], (crew->running.n - i) * sizeof *crew->running.at);
  return run;
}

/* A run that memory of the host does not allow beside others: as if it had not been started. */
static void put_back(ttm_crew *crew, ttm_crew_run *run) {
  crew->limit = crew->running.n ? (unsigned)crew->running.n : 1;
  if (!crew->options.quiet)
    ttm_launch_say(crew->options.viewer, "%s: stopped, memory of the host is short; it runs again later", run->board);
  ttm_crew_free_run(run);
}

static void look_at_memory(ttm_crew *crew) {
  for (size_t i = 0; i < crew->running.n; i++)
    ttm_host_watch_look(&crew->running.at[i]->host, crew->running.at[i]->pid);
  if (crew->running.n < 2 || crew->interrupted || available(crew)) return;
  ttm_crew_run *youngest = take_away(crew, crew->running.n - 1);
  stop(youngest);
  put_back(crew, youngest);
}

/* All of it, or the process died. */
static bool read_end(ttm_crew_run *run) {
  size_t n = 0;
  ssize_t got;
  while (n < sizeof run->end &&
         ((got = read(run->report, (char *)&run->end + n, sizeof run->end - n)) > 0 || (got < 0 && errno == EINTR)))
    n += got > 0 ? (size_t)got : 0;
  while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR) {}
  return n == sizeof run->end;
}

/* The end of a run; NULL when it is to be run again, or was interrupted. */
static ttm_crew_run *take_end(ttm_crew *crew, size_t i) {
  ttm_crew_run *run = take_away(crew, i);
  const ttm_pump_result *result = &run->end.result;
  bool whole = read_end(run);
  if (!whole && !crew->interrupted)
    run->end.status = ttm_error_set(&run->end.err, TTM_EIO, "the process that ran the program on %s died", run->board);
  if (whole && result->interrupted && !crew->interrupted)
    crew->interrupted = result->signal ? 128 + result->signal : 128 + SIGINT;
  if (crew->interrupted) return ttm_crew_free_run(run), NULL;
  if (!run->end.status && crew->running.n && ttm_host_watch_exhausted(&result->host, result->signal))
    return put_back(crew, run), NULL;
  run->milliseconds = ttm_now_ms() - run->began;
  crew->ended++;
  crew->milliseconds += run->milliseconds;
  if (result->host.peak > crew->largest) crew->largest = result->host.peak;
  return run;
}

void ttm_crew_wait(ttm_crew *crew, ttm_crew_run **out) {
  struct pollfd on[64] = {{.fd = crew->signals, .events = POLLIN}};
  size_t n = 1;
  *out = NULL;
  for (; n < sizeof on / sizeof *on && n <= crew->running.n; n++)
    on[n] = (struct pollfd){.fd = crew->running.at[n - 1]->report, .events = POLLIN};
  int ready = poll(on, n, TTM_HOST_LOOK_MS);
  if (ready > 0 && on[0].revents) take_signals(crew);
  for (size_t i = 1; ready > 0 && i < n && !*out; i++)
    if (on[i].revents) {
      *out = take_end(crew, i - 1);
      return;
    }
  look_at_memory(crew);
}

void ttm_crew_finish(ttm_crew *crew) {
  take_signals(crew);
  for (size_t i = 0; i < crew->running.n; i++) {
    stop(crew->running.at[i]);
    ttm_crew_free_run(crew->running.at[i]);
  }
  ttm_vec_free(&crew->running);
  if (crew->signals >= 0) close(crew->signals);
  /* A signal that waits would end us here, before the answers are told. */
  if (!crew->interrupted) pthread_sigmask(SIG_SETMASK, &crew->mask, NULL);
}
