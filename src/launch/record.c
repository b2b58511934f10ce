/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setenv, realpath */
#include "launch/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/boards.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/out_file.h"
#include "base/own_dir.h"
#include "base/temp_dir.h"
#include "launch/child.h"
#include "launch/embedded.h"
#include "ttmem/version.h"

/* Everything we set or take away, so that it can be put back. */
static const char *const variables[] = {
    "PYTHONPATH",
    "TTMEM_RECORDING",
    "TTMEM_BOARD",
    "TTMEM_ROOT",
    "TTMEM_COMPILER",
    "TTMEM_BEFORE",
    "TT_METAL_CACHE",
    "TT_METAL_MOCK_CLUSTER_DESC_PATH",
    /* These would choose other hardware than the board that was asked for. */
    "TT_METAL_SIMULATOR",
    "TT_METAL_EMULE_MODE",
    "TT_METAL_VISIBLE_DEVICES",
    "TT_VISIBLE_DEVICES",
};
enum { VARIABLES = sizeof variables / sizeof *variables, FIRST_OURS = 1, LAST_OURS = 5, FIRST_UNWANTED = 8 };

struct ttm_record {
  char hook[PATH_MAX];
  ttm_temp_dir dir; /* of this run; links in it lead to the user's installation */
  char recording[PATH_MAX];
  char board[PATH_MAX]; /* empty: none */
  bool changed;         /* the environment is ours */
  char *old[VARIABLES]; /* NULL: was not set */
};

/* ---- Files --------------------------------------------------------------------------------------------------------- */

static int join(char out[PATH_MAX], const char *folder, const char *name, ttm_error *err) {
  int n = snprintf(out, PATH_MAX, "%s/%s", folder, name);
  return n > 0 && n < PATH_MAX ? TTM_OK : ttm_error_set(err, TTM_EUSAGE, "the path %s/%s is too long", folder, name);
}

/* One that stays is whole also after a power cut. */
static int write_file(const char *path, const ttm_embedded *file, bool stays, ttm_error *err) {
  ttm_out out;
  int status = ttm_out_open(&out, path, err);
  if (status) return status;
  out.sync = stays;
  ttm_buf_put(&out.buf, (ttm_str){(const char *)file->bytes, file->n});
  return ttm_out_close(&out, err);
}

static const ttm_embedded *hook_file(size_t i) {
  return i < ttm_hook_files_count ? &ttm_hook_files[i] : &ttm_native_files[i - ttm_hook_files_count];
}

/* Stays: a process that outlives us has it in its PYTHONPATH. What is there already is what this ttmem wrote, by the folder's name. */
static int make_hook(ttm_record *r, ttm_error *err) {
  size_t count = ttm_hook_files_count + ttm_native_files_count;
  char name[64], path[PATH_MAX];
  uint64_t hash = 0;
  for (size_t i = 0; i < count; i++) hash = ttm_hash(hook_file(i)->bytes, hook_file(i)->n, hash);
  snprintf(name, sizeof name, TTM_VERSION "-%016" PRIx64 "/hook", hash);
  int status = ttm_own_dir(r->hook, name, err);
  if (!status) status = ttm_own_contents(r->hook, err);
  for (size_t i = 0; i < count && !status; i++) {
    const ttm_embedded *file = hook_file(i);
    struct stat st;
    status = join(path, r->hook, file->name, err);
    if (status || (!lstat(path, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size == file->n)) continue;
    status = write_file(path, file, true, err);
  }
  return status;
}

static const ttm_embedded *find_board(const char *name) {
  const ttm_board *board = ttm_board_find(ttm_str_of(name));
  for (size_t i = 0; board && i < ttm_board_files_count; i++)
    if (!strcmp(ttm_board_files[i].name, board->name)) return &ttm_board_files[i];
  return NULL;
}

/* The descriptor of the board, in `path`: one of ours, or the user's own file. */
static int place_board(ttm_record *r, const char *board, char path[PATH_MAX], ttm_error *err) {
  const ttm_embedded *known = find_board(board);
  if (known) {
    snprintf(r->board, sizeof r->board, "%s", known->name);
    int status = join(path, r->dir.path, "board.yaml", err);
    return status ? status : write_file(path, known, false, err);
  }
  struct stat st;
  if (!realpath(board, path) || stat(path, &st) || !S_ISREG(st.st_mode)) {
    if (strchr(board, '/') || strchr(board, '.'))
      return ttm_error_set(err, TTM_EUSAGE, "there is no cluster descriptor '%s'", board);
    return ttm_board_unknown(ttm_str_of(board), ", or the path of a cluster descriptor", err);
  }
  snprintf(r->board, sizeof r->board, "%s", path);
  return TTM_OK;
}

/* ---- Is there a ttnn? ---------------------------------------------------------------------------------------------- */

static bool is_python(const char *program) {
  const char *slash = strrchr(program, '/');
  return !strncmp(slash ? slash + 1 : program, "python", 6);
}

/* All that a child prints, at most some KB; its exit status. */
static int listen(ttm_child *child, char *text, size_t room) {
  size_t n = 0;
  struct pollfd on = {.fd = child->output, .events = POLLIN};
  for (;;) {
    char spare[512];
    bool full = n + 1 >= room;
    if (poll(&on, 1, -1) < 0 && errno != EINTR) break;
    ssize_t got = read(child->output, full ? spare : text + n, full ? sizeof spare : room - 1 - n);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) break;
    if (!full) n += (size_t)got;
  }
  close(child->output);
  text[n] = '\0';
  while (n && text[n - 1] == '\n') text[--n] = '\0';
  while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR) {}
  return ttm_child_exit_status(child);
}

/* Asks the Python that will run the program. It answers with a sentence when ttnn cannot be used. */
static int ask_python(const ttm_record *r, char *python, ttm_error *err) {
  enum { HAS_COMPLAINT = 3 };
  char script[PATH_MAX], text[sizeof err->message];
  sigset_t mask;
  ttm_child child;
  int status = join(script, r->hook, "ttmem_start.py", err);
  char *const argv[] = {python, script, NULL};
  sigprocmask(SIG_SETMASK, NULL, &mask);
  if (!status) status = ttm_child_start(&child, argv, &mask, err);
  if (status || listen(&child, text, sizeof text) != HAS_COMPLAINT) return status;
  return ttm_error_set(err, TTM_EUSAGE, "%s", text);
}

/* ---- The environment ----------------------------------------------------------------------------------------------- */

static int keep_environment(ttm_record *r, ttm_error *err) {
  for (size_t i = 0; i < VARIABLES; i++) {
    const char *value = getenv(variables[i]);
    if (value && !(r->old[i] = strdup(value))) return ttm_error_nomem(err);
  }
  r->changed = true;
  return TTM_OK;
}

static int set_in_folder(const ttm_record *r, const char *variable, const char *name, ttm_error *err) {
  char path[PATH_MAX];
  int status = join(path, r->dir.path, name, err);
  return status ? status : setenv(variable, path, 1) ? ttm_error_nomem(err) : TTM_OK;
}

/* Our folder first; what the user had stays behind it. */
static int set_python_path(const ttm_record *r, ttm_error *err) {
  const char *old = getenv("PYTHONPATH");
  ttm_buf path = {0};
  ttm_buf_printf(&path, "%s%s%s", r->hook, old && *old ? ":" : "", old ? old : "");
  ttm_buf_char(&path, '\0');
  int status = path.failed || setenv("PYTHONPATH", path.at, 1) ? ttm_error_nomem(err) : TTM_OK;
  ttm_buf_free(&path);
  return status;
}

static int set_board(const ttm_record *r, const char *descriptor, ttm_error *err) {
  char self[PATH_MAX];
  int why = ttm_os_program(self, sizeof self);
  if (why) return ttm_error_set(err, TTM_EIO, "cannot find this program's file: %s", strerror(why));
  for (size_t i = FIRST_UNWANTED; i < VARIABLES; i++) unsetenv(variables[i]);
  int status = set_in_folder(r, "TTMEM_ROOT", "root", err);
  if (!status) status = set_in_folder(r, "TT_METAL_CACHE", "cache", err);
  if (!status && (setenv("TTMEM_BOARD", r->board, 1) || setenv("TTMEM_COMPILER", self, 1) ||
                  setenv("TT_METAL_MOCK_CLUSTER_DESC_PATH", descriptor, 1)))
    status = ttm_error_nomem(err);
  return status;
}

/* Tells the recorder what the program would see without us: ttmem_environment.py. */
static int set_before(const ttm_record *r, ttm_error *err) {
  ttm_buf text = {0};
  for (size_t i = 0; i < VARIABLES; i++) {
    const char *now = getenv(variables[i]), *old = r->old[i];
    if ((i >= FIRST_OURS && i <= LAST_OURS) || (now && old ? !strcmp(now, old) : now == old)) continue;
    ttm_buf_printf(&text, "%s%s%s%s", text.n ? "\x1f" : "", variables[i], old ? "=" : "", old ? old : "");
  }
  ttm_buf_char(&text, '\0');
  int status = text.failed || setenv("TTMEM_BEFORE", text.at, 1) ? ttm_error_nomem(err) : TTM_OK;
  ttm_buf_free(&text);
  return status;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

/* As seen from wherever the program goes, without the links on the way: somebody could lead them elsewhere. */
static int place_recording(ttm_record *r, const char *path, ttm_error *err) {
  char folder[PATH_MAX], real[PATH_MAX];
  const char *name = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", name ? (int)(name - path) : 1, name ? path : ".");
  if (!realpath(name == path ? "/" : folder, real))
    return ttm_error_set(err, TTM_EIO, "cannot find the folder of %s: %s", path, strerror(errno));
  return join(r->recording, real, name ? name + 1 : path, err);
}

static int prepare(ttm_record *r, const ttm_record_options *o, ttm_error *err) {
  char descriptor[PATH_MAX];
  if (o->board && ttm_os_without_ttnn)
    return ttm_error_set(err, TTM_EUSAGE, "'--board' runs a ttnn program on a mock board; %s", ttm_os_without_ttnn);
  int status = place_recording(r, o->recording, err);
  if (!status) status = ttm_temp_dir_make(&r->dir, "run", err);
  if (!status && o->board) status = place_board(r, o->board, descriptor, err);
  if (!status) status = make_hook(r, err);
  if (!status && o->board && is_python(o->argv[0])) status = ask_python(r, o->argv[0], err);
  if (!status) status = keep_environment(r, err);
  for (size_t i = FIRST_OURS; !status && i <= LAST_OURS; i++) unsetenv(variables[i]);
  if (!status) status = set_python_path(r, err);
  if (!status && setenv("TTMEM_RECORDING", r->recording, 1)) status = ttm_error_nomem(err);
  if (!status && o->board) status = set_board(r, descriptor, err);
  if (!status) status = set_before(r, err);
  return status;
}

int ttm_record_begin(ttm_record **out, const ttm_record_options *options, ttm_error *err) {
  ttm_record *r = ttm_alloc(sizeof *r);
  if (!r) return ttm_error_nomem(err);
  int status = prepare(r, options, err);
  if (status)
    ttm_record_end(r);
  else
    *out = r;
  return status;
}

bool ttm_record_is_there(const ttm_record *r) {
  struct stat st;
  return !stat(r->recording, &st) && st.st_size > 0;
}

/* Lines of a process that was killed or crashed, up to the first zero. */
static void append_tail(int to, const char *path) {
  ttm_buf text = {0};
  char bytes[4096];
  ssize_t n, used = 1;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && used > 0 && (n = read(fd, bytes, sizeof bytes)) > 0) {
    used = (ssize_t)strnlen(bytes, (size_t)n);
    ttm_buf_put(&text, (ttm_str){bytes, (size_t)used});
    if (used < n) break;
  }
  if (fd >= 0) close(fd);
  if (!text.failed && text.n) ttm_write_all(to, text.at, text.n);
  ttm_buf_free(&text);
  unlink(path);
}

/* RECORDING.PID.tail beside the recording. */
static void append_tails(const ttm_record *r, int to) {
  char folder[PATH_MAX], path[PATH_MAX];
  const char *name = strrchr(r->recording, '/') + 1;
  snprintf(folder, sizeof folder, "%.*s", (int)(name - r->recording), r->recording);
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    size_t n = strlen(e->d_name);
    if (n > 5 && !strcmp(e->d_name + n - 5, ".tail") && !strncmp(e->d_name, name, strlen(name)) &&
        !join(path, folder, e->d_name, NULL))
      append_tail(to, path);
  }
  if (dir) closedir(dir);
}

void ttm_record_close(const ttm_record *r, const ttm_host_watch *h, int signal) {
  char end[512];
  int fd = open(r->recording, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return; /* the program opened no device */
  append_tails(r, fd);
  int n = snprintf(end, sizeof end,
                   ",\n{\"node_type\":\"host_end\",\"params\":{\"signal\":%d,\"oom_kills\":%" PRIu64 ",\"rss\":%" PRIu64
                   ",\"peak\":%" PRIu64 ",\"machine\":%" PRIu64 ",\"available\":%" PRIu64
                   ",\"lowest_available\":%" PRIu64 ",\"cgroup\":%" PRIu64 "}}\n]}\n",
                   signal, h->kills, h->now, h->peak, h->machine, h->available, h->lowest, h->cgroup);
  ttm_write_all(fd, end, (size_t)n);
  close(fd);
}

int ttm_record_check(const ttm_record *r, ttm_error *err) {
  char path[PATH_MAX + 16], text[sizeof err->message];
  snprintf(path, sizeof path, "%s.refused", r->recording);
  FILE *f = fopen(path, "r");
  if (!f) return TTM_OK;
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  unlink(path);
  if (ttm_record_is_there(r)) return TTM_OK; /* one Python looked for ttnn in vain, another one found it */
  while (n && text[n - 1] == '\n') n--;
  text[n] = '\0';
  return ttm_error_set(err, TTM_EUSAGE, "%s", text);
}

bool ttm_record_met_ttnn(const ttm_record *r) {
  char root[PATH_MAX]; /* the recorder makes it then */
  return !join(root, r->dir.path, "root", NULL) && !access(root, F_OK);
}

const char *ttm_record_board(const ttm_record *r) { return r->board[0] ? r->board : NULL; }

void ttm_record_end(ttm_record *r) {
  if (!r) return;
  for (size_t i = 0; i < VARIABLES; i++) {
    if (r->changed && r->old[i]) setenv(variables[i], r->old[i], 1);
    if (r->changed && !r->old[i]) unsetenv(variables[i]);
    free(r->old[i]);
  }
  ttm_temp_dir_remove(&r->dir);
  ttm_free(r);
}
