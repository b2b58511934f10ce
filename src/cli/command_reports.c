/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept: ttmem ls, open, rm and prune; and the names by which every command finds it. */
#define _GNU_SOURCE /* fdopendir */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/format.h"
#include "base/os.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "history/past.h"
#include "launch/child.h"
#include "store/catalog.h"
#include "store/folder.h"
#include "store/report_dir.h"
#include "store/report_find.h"

/* ---- Names -------------------------------------------------------------------------------------------------------- */

static bool is_there(const char *path) {
  struct stat st;
  return !stat(path, &st);
}

static char *join_store(const char *name) {
  ttm_buf path = {0};
  if (ttm_report_root(&path, NULL)) return ttm_buf_free(&path), NULL;
  ttm_buf_printf(&path, "/%s", name);
  return ttm_buf_take(&path);
}

/* A history that cannot be read knows no names. */
static int find_in_history(char **out, ttm_buf *run, const char *name, ttm_error *err) {
  ttm_history *history = NULL;
  ttm_buf path = {0};
  *out = NULL;
  if (ttm_history_open(&history, NULL, false, NULL)) return TTM_OK;
  int status = ttm_past_locate(history, ttm_str_of(name), &path, run, err);
  ttm_history_close(history);
  if (status != TTM_EUSAGE && status != TTM_ENOMEM) status = TTM_OK;
  if (!status && path.n) *out = ttm_buf_take(&path);
  ttm_buf_free(&path);
  return status;
}

int ttm_named_find(char **out, const char *name, ttm_error *err) {
  ttm_buf run = {0};
  int status = TTM_OK;
  *out = NULL;
  if (strchr(name, '/') || !strcmp(name, "-") || !strcmp(name, ".") || is_there(name)) return TTM_OK;
  char *path = name[0] == '.' ? NULL : join_store(name);
  if (!path || !is_there(path)) {
    ttm_free(path);
    status = find_in_history(&path, &run, name, err);
  }
  if (path && !is_there(path)) ttm_free(path), path = NULL;
  ttm_buf_free(&run);
  *out = path;
  return status;
}

/* ---- ls ----------------------------------------------------------------------------------------------------------- */

static int read_store(ttm_catalog *out, ttm_error *err) {
  ttm_buf root = {0};
  *out = (ttm_catalog){0};
  int status = ttm_report_root(&root, err);
  ttm_buf_char(&root, '\0');
  if (!status && root.failed) status = ttm_error_nomem(err);
  if (!status && is_there(root.at)) status = ttm_catalog_read(out, root.at, err);
  ttm_buf_free(&root);
  return status;
}

/* Of all files in the folder of a report. */
static uint64_t size_of(const ttm_catalog *catalog, const ttm_catalog_entry *entry) {
  char *path = ttm_folder_join(catalog->root, entry->folder, "");
  DIR *dir = path ? opendir(path) : NULL;
  struct dirent *file;
  struct stat st;
  uint64_t bytes = 0;
  while (dir && (file = readdir(dir)))
    if (!fstatat(dirfd(dir), file->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
      bytes += (uint64_t)st.st_size;
  if (dir) closedir(dir);
  ttm_free(path);
  return bytes;
}

static void cell_peak(ttm_doc *doc, double mb) { mb < 0 ? ttm_doc_cell(doc, "-") : ttm_doc_cell_mb(doc, mb); }

static void put_list(ttm_doc *doc, const ttm_catalog *catalog) {
  /* A time is a number to the eye: it stays on one line. */
  static const char *const heads[] = {"Report", ">UTC", ">Size", ">DRAM, MB", ">L1, MB", ">Operations", "<Failure"};
  ttm_doc_table(doc, heads, sizeof heads / sizeof *heads);
  for (size_t i = 0; i < catalog->entries.n; i++) {
    const ttm_catalog_entry *e = &catalog->entries.at[i];
    ttm_doc_cell_text(doc, ttm_str_of(e->folder));
    ttm_doc_cell(doc, "%s", TTM_DAY(e->written * 1000000));
    ttm_doc_cell_bytes(doc, size_of(catalog, e));
    cell_peak(doc, e->peak_mb);
    cell_peak(doc, e->l1_peak_mb);
    ttm_doc_cell_count(doc, e->operations);
    ttm_doc_cell_text(doc, *e->failure ? ttm_str_of(e->failure) : TTM_LIT("-"));
  }
  ttm_doc_table_end(doc);
}

static int run_ls(const ttm_options *options, ttm_error *err) {
  ttm_catalog catalog;
  ttm_output_form form;
  ttm_buf text = {0};
  int status = ttm_output_form_of(&form, options, err);
  if (status) return status;
  status = read_store(&catalog, err);
  ttm_doc doc = ttm_output_doc(form, options, &text);
  ttm_doc_begin(&doc, "Stored reports, newest first");
  if (!status && !catalog.entries.n && !ttm_doc_is_data(&doc))
    ttm_doc_line(&doc, "None yet: 'ttmem analyze' and 'ttmem run' store them.");
  else if (!status)
    put_list(&doc, &catalog);
  if (ttm_doc_end(&doc) && !status) status = ttm_error_nomem(err);
  ttm_catalog_free(&catalog);
  return ttm_output_deliver(options, &text, status, err);
}

const ttm_command ttm_command_ls = {
    .name = "ls",
    .synopsis = "ls [options]",
    .help = "the reports that are stored",
    .more = "Their names are accepted wherever a LOG is, and so are ids, names and models of runs in the history.",
    .examples = "ttmem ls\nttmem ask llama-small --at-peak",
    .takes =
        TTM_TAKES(TTM_OPTION_JSON, TTM_OPTION_CSV, TTM_OPTION_MD, TTM_OPTION_HTML, TTM_OPTION_OUTPUT, TTM_OPTION_COLOR),
    .run = run_ls,
};

/* ---- open --------------------------------------------------------------------------------------------------------- */

/* False when there is none, or it could not show the page. */
static bool show_page(const char *page) {
  const char *browser = getenv("BROWSER"), *program = browser && *browser ? browser : "xdg-open";
  char *const argv[] = {(char *)program, (char *)page, NULL};
  sigset_t mask;
  pid_t pid;
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0;
  if (nowhere < 0) return false;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  int failed = ttm_child_spawn(&pid, argv, environ, (const int[]){nowhere, nowhere, nowhere}, &mask);
  close(nowhere);
  return !failed && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static int run_open(const ttm_options *options, ttm_error *err) {
  const char *name = options->input[0];
  char *folder = NULL;
  ttm_report_found found = {0};
  ttm_buf text = {0};
  int status = ttm_named_find(&folder, name, err);
  if (!status) status = ttm_report_find(&found, folder ? folder : name, err);
  if (!status && !found.page)
    status = ttm_error_set(err, TTM_ENODATA, "the report '%s' has no page; 'ttmem html %s' writes one", name, name);
  if (!status) {
    ttm_buf_puts(&text, show_page(found.page) ? "opened " : "no browser here (BROWSER, xdg-open); the page is ");
    ttm_put_text(&text, ttm_str_of(found.page), SIZE_MAX, TTM_FORM_UTF8);
    ttm_buf_char(&text, '\n');
    status = ttm_terminal_print(&text, err);
  }
  ttm_report_found_free(&found);
  ttm_free(folder);
  return status;
}

const ttm_command ttm_command_open = {
    .name = "open",
    .synopsis = "open REPORT",
    .help = "the page of a stored report, in the browser",
    .more = "BROWSER names the browser, else xdg-open finds one. Without any, the path is printed.",
    .examples = "ttmem open llama-small",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a report: ttmem open REPORT ('ttmem ls' lists them)",
    .takes = TTM_TAKES(TTM_OPTION_COLOR),
    .run = run_open,
};

/* ---- rm and prune ------------------------------------------------------------------------------------------------- */

static const ttm_catalog_entry *find_entry(const ttm_catalog *catalog, const char *folder) {
  for (size_t i = 0; i < catalog->entries.n; i++)
    if (!strcmp(catalog->entries.at[i].folder, folder)) return &catalog->entries.at[i];
  return NULL;
}

static int say_deleted(const char *what, const char *name, ttm_error *err) {
  ttm_buf text = {0};
  ttm_buf_printf(&text, "%s ", what);
  ttm_put_text(&text, ttm_str_of(name), SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_char(&text, '\n');
  return ttm_terminal_print(&text, err);
}

static int delete_entry(const ttm_options *options, const ttm_catalog *catalog, const ttm_catalog_entry *entry,
                        ttm_error *err) {
  bool only_said = options->given[TTM_OPTION_DRY_RUN];
  int status = only_said ? TTM_OK : ttm_catalog_delete(catalog, entry, true, err);
  return status ? status : say_deleted(only_said ? "would delete" : "deleted", entry->folder, err);
}

/* Only an id (or its beginning) forgets a run: names and models may be those of many. */
static int forget_run(const ttm_options *options, const char *name, ttm_error *err) {
  ttm_history *history = NULL;
  ttm_buf path = {0}, run = {0};
  int status = ttm_history_open(&history, NULL, true, err);
  if (!status) status = ttm_past_locate(history, ttm_str_of(name), &path, &run, err);
  if (!status && (!run.n || !ttm_str_starts(ttm_buf_str(&run), ttm_str_of(name))))
    status = ttm_error_set(err, TTM_ENODATA,
                           "there is no report '%s' and no such run; 'ttmem ls' and 'ttmem history' list them", name);
  ttm_buf_char(&run, '\0');
  bool only_said = options->given[TTM_OPTION_DRY_RUN];
  if (!status && !only_said) status = ttm_history_forget(history, run.at, err);
  if (!status) status = say_deleted(only_said ? "would forget run" : "forgot run", run.at, err);
  ttm_history_close(history);
  ttm_buf_free(&path);
  ttm_buf_free(&run);
  return status;
}

static int run_rm(const ttm_options *options, ttm_error *err) {
  ttm_catalog catalog;
  int status = read_store(&catalog, err);
  for (size_t i = 0; i < options->inputs && !status; i++) {
    const ttm_catalog_entry *entry = find_entry(&catalog, options->input[i]);
    status = entry ? delete_entry(options, &catalog, entry, err) : forget_run(options, options->input[i], err);
  }
  ttm_catalog_free(&catalog);
  return status;
}

const ttm_command ttm_command_rm = {
    .name = "rm",
    .synopsis = "rm REPORT|RUN... [--dry-run]",
    .help = "delete stored reports, or forget runs",
    .more =
        "A report goes with the log and the recording that 'ttmem run' kept beside it; logs elsewhere stay. The run "
        "stays in the history: its "
        "id, or the beginning of it, takes it out.",
    .examples = "ttmem rm llama-small\nttmem rm 20261116-081729",
    .min_inputs = 1,
    .max_inputs = TTM_MAX_INPUTS,
    .needs = "a report or a run: ttmem rm REPORT|RUN... ('ttmem ls' and 'ttmem history' list them)",
    .takes = TTM_TAKES(TTM_OPTION_DRY_RUN),
    .run = run_rm,
};

/* What stays: so many, those since then, or as many as fit. */
typedef struct keep {
  uint64_t count, bytes;
  int64_t since; /* seconds */
} keep;

static int read_keep(keep *out, const char *text, ttm_error *err) {
  char *end;
  double n = strtod(text, &end);
  double unit = !strcmp(end, "GB") ? 0x1p30 : !strcmp(end, "MB") ? 0x1p20 : 0;
  *out = (keep){UINT64_MAX, UINT64_MAX, 0};
  bool fine = end != text && n >= 0 && n < 1e9;
  if (fine && !*end && n == (double)(uint64_t)n) return out->count = (uint64_t)n, TTM_OK;
  if (fine && unit > 0) return out->bytes = (uint64_t)(n * unit), TTM_OK;
  if (fine && ttm_since_read(text, &out->since)) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE,
                       "option '--keep' takes a number of reports, 30d, 12h, 2w, 2026-11-16, 500MB or 5GB, not '%s'",
                       text);
}

static int run_prune(const ttm_options *options, ttm_error *err) {
  ttm_catalog catalog;
  keep keep;
  uint64_t bytes = 0;
  if (!options->value[TTM_OPTION_KEEP])
    return ttm_error_set(err, TTM_EUSAGE, "prune needs --keep: how much is to stay");
  int status = read_keep(&keep, options->value[TTM_OPTION_KEEP], err);
  if (status) return status;
  status = read_store(&catalog, err);
  for (size_t i = 0; i < catalog.entries.n && !status; i++) { /* newest first */
    const ttm_catalog_entry *entry = &catalog.entries.at[i];
    bytes += size_of(&catalog, entry);
    if (i >= keep.count || bytes > keep.bytes || entry->written < keep.since)
      status = delete_entry(options, &catalog, entry, err);
  }
  ttm_catalog_free(&catalog);
  return status;
}

const ttm_command ttm_command_prune = {
    .name = "prune",
    .synopsis = "prune --keep N|AGE|SIZE [--dry-run]",
    .help = "delete the oldest stored reports",
    .more =
        "As 'ttmem rm' does, of all but the newest N, those of the last AGE (30d, 12h, 2w), or the newest that fit "
        "SIZE (500MB, 5GB). The history stays.",
    .examples = "ttmem prune --keep 50\nttmem prune --keep 30d --dry-run",
    .takes = TTM_TAKES(TTM_OPTION_KEEP, TTM_OPTION_DRY_RUN),
    .run = run_prune,
};
