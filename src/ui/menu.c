/* SPDX-License-Identifier: Apache-2.0 */
/* The first thing one sees: what do you have, and what do you want? */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/boards.h"
#include "ui/text_lines.h"

typedef struct menu {
  ttm_panel panel;
  ttm_cursor cursor;
} menu;

/* ---- What the entries do ------------------------------------------------------------------------------------------- */

static int accept_log(ttm_ui *ui, const char *path, size_t choice, ttm_error *err) {
  struct stat st;
  (void)choice;
  if (stat(path, &st)) return ttm_error_set(err, TTM_EIO, "Cannot open it: %s", strerror(errno));
  if (S_ISDIR(st.st_mode)) return ttm_error_set(err, TTM_EUSAGE, "This is a folder; Tab shows what is in it.");
  if (!S_ISREG(st.st_mode)) return ttm_error_set(err, TTM_EUSAGE, "This is not a file.");
  if (!st.st_size) return ttm_error_set(err, TTM_EUSAGE, "This file is empty.");
  if (access(path, R_OK)) return ttm_error_set(err, TTM_EIO, "Cannot read it: %s", strerror(errno));
  ttm_ui_replace(ui, ttm_reading_panel(path));
  return TTM_OK;
}

/* In place, as a shell splits it: quotes and backslashes keep blanks. `words` has room for `most` and a NULL. */
static void split(char *text, char **words, size_t most) {
  size_t n = 0;
  for (char *to = text; n < most; n++) {
    char quote = 0;
    while (*text == ' ') text++;
    if (!*text) break;
    words[n] = to;
    for (; *text && (quote || *text != ' '); text++) {
      bool opens = !quote && (*text == '"' || *text == '\'');
      if (opens || (quote && *text == quote)) {
        quote = opens ? *text : 0;
        continue;
      }
      if (*text == '\\' && quote != '\'' && text[1]) text++;
      *to++ = *text;
    }
    if (*text) text++;
    *to++ = '\0';
  }
  words[n] = NULL;
}

/* A script is a file; a command may also be one of the PATH. */
static int check_script(const char *first, ttm_error *err) {
  struct stat st;
  bool on_path = !strchr(first, '/') && !ttm_str_ends(ttm_str_of(first), TTM_LIT(".py"));
  if (stat(first, &st)) return on_path ? TTM_OK : ttm_error_set(err, TTM_EIO, "Cannot open it: %s", strerror(errno));
  return S_ISREG(st.st_mode) ? TTM_OK : ttm_error_set(err, TTM_EUSAGE, "This is not a script.");
}

static int run_words(ttm_ui *ui, char **words, const char *board, ttm_error *err) {
  ttm_buf folder = {0}, source = {0};
  ttm_screen_leave(&ui->screen);
  int status = ui->options->run(ui->options->context, words, board, &folder, &source, err);
  ttm_screen_return(&ui->screen);
  ttm_buf_char(&folder, '\0');
  ttm_buf_char(&source, '\0');
  if (!status && (folder.failed || source.failed)) status = ttm_error_nomem(err);
  if (!status) {
    const char *slash = strrchr(folder.at, '/');
    ttm_ui_replace(ui, ttm_stored_panel(source.at, folder.at, slash ? slash + 1 : folder.at, 0));
  }
  ttm_buf_free(&folder);
  ttm_buf_free(&source);
  return status;
}

static int accept_script(ttm_ui *ui, const char *text, size_t choice, ttm_error *err) {
  enum { MOST_WORDS = 100 };
  char *words[MOST_WORDS + 1], *copy = ttm_str_copy(ttm_str_of(text));
  if (!copy) return ttm_error_nomem(err);
  split(copy, words, MOST_WORDS);
  int status = words[0] ? check_script(words[0], err) : ttm_error_set(err, TTM_EUSAGE, "This is not a script.");
  if (!status) status = run_words(ui, words, choice ? ttm_boards[choice - 1].name : NULL, err);
  ttm_free(copy);
  return status;
}

static int accept_message(ttm_ui *ui, const char *text, size_t choice, ttm_error *err) {
  (void)choice, (void)err;
  ttm_ui_replace(ui, ttm_answer_panel(ui, TTM_UI_EXPLAIN, text, ""));
  return TTM_OK;
}

static void open_log(ttm_ui *ui) {
  static const ttm_prompt prompt = {.title = "Open a log",
                                    .question = "Which log, graph capture or recording? (.gz and .zst too)",
                                    .accept = accept_log};
  ttm_ui_push(ui, ttm_prompt_panel(&prompt));
}

static void open_script(ttm_ui *ui) {
  static const char *choices[TTM_BOARDS + 2] = {"the devices of this machine"};
  static const ttm_prompt prompt = {.title = "Run a script",
                                    .question = "Which script or command, with its arguments?",
                                    .accept = accept_script,
                                    .words = true,
                                    .label = "On",
                                    .choices = choices};
  for (size_t i = 0; i < TTM_BOARDS; i++) choices[i + 1] = ttm_boards[i].name;
  ttm_ui_push(ui, ttm_prompt_panel(&prompt));
}

static void open_explain(ttm_ui *ui) {
  static const ttm_prompt prompt = {.title = "Explain a message",
                                    .question = "Which message? Paste it, or name a log that holds it.",
                                    .accept = accept_message,
                                    .pasted = true};
  ttm_ui_push(ui, ttm_prompt_panel(&prompt));
}

static void open_guide(ttm_ui *ui) { ttm_ui_push(ui, ttm_guide_panel()); }
static void open_browse(ttm_ui *ui) { ttm_ui_push(ui, ttm_browse_panel(ui, TTM_BROWSE_OPEN)); }
static void open_fit(ttm_ui *ui) { ttm_ui_push(ui, ttm_browse_panel(ui, TTM_BROWSE_FIT)); }
static void open_diff(ttm_ui *ui) { ttm_ui_push(ui, ttm_browse_panel(ui, TTM_BROWSE_DIFF)); }

static void open_live(ttm_ui *ui) {
  const ttm_ui_watch *watch;
  ttm_error err;
  if (ui->options->live(ui->options->context, &watch, &err)) return ttm_ui_complain(ui, err.message);
  ttm_panel *panel = ttm_watch_panel(watch);
  if (!panel) watch->end(watch->context);
  ttm_ui_push(ui, panel);
}

static const struct entry {
  const char *name, *what;
  void (*open)(ttm_ui *ui);
} ENTRIES[] = {
    {"Open a log", "Read a runtime log, a graph capture or a recording; write its report.", open_log},
    {"Run a script", "With its arguments, here or on a mock board; show its report.", open_script},
    {"How to get a log", "Step by step: the build, the switches, the command.", open_guide},
    {"Browse reports", "Open, serve or delete earlier reports.", open_browse},
    {"Explain a message", "What an out-of-memory or clash message means, what would have fit.", open_explain},
    {"Fit", "Which boards have enough memory for what a report recorded.", open_fit},
    {"Compare two reports", "What changed between two runs.", open_diff},
    {"Live", "The memory that running programs hold now.", open_live},
};
enum { ENTRY_COUNT = sizeof ENTRIES / sizeof *ENTRIES };

/* ---- The panel ----------------------------------------------------------------------------------------------------- */

static void draw_menu(ttm_ui *ui, ttm_panel *panel) {
  menu *m = (menu *)panel;
  ttm_screen *s = &ui->screen;
  bool roomy = s->rows >= 22 && s->columns >= 80;
  ttm_buf text = {0};
  ttm_buf_printf(&text, "  \x1b[1mWhere did the memory go?\x1b[0m\n\n");
  for (size_t i = 0; i < ENTRY_COUNT; i++) {
    bool chosen = i == m->cursor.at;
    ttm_buf_printf(&text, "  \x1b[36m%s \x1b[%sm %zu  %s \x1b[0m\n", chosen ? ttm_sign(s, "\xE2\x96\xB8", ">") : " ",
                   chosen ? "7" : "1", i + 1, ENTRIES[i].name);
    if (roomy) ttm_buf_printf(&text, "        \x1b[2m%s\x1b[0m\n", ENTRIES[i].what);
  }
  if (!roomy) ttm_buf_printf(&text, "\n  \x1b[2m%s", ENTRIES[m->cursor.at].what);
  ttm_draw_text(s, 2, &text);
}

static unsigned menu_key(ttm_ui *ui, ttm_panel *panel, int key) {
  menu *m = (menu *)panel;
  bool digit = key >= '1' && key < '1' + (int)m->cursor.n;
  if (digit) m->cursor.at = (size_t)(key - '1');
  if (digit || key == TTM_KEY_ENTER || key == 'l' || key == TTM_KEY_RIGHT) {
    ENTRIES[m->cursor.at].open(ui);
    return TTM_KEY_TAKEN;
  }
  if (key == TTM_KEY_ESCAPE) return TTM_KEY_TAKEN; /* the way out of the program is q */
  return ttm_cursor_key(&m->cursor, key) ? TTM_KEY_TAKEN : TTM_KEY_IGNORED;
}

static void free_menu(ttm_panel *panel) { ttm_free(panel); }

ttm_panel *ttm_menu_panel(void) {
  static const ttm_key_help keys[] = {{"Enter", "choose"}, {"j/k", "move"}, {"1-8", "choose at once"},
                                      {"?", "help"},       {"q", "quit"},   {NULL, NULL}};
  static const ttm_panel_class class = {
      .title = "Tenstorrent memory profiler", .keys = keys, .draw = draw_menu, .key = menu_key, .free = free_menu};
  menu *m = ttm_alloc(sizeof *m);
  if (!m) return NULL;
  m->panel.class = &class;
  m->cursor.n = ENTRY_COUNT;
  return &m->panel;
}

ttm_panel *ttm_guide_panel(void) {
  static const char guide[] =
      "\x1b[1m1. Build the runtime with its memory log\x1b[0m\n"
      "   tt-xla:   cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Debug \\\n"
      "                   -DTT_RUNTIME_DEBUG=ON && cmake --build build\n"
      "   CMAKE_BUILD_TYPE=Debug alone is not enough.\n"
      "\n"
      "\x1b[1m2. Set the switches\x1b[0m\n"
      "   export TTMLIR_RUNTIME_LOGGER_LEVEL=DEBUG       # operation lines\n"
      "   export TT_RUNTIME_MEMORY_LOG_LEVEL=operation   # a state before each one\n"
      "   export TTXLA_LOGGER_LEVEL=DEBUG                # weights by name, IR\n"
      "   A runtime too old for the second one needs this line at the start of\n"
      "   `execute` in flatbuffer_loaded_executable_instance.cc:\n"
      "     tt::runtime::setMemoryLogLevel(tt::runtime::MemoryLogLevel::Operation);\n"
      "\n"
      "\x1b[1m3. Run, and keep what it prints\x1b[0m\n"
      "   python3 -u model.py 2>&1 | tee model_profile.log\n"
      "\n"
      "\x1b[1m4. Come back here\x1b[0m\n"
      "   Choose \"Open a log\" and give model_profile.log.\n"
      "   Without this program: ttmem analyze model_profile.log\n"
      "\n"
      "\x1b[1mA program that calls ttnn itself\x1b[0m needs none of this:\n"
      "   ttmem run -- python3 model.py                 # records what it allocates\n"
      "   ttmem run --board n150 -- python3 model.py    # the same without hardware\n";
  ttm_buf text = {0};
  ttm_buf_puts(&text, guide);
  return ttm_text_panel("How to get a log", NULL, &text);
}
