/* SPDX-License-Identifier: Apache-2.0 */
/* Whole commands, run in this process on a heap that refuses. A run that says it worked must have printed what it prints with plenty
 * of memory; one that did not says so and why; neither keeps a block, or leaves a half-written file behind. */
#ifndef TTM_TESTS_STARVED_COMMAND_H
#define TTM_TESTS_STARVED_COMMAND_H

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

#include "cli/command.h"
#include "starving.h"

#define DATA TTMEM_SOURCE "/tests/data/"
#define CLI_DATA TTMEM_SOURCE "/tests/cli/data/"

static char root[] = "/tmp/ttmem-starve-XXXXXX"; /* everything these tests write */

static inline const char *in_root(const char *name) {
  static char paths[8][96];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", root, name);
  return path;
}

static inline int make_root(void **state) {
  (void)state;
  return !mkdtemp(root) || setenv("TTMEM_HOME", in_root("home"), 1) || setenv("TERM", "dumb", 1) ||
         setenv("TMPDIR", root, 1);
}

static inline int remove_root(void **state) {
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

/* ---- Running a command --------------------------------------------------------------------------------------------- */

#ifndef COMMAND_RUN
#define COMMAND_RUN ttm_cli_run /* a test may put something around it */
#endif
enum { MOST_WORDS = 16 };

typedef struct outcome {
  int status;
  ttm_str out, err; /* malloc'ed */
} outcome;

static inline void outcome_free(outcome *o) {
  free((char *)o->out.p);
  free((char *)o->err.p);
}

static inline ttm_str read_back(int fd) {
  off_t n = lseek(fd, 0, SEEK_END);
  char *text = malloc((size_t)n + 1);
  assert_non_null(text);
  assert_int_equal(pread(fd, text, (size_t)n, 0), n);
  text[n] = '\0';
  return (ttm_str){text, (size_t)n};
}

/* Present under a sanitizer only: what it finds must not go where the command's own words go. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

static inline void report_to(int fd) {
  if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)fd);
}

static inline outcome run_command(const char *const *words) {
  char *argv[MOST_WORDS + 1] = {0};
  int argc = 0, fds[2], kept[2];
  outcome o;
  for (; words[argc]; argc++) argv[argc] = (char *)words[argc];
  for (int i = 0; i < 2; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s/.fd%d", root, i + 1);
    fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
    assert_true(fds[i] >= 0 && kept[i] >= 0 && dup2(fds[i], i + 1) >= 0);
  }
  report_to(kept[1]);
  o.status = COMMAND_RUN(TTM_PROGRAM_TTMEM, argc, argv);
  fflush(stdout);
  report_to(STDERR_FILENO);
  for (int i = 0; i < 2; i++) {
    dup2(kept[i], i + 1);
    close(kept[i]);
  }
  o.out = read_back(fds[0]);
  o.err = read_back(fds[1]);
  close(fds[0]);
  close(fds[1]);
  return o;
}

/* ---- Judging it ---------------------------------------------------------------------------------------------------- */

static char left_behind[256];

static inline int look_for_leftover(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind;
  const char *name = path + at->base;
  if (strncmp(name, ".ttmem-", 7) != 0 && strncmp(name, "ttmem-", 6) != 0 && !strstr(name, ".tmp")) return 0;
  if (!strcmp(path, root)) return 0;
  snprintf(left_behind, sizeof left_behind, "%s", path);
  return 1;
}

/* Half-written files and temporary folders; their names start like this. */
static inline bool leaves_something(void) { return nftw(root, look_for_leftover, 16, FTW_PHYS) > 0; }

typedef struct command_case {
  const char *const *words;
  void (*before)(void); /* each run, NULL */
  int wanted;           /* exit status with plenty of memory */
  outcome whole;        /* with plenty of memory */
  const char *target;   /* what -o names, NULL */
  ttm_str written;      /* there, with plenty of memory; malloc'ed */
} command_case;

static inline const char *find_target(const char *const *words) {
  for (; words[0] && words[1]; words++)
    if (!strcmp(words[0], "-o") && words[1][0] == '/') return words[1];
  return NULL;
}

static inline ttm_str read_target(const command_case *c) {
  int fd = c->target ? open(c->target, O_RDONLY | O_CLOEXEC) : -1;
  ttm_str text = {NULL, 0};
  if (fd >= 0) text = read_back(fd), close(fd);
  return text;
}

/* Whatever becomes of the command, the file is the whole new one or the last one, which are the same. */
static inline bool is_target_whole(const command_case *c) {
  ttm_str now = read_target(c);
  bool same = now.n == c->written.n && (!now.n || !memcmp(now.p, c->written.p, now.n));
  free((char *)now.p);
  return same;
}

/* The same bytes, but for digits: what watches a while says how long it has. */
static inline bool is_same_output(ttm_str a, ttm_str b) {
  if (a.n != b.n) return false;
  for (size_t i = 0; i < a.n; i++) {
    bool digits = a.p[i] >= '0' && a.p[i] <= '9' && b.p[i] >= '0' && b.p[i] <= '9';
    if (a.p[i] != b.p[i] && !digits) return false;
  }
  return true;
}

static inline bool is_right(const outcome *o, const outcome *whole, bool exactly) {
  if (leaves_something()) return false;
  if (o->status != TTM_EXIT_WRONG || whole->status == TTM_EXIT_WRONG)
    return o->status == whole->status && is_same_output(o->out, whole->out) &&
           (!exactly || !memcmp(o->out.p, whole->out.p, o->out.n));
  return strstr(o->err.p, "emory on this host") != NULL; /* the reason is told */
}

static inline bool work_command(void *context, bool plenty) {
  command_case *c = context;
  if (c->before) c->before();
  outcome o = run_command(c->words);
  if (plenty) {
    outcome_free(&c->whole);
    free((char *)c->written.p);
    c->whole = o;
    c->written = read_target(c);
    if (o.status != c->wanted) fprintf(stderr, "exit %d with plenty of memory: %s\n", o.status, o.err.p);
    return o.status == c->wanted && !leaves_something();
  }
  bool whole = is_target_whole(c), fine = whole && is_right(&o, &c->whole, !c->before);
  if (!fine) {
    size_t same = 0;
    while (same < o.out.n && same < c->whole.out.n && o.out.p[same] == c->whole.out.p[same]) same++;
    for (const char *const *word = c->words; *word; word++) fprintf(stderr, " %s", *word);
    fprintf(stderr, "\nexit %d, %zu of %zu bytes printed, the first %zu right, left behind: %s%s\nstderr: %s\n",
            o.status, o.out.n, c->whole.out.n, same, left_behind, whole ? "" : ", the file is not whole", o.err.p);
  }
  outcome_free(&o);
  return fine;
}

static inline void starve_command(const char *const *words, int wanted, void (*before)(void)) {
  command_case c = {.words = words, .before = before, .wanted = wanted, .target = find_target(words)};
  if (getenv("TTMEM_TEST_VERBOSE")) print_message("%s %s\n", words[1], words[2]);
  starve_walk(work_command, &c);
  outcome_free(&c.whole);
  free((char *)c.written.p);
}

#define STARVED_WORDS(...) ((const char *const[]){"ttmem", __VA_ARGS__, NULL})
#define STARVE(...) starve_command(STARVED_WORDS(__VA_ARGS__), TTM_EXIT_OK, NULL)
#define STARVE_TO(wanted, ...) starve_command(STARVED_WORDS(__VA_ARGS__), wanted, NULL)
#define STARVE_AFTER(before, ...) starve_command(STARVED_WORDS(__VA_ARGS__), TTM_EXIT_OK, before)

#endif
