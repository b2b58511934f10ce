/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal and a browser see, with every allocation made to fail in turn: sessions of the interactive program, typed by a
 * script into the real ncurses, and requests to a real server. No session may crash, hang or keep a block; a page is whole, says
 * what is wrong, or does not come. */
#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#define STARVE_RUNS 20 /* a session takes as long as a whole command */
#include <arpa/inet.h>
#include <curses.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "segment_fixture.h"
#include "serve/server.h"
#include "starved_command.h"
#include "ui/ui.h"
#include "watch/watch.h"

static const char *report_folder(void) {
  static char path[96];
  if (!*path) {
    snprintf(path, sizeof path, "%s/reports/r", root);
    outcome made = run_command(
        STARVED_WORDS("analyze", CLI_DATA "two_runs_oom_profile.log", "--name", "r", "--output-dir", path, "-j", "1"));
    assert_int_equal(made.status, TTM_EXIT_OK);
    outcome_free(&made);
  }
  return path;
}

/* ---- The terminal -------------------------------------------------------------------------------------------------- */

enum { ROWS = 24, COLUMNS = 80 };

static struct {
  const char *next; /* key */
  size_t after;     /* keys since the script ended */
  long waited;
  bool entered; /* the last key was Enter: nobody types on at once */
  bool seen;    /* `want` was on the screen */
  const char *want;
} typist;

/* The screen as text of single bytes: those that are looked for are ASCII, and what ncurses makes of others takes an allocation per cell. */
static const char *read_screen(void) {
  static char text[ROWS * (COLUMNS + 1) + 1];
  size_t n = 0;
  for (int i = 0; i < ROWS; i++) {
    chtype cells[COLUMNS + 1];
    int row = mvinchnstr(i, 0, cells, COLUMNS);
    for (int c = 0; c < row; c++) text[n++] = cells[c] & A_CHARTEXT ? (char)(cells[c] & A_CHARTEXT) : ' ';
    text[n++] = '\n';
  }
  text[n] = '\0';
  return text;
}

/* In place of that of ncurses. A log that is being read is waited for; the end of every script is a way out of every panel. */
int wgetch(WINDOW *window) {
  (void)window;
  const char *screen = read_screen();
  if (strstr(screen, " Reading") || strstr(screen, " Analyzing")) {
    assert_true(typist.waited++ < 100000);
    usleep(200);
    return ERR;
  }
  if (strstr(screen, typist.want)) typist.seen = true;
  if (typist.entered) return typist.entered = false, ERR;
  typist.entered = *typist.next == '\n';
  if (*typist.next) return (unsigned char)*typist.next++;
  assert_true(typist.after < 100);
  return typist.after++ % 2 ? 'Q' : 27;
}

static int serve_nothing(void *context, const char *folder, const char **url, ttm_error *err) {
  (void)context, (void)folder, (void)err;
  *url = "http://localhost:1/";
  return TTM_OK;
}

static void unserve_nothing(void *context) { (void)context; }

static int run_nothing(void *context, char **words, const char *board, ttm_buf *folder, ttm_buf *log, ttm_error *err) {
  (void)context, (void)words, (void)board;
  ttm_buf_puts(folder, report_folder());
  ttm_buf_puts(log, CLI_DATA "two_runs_oom_profile.log");
  return folder->failed || log->failed ? ttm_error_nomem(err) : TTM_OK;
}

static int answer_nothing(void *context, const ttm_ui_question *question, ttm_buf *out, ttm_error *err) {
  (void)context;
  ttm_buf_printf(out, "Asked %d about %s%s", (int)question->command, question->inputs[0], question->inputs[1]);
  return out->failed ? ttm_error_nomem(err) : TTM_OK;
}

static int watch_nothing(void *context, const ttm_ui_watch **out, ttm_error *err) {
  (void)context, (void)out;
  return ttm_error_set(err, TTM_EIO, "nothing runs");
}

typedef struct session {
  const char *keys, *want; /* what is typed; what is seen on the way with plenty of memory */
  const ttm_ui_watch *watch;
} session;

static bool work_session(void *context, bool plenty) {
  const session *s = context;
  ttm_error err = {0};
  ttm_ui_options options = {.watch = s->watch,
                            .serve = serve_nothing,
                            .unserve = unserve_nothing,
                            .run = run_nothing,
                            .answer = answer_nothing,
                            .live = watch_nothing};
  long before = starve_alive;
  memset(&typist, 0, sizeof typist);
  typist.next = s->keys;
  typist.want = s->want;
  int kept = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nothing, STDOUT_FILENO);
  close(nothing);
  int status = ttm_ui_run(&options, &err);
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  for (int i = 0; i < 50000 && starve_alive != before; i++) usleep(100); /* the thread that read lets go as well */
  if (plenty && !status && typist.seen) return true;
  if (!plenty && (!status || (status == TTM_ENOMEM && err.code == TTM_ENOMEM))) return true;
  fprintf(stderr, "'%s': status %d, %s\n", s->want, status, typist.seen ? "seen" : "not seen");
  return false;
}

static void type_session(const char *keys, const char *want) {
  session s = {.keys = keys, .want = want};
  if (getenv("TTMEM_TEST_VERBOSE")) print_message("%s\n", want);
  starve_walk(work_session, &s);
}

static void looking_around(void **state) {
  (void)state;
  type_session("?", "leave the program");
  type_session("3jjq", "Build the runtime");
  type_session("2nothing.py\n\x15\t\x17zzz\t", "No file or folder");
}

static void reading_a_log(void **state) {
  (void)state;
  setenv("HOME", CLI_DATA, 1);
  type_session("1~/two_runs_oom_\t\n2hl+-mp\nq", "before #8 ttnn.softmax");
  type_session("1~/two_runs_oom_\t\n\tj\nq4m5ooo/SOFT\n\nq67", "2 of 9 operations, by name");
  type_session("1~/two_runs_oom_\t\n2vvm8", "Where it lies is unknown");
  type_session("1~/../../data/capture_small.json\n8lc", "Core 4-4");
  type_session("1~/hostile.log\n", "Report");
  type_session("1~/../../data/cb/forms.cpp\n", "Not a log");
}

static void browsing(void **state) {
  (void)state;
  report_folder();
  setenv("TTMEM_HOME", root, 1);
  type_session("4/r\n\n4q", "raised by");
  type_session("4sqS", "http://localhost:1/");
  type_session("5why\n", "Asked 0 about why");
  type_session("6\n", "Asked 1 about");
  type_session("7\n\n", "Asked 2 about");
  setenv("TTMEM_HOME", in_root("home"), 1);
}

static bool tick_nothing(void *context, const char **message) {
  (void)context;
  *message = NULL;
  return true;
}

static void watching(void **state) {
  (void)state;
  static segment s;
  ttm_watch watch;
  segment_init(&s, 0x1234, 0);
  segment_slot(&s, 0, getpid(), segment_now(), "starved", 1 << 20, 4096, 0);
  segment_write(&s, root, 0x1234, sizeof s.bytes);
  ttm_watch_init(&watch, &(ttm_watch_options){.dir = root, .sysfs = "/nowhere", .board = &ttm_boards[0]});
  assert_int_equal(ttm_watch_look(&watch, 0, NULL), TTM_OK);
  ttm_ui_watch shown = {.watch = &watch, .recording = "file", .tick = tick_nothing};
  session typed = {.keys = "smi/st\n?", .want = "starved", .watch = &shown};
  starve_walk(work_session, &typed);
  ttm_watch_free(&watch);
}

/* ---- The server ---------------------------------------------------------------------------------------------------- */

/* The whole response, malloc'ed; empty when the connection was closed. */
static char *ask(unsigned port, const char *request) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  char *text = malloc(1 << 22);
  size_t n = 0;
  assert_true(fd >= 0 && text && !connect(fd, (struct sockaddr *)&to, sizeof to));
  char whole[512];
  int length = snprintf(whole, sizeof whole, "GET %s\r\nHost: localhost\r\nConnection: close\r\n\r\n", request);
  assert_int_equal(send(fd, whole, (size_t)length, MSG_NOSIGNAL), length);
  for (ssize_t got; n < (1 << 22) - 1 && (got = recv(fd, text + n, (1 << 22) - 1 - n, 0)) > 0;) n += (size_t)got;
  text[n] = '\0';
  close(fd);
  return text;
}

/* Status, target and body; no other header. */
static bool same_response(const char *a, const char *b) {
  const char *body_a = strstr(a, "\r\n\r\n"), *body_b = strstr(b, "\r\n\r\n");
  const char *to_a = strstr(a, "\r\nLocation: "), *to_b = strstr(b, "\r\nLocation: ");
  if (!body_a || !body_b || strncmp(a, b, 13) != 0 || strcmp(body_a, body_b) != 0 || !to_a != !to_b) return false;
  return !to_a || !strncmp(to_a, to_b, strcspn(to_a + 2, "\r") + 2);
}

enum { MOST_REQUESTS = 8 };

typedef struct served {
  const char *path, *store;
  const char *const *requests;
  char *whole[MOST_REQUESTS];
} served;

static bool work_server(void *context, bool plenty) {
  served *s = context;
  const char *const *requests = s->requests;
  ttm_server *server = NULL;
  ttm_error err = {0};
  bool fine = true;
  unsigned port;
  int status = ttm_server_start(
      &server,
      &(ttm_server_options){
          .path = s->path, .metrics = true, .shm = root, .history = s->store, .store = s->store, .no_token = true},
      &err);
  if (status) return !plenty && status == TTM_ENOMEM && err.code == TTM_ENOMEM;
  assert_int_equal(sscanf(ttm_server_url(server), "http://localhost:%u/", &port), 1);
  for (size_t i = 0; i < MOST_REQUESTS && requests[i]; i++) {
    char *text = ask(port, requests[i]);
    bool right = plenty ? *text && strncmp(text, "HTTP/1.1 5", 10) != 0
                        : !*text || !strncmp(text, "HTTP/1.1 503", 12) || same_response(text, s->whole[i]);
    if (!right) fprintf(stderr, "%s: %.200s\n", requests[i], text);
    fine &= right;
    if (!plenty) {
      free(text);
      continue;
    }
    free(s->whole[i]);
    s->whole[i] = text;
  }
  ttm_server_stop(server);
  return fine;
}

static void starve_server(served s) {
  starve_walk(work_server, &s);
  for (size_t k = 0; k < MOST_REQUESTS; k++) free(s.whole[k]);
}

static void serving(void **state) {
  static const char *const requests[MOST_REQUESTS] = {"/ HTTP/1.1",
                                                      "/r HTTP/1.1",
                                                      "/r/ HTTP/1.1",
                                                      "/r/r_memory.json HTTP/1.1",
                                                      "/metrics HTTP/1.1",
                                                      "/none HTTP/1.1",
                                                      "/compare?a=r&b=r HTTP/1.1",
                                                      "/r/r_report.html HTTP/1.1\r\nAccept-Encoding: gzip"};
  (void)state;
  char all[96];
  snprintf(all, sizeof all, "%s/reports", root);
  const char *one = report_folder(), *const paths[] = {all, one};
  for (size_t i = 0; i < 2; i++) starve_server((served){.path = paths[i], .requests = requests});
}

static void serving_the_history(void **state) {
  (void)state;
  char all[96], store[96];
  const char *no = getenv("TTMEM_NO_HISTORY");
  snprintf(all, sizeof all, "%s/reports", root);
  snprintf(store, sizeof store, "%s/h.sqlite", root);
  unsetenv("TTMEM_NO_HISTORY");
  for (int i = 0; i < 2; i++) {
    outcome made = run_command(STARVED_WORDS("analyze", CLI_DATA "two_runs_oom_profile.log", "-j", "1", "--output-dir",
                                             report_folder(), "--name", "r", "--model", i ? "b" : "a", "--no-html",
                                             "--store", store));
    assert_int_equal(made.status, TTM_EXIT_OK);
    outcome_free(&made);
  }
  if (no) setenv("TTMEM_NO_HISTORY", no, 1);
  static const char *const requests[MOST_REQUESTS] = {"/ HTTP/1.1", "/?q=N150+two HTTP/1.1", "/models HTTP/1.1",
                                                      "/trend?model=b&board=n150 HTTP/1.1", "/live HTTP/1.1"};
  starve_server((served){.path = all, .store = store, .requests = requests});
}

static int set_up(void **state) {
  return make_root(state) || setenv("TERM", "vt100", 1) || setenv("LINES", "24", 1) || setenv("COLUMNS", "80", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(looking_around), cmocka_unit_test(reading_a_log), cmocka_unit_test(browsing),
      cmocka_unit_test(watching),       cmocka_unit_test(serving),       cmocka_unit_test(serving_the_history),
  };
  return cmocka_run_group_tests(tests, set_up, remove_root);
}
