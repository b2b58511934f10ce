/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "serve/history.h"

#include <unistd.h>

#include "base/format.h"
#include "base/host_name.h"
#include "history/past.h"
#include "report/live/watch_report.h"
#include "report/write/svg.h"
#include "serve/chart.h"
#include "serve/pages.h"
#include "store/catalog.h"

enum {
  PAGE = 50,
  LAST = 1000,
  LAST_IN_TABLE = 25,
  SPARKS = 30,

  LONGEST = 200,
  SHORT_COMMIT = 8,
  MOST_PAGES = 100000000
};

typedef struct site {
  ttm_buf *out;
  const ttm_history_site *about;
  const ttm_history_asked *asked;
  ttm_history *history;
  ttm_error *err;
} site;

static ttm_str given(const char *parameter) { return ttm_str_of(parameter ? parameter : ""); }

/* ---- Pieces ------------------------------------------------------------------------------------------------------- */

static void put_text(ttm_buf *out, ttm_str words) { ttm_xml_text(out, words, LONGEST); }

/* "&name=value", as it stands in an attribute. */
static void put_parameter(ttm_buf *out, const char *name, ttm_str value) {
  if (!value.n) return;
  ttm_buf_printf(out, "%s=", name);
  ttm_put_url(out, value);
  ttm_buf_puts(out, "&amp;");
}

/* What a training log tells is of the whole device: it has a unit also where the head of the table names that of a bank. */
static void put_peak(ttm_buf *out, const ttm_series *s, const ttm_past_peak *peak, bool unit) {
  if (!peak->known) return ttm_buf_puts(out, "<span class=\"dim\">unknown</span>");
  ttm_buf_puts(out, peak->at_least ? "≥ " : "");
  ttm_put_mb(out, ttm_mib((uint64_t)peak->bytes));
  bool bank = *ttm_series_per(s);
  if (unit || !bank) ttm_buf_puts(out, bank ? " MB/bank" : " MB");
  ttm_page_level(out, peak->capacity > 0 ? (double)peak->bytes * 100 / (double)peak->capacity : -1);
}

static void put_failure(ttm_buf *out, const ttm_past_run *run) {
  if (!run->failures) return ttm_buf_puts(out, "<span class=\"dim\">none</span>");
  ttm_buf_puts(out, "<span class=\"failure\">");
  put_text(out, run->failure.n ? run->failure : TTM_LIT("failed"));
  ttm_buf_puts(out, "</span>");
}

static void put_trend_link(ttm_buf *out, ttm_str model, ttm_str board, ttm_str words) {
  ttm_buf_puts(out, "<a href=\"trend?");
  put_parameter(out, "model", model);
  put_parameter(out, "board", board);
  ttm_buf_puts(out, "\">");
  put_text(out, words);
  ttm_buf_puts(out, "</a>");
}

/* "llama", "llama (mock)". */
static void put_model(ttm_buf *out, const ttm_series *s) {
  put_trend_link(out, s->model, s->board, s->model);
  if (ttm_str_eq(s->method, TTM_LIT("run"))) return;
  ttm_buf_puts(out, " <span class=\"dim\">");
  put_text(out, s->method);
  ttm_buf_puts(out, "</span>");
}

/* The name of the folder of its report, when that is among those served and still of this run; else empty. */
static int find_report(ttm_str *out, const site *s, const ttm_past_run *run) {
  ttm_str root = ttm_str_of(s->about->root), report = run->report;
  char name[256];
  bool owned = false;
  *out = (ttm_str){"", 0};
  if (!ttm_str_starts(report, root) || report.n < root.n + 2 || report.p[root.n] != '/') return TTM_OK;
  report = ttm_str_from(report, root.n + 1);
  if (report.n >= sizeof name || ttm_str_find_char(report, '/') != TTM_NOT_FOUND) return TTM_OK;
  memcpy(name, report.p, report.n);
  name[report.n] = '\0';
  int dir = ttm_guard_name(name) ? ttm_catalog_folder(s->about->root_fd, name) : -1;
  if (dir < 0) return TTM_OK;
  close(dir);
  int status = ttm_past_owns_report(&owned, run, s->history, s->err);
  if (owned) *out = report;
  return status;
}

static int put_report_link(const site *s, const ttm_past_run *run) {
  ttm_str folder;
  int status = find_report(&folder, s, run);
  if (!folder.n) return status;
  ttm_buf_puts(s->out, "<a href=\"");
  ttm_put_url(s->out, folder);
  ttm_buf_puts(s->out, "/\">report</a> ");
  return status;
}

/* ---- Tables of runs ----------------------------------------------------------------------------------------------- */

/* With the run that is chosen, or to choose this one. */
static void put_compare_link(const site *s, const ttm_past_run *run) {
  ttm_str from = given(s->asked->from);
  if (ttm_str_eq(from, run->run)) return ttm_buf_puts(s->out, "<span class=\"dim\">chosen</span>");
  ttm_buf_puts(s->out, from.n ? "<a href=\"run?" : "<a href=\"./?");
  put_parameter(s->out, from.n ? "a" : "from", from.n ? from : run->run);
  put_parameter(s->out, from.n ? "b" : "q", from.n ? run->run : given(s->asked->search));
  ttm_buf_puts(s->out, "\" aria-label=\"compare run ");
  put_text(s->out, run->run);
  ttm_buf_puts(s->out, "\">compare</a>");
}

static int put_run(const site *s, const ttm_series *series, const ttm_past_run *run) {
  ttm_buf *out = s->out;
  ttm_buf_puts(out, "<tr><td class=\"k\" data-of=\"Run\"><a href=\"run?");
  put_parameter(out, "a", run->run);
  ttm_buf_printf(out, "\">%s</a></td><td data-of=\"Model\">", TTM_DAY(run->time_us));
  put_model(out, series);
  ttm_buf_puts(out, "</td><td data-of=\"Board\">");
  put_text(out, series->board);
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) {
    ttm_buf_printf(out, "</td><td class=\"n\" data-of=\"%s peak, MB/bank\">", ttm_past_memory(m));
    put_peak(out, series, &run->peak[m], false);
  }
  ttm_buf_puts(out, "</td><td class=\"k\" data-of=\"Commit\">");
  put_text(out, ttm_str_first(run->commit, SHORT_COMMIT));
  ttm_buf_puts(out, "</td><td class=\"f\" data-of=\"Failure\">");
  put_failure(out, run);
  ttm_buf_puts(out, "</td><td class=\"do\">");
  int status = put_report_link(s, run);
  put_compare_link(s, run);
  ttm_buf_puts(out, "</td></tr>\n");
  return status;
}

static void begin_runs(ttm_buf *out) {
  ttm_buf_puts(
      out,
      "<table><thead><tr><th>Run, UTC</th><th>Model</th><th>Board</th><th class=\"n\">DRAM peak, MB/bank</th><th "
      "class=\"n\">L1 peak, MB/bank</th>"
      "<th>Commit</th><th>Failure</th><th></th></tr></thead><tbody>\n");
}

static void end_table(ttm_buf *out) { ttm_buf_puts(out, "</tbody></table>\n"); }

/* ---- Pages of a list ---------------------------------------------------------------------------------------------- */

static uint64_t number_of(const site *s) {
  ttm_str text = given(s->asked->number);
  uint64_t n;
  return ttm_str_take_u64(&text, &n) && !text.n && n && n <= MOST_PAGES ? n : 1;
}

static void put_search(const site *s, const char *action, const char *what) {
  ttm_buf_printf(
      s->out,
      "<form role=\"search\" action=\"%s\"><input type=\"search\" name=\"q\" accesskey=\"/\" aria-label=\"Search\" "
      "placeholder=\"%s\" value=\"",
      action, what);
  ttm_xml_text(s->out, given(s->asked->search), SIZE_MAX);
  ttm_buf_puts(s->out, "\">");
  if (given(s->asked->from).n) {
    ttm_buf_puts(s->out, "<input type=\"hidden\" name=\"from\" value=\"");
    ttm_xml_text(s->out, given(s->asked->from), SIZE_MAX);
    ttm_buf_puts(s->out, "\">");
  }
  ttm_buf_puts(s->out, "<button>Search</button></form>\n");
}

static void put_page_link(const site *s, const char *path, uint64_t page, uint64_t here, const char *words) {
  if (page == here) return ttm_buf_printf(s->out, "<span class=\"dim\">%s</span> ", words);
  ttm_buf_printf(s->out, "<a href=\"%s?", path);
  put_parameter(s->out, "q", given(s->asked->search));
  put_parameter(s->out, "from", given(s->asked->from));
  ttm_buf_printf(s->out, "page=%llu\">%s</a> ", (unsigned long long)page, words);
}

static void put_pages(const site *s, const char *path, uint64_t found, const char *noun) {
  uint64_t here = number_of(s), last = found ? (found + PAGE - 1) / PAGE : 1, first = (here - 1) * PAGE;
  uint64_t end = first + PAGE < found ? first + PAGE : found;
  ttm_buf_puts(s->out, "<p class=\"dim\">");
  if (first < found) ttm_buf_printf(s->out, "%s to %s of ", TTM_COUNT_TEXT(first + 1), TTM_COUNT_TEXT(end));
  ttm_put_counted(s->out, found, noun);
  ttm_buf_puts(s->out, ", newest first</p>\n");
  if (last < 2 && here < 2) return;
  ttm_buf_puts(s->out, "<nav aria-label=\"Pages\">");
  put_page_link(s, path, 1, here, "newest");
  put_page_link(s, path, here > 1 ? here - 1 : 1, here, "newer");
  put_page_link(s, path, here < last ? here + 1 : last, here, "older");
  put_page_link(s, path, last, here, "oldest");
  ttm_buf_puts(s->out, "</nav>\n");
}

static ttm_past_page page_of(const site *s) {
  return (ttm_past_page){.search = given(s->asked->search), .skip = (number_of(s) - 1) * PAGE, .most = PAGE};
}

/* ---- Live --------------------------------------------------------------------------------------------------------- */

static void put_device(ttm_buf *out, const ttm_watch_device *device) {
  ttm_buf_printf(out, "<h3>Device %u</h3><p class=\"dim\">", device->device_id);
  ttm_watch_board_words(out, device);
  ttm_buf_puts(out, device->stale ? " (last good reading)</p>\n" : "</p>\n");
  for (int u = 0; u < TTM_USES; u++) {
    if (!device->used[u] && u != TTM_USE_DRAM) continue;
    ttm_buf_printf(out, "<p>%s ", ttm_use_name((ttm_use)u));
    ttm_put_bytes(out, device->used[u]);
    ttm_page_level(out, ttm_watch_percent(device, (ttm_use)u));
    ttm_buf_puts(out, "</p>\n");
  }
  ttm_buf_puts(out, "<ul>\n");
  for (size_t i = 0; i < device->processes.n; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    if (!process->alive) continue;
    ttm_buf_puts(out, "<li>");
    put_text(out, ttm_str_of(process->slot.name));
    ttm_buf_printf(out, "[%d] ", (int)process->slot.pid);
    ttm_put_bytes(out, process->slot.bytes[TTM_USE_DRAM]);
    ttm_buf_puts(out, " DRAM</li>\n");
  }
  ttm_buf_puts(out, "</ul>\n");
}

static int put_live(const site *s) {
  ttm_watch watch;
  char host[TTM_HOST_NAME];
  ttm_watch_init(&watch, &(ttm_watch_options){.dir = s->about->shm});
  int status = ttm_watch_look(&watch, 0, s->err);
  ttm_buf_puts(s->out, "<h2>Now on ");
  put_text(s->out, ttm_str_of(ttm_host_name(host)));
  ttm_buf_puts(s->out, "</h2>\n");
  size_t used = 0;
  for (size_t i = 0; i < watch.devices.n && !status; i++)
    if (watch.devices.at[i]->alive) put_device(s->out, watch.devices.at[i]), used++;
  if (!used) ttm_buf_puts(s->out, "<p class=\"dim\">No ttnn program uses a device.</p>\n");
  ttm_watch_free(&watch);
  return status == TTM_ENOMEM ? status : TTM_OK;
}

static int live_page(const site *s) {
  ttm_page_begin(s->out, "Live", "Live");
  return put_live(s);
}

/* ---- Runs --------------------------------------------------------------------------------------------------------- */

static void put_chosen(const site *s) {
  if (!given(s->asked->from).n) return;
  ttm_buf_puts(s->out, "<p>Compare run <a href=\"run?");
  put_parameter(s->out, "a", given(s->asked->from));
  ttm_buf_puts(s->out, "\">");
  put_text(s->out, given(s->asked->from));
  ttm_buf_puts(s->out, "</a> with one of these, or <a href=\"./\">with none</a>.</p>\n");
}

static int runs_page(const site *s) {
  ttm_past past;
  uint64_t found;
  ttm_past_page page = page_of(s);
  int status = ttm_past_list(&past, &found, s->history, &page, s->err);
  ttm_page_begin(s->out, "History", "Runs");
  ttm_buf_puts(s->out, "<main><div>\n");
  put_search(s, "./", "model, board, commit, host, failure, id");
  put_chosen(s);
  if (!status) put_pages(s, "./", found, "run");
  begin_runs(s->out);
  for (size_t i = 0; i < past.runs.n && !status; i++)
    status = put_run(s, ttm_past_series_of(&past, i), &past.runs.at[i]);
  end_table(s->out);
  ttm_buf_puts(s->out, "</div><aside>\n");
  if (!status) status = put_live(s);
  ttm_buf_puts(s->out, "</aside></main>\n");
  ttm_past_free(&past);
  return status;
}

/* ---- Statements --------------------------------------------------------------------------------------------------- */

static void put_said(ttm_buf *out, const char *severity, ttm_str headline, ttm_str detail) {
  ttm_buf_printf(out, "<p class=\"%s\">", severity);
  ttm_xml_text(out, headline, SIZE_MAX);
  ttm_buf_puts(out, "</p>\n");
  if (!detail.n) return;
  ttm_buf_puts(out, "<p class=\"dim\">");
  ttm_xml_text(out, detail, SIZE_MAX);
  ttm_buf_puts(out, "</p>\n");
}

static void put_statements(ttm_buf *out, const ttm_statements *all) {
  for (size_t i = 0; i < all->at.n; i++) {
    const ttm_statement *s = &all->at.at[i];
    put_said(out, ttm_severity_name(s->severity), s->headline, s->detail);
    if (s->points) ttm_buf_puts(out, "<ul>\n");
    for (uint32_t p = 0; p < s->points; p++) {
      ttm_buf_puts(out, "<li>");
      ttm_xml_text(out, all->points.at[s->first_point + p].text, SIZE_MAX);
      ttm_buf_puts(out, "</li>\n");
    }
    if (s->points) ttm_buf_puts(out, "</ul>\n");
  }
}

/* ---- Models and trends -------------------------------------------------------------------------------------------- */

/* The series of its newest run. */
static const ttm_series *newest_series(const ttm_past *past) {
  const ttm_series *newest = NULL;
  for (size_t i = 0; i < past->series.n; i++) {
    const ttm_series *s = &past->series.at[i];
    if (!newest ||
        ttm_series_run(past, s, s->runs - 1)->time_us > ttm_series_run(past, newest, newest->runs - 1)->time_us)
      newest = s;
  }
  return newest;
}

static void put_last(ttm_buf *out, const ttm_past *past) {
  const ttm_series *s = newest_series(past);
  size_t failed = 0;
  if (!s) return ttm_buf_puts(out, "<td></td><td></td><td></td>");
  for (size_t i = 0; i < s->runs; i++) failed += ttm_series_run(past, s, i)->failures > 0;
  ttm_buf_puts(out, "<td data-of=\"DRAM peaks\">");
  ttm_put_spark(out, past, s);
  ttm_buf_puts(out, "</td><td class=\"n\" data-of=\"Last DRAM peak\">");
  put_peak(out, s, &ttm_series_run(past, s, s->runs - 1)->peak[0], true);
  ttm_buf_printf(out, "</td><td class=\"n\" data-of=\"Failed\">%zu of the last %zu</td>", failed, s->runs);
}

static int put_model_row(const site *s, const ttm_past_model *model) {
  ttm_past past;
  ttm_past_last wanted = {.model = model->model, .board = model->board, .most = SPARKS};
  int status = ttm_past_read_last(&past, s->history, &wanted, s->err);
  ttm_buf_puts(s->out, "<tr><td data-of=\"Model\">");
  put_trend_link(s->out, model->model, model->board, model->model);
  ttm_buf_puts(s->out, "</td><td data-of=\"Board\">");
  put_text(s->out, model->board);
  ttm_buf_printf(s->out, "</td><td class=\"n\" data-of=\"Runs\">%s</td><td class=\"n\" data-of=\"Last, UTC\">%s</td>",
                 TTM_COUNT_TEXT((uint64_t)model->runs), TTM_DAY(model->newest_us));
  if (!status) put_last(s->out, &past);
  ttm_buf_puts(s->out, "</tr>\n");
  ttm_past_free(&past);
  return status;
}

static int models_page(const site *s) {
  ttm_past_models models;
  uint64_t found;
  ttm_past_page page = page_of(s);
  int status = ttm_past_list_models(&models, &found, s->history, &page, s->err);
  ttm_page_begin(s->out, "Models", "Models");
  put_search(s, "models", "model, board");
  if (!status) put_pages(s, "models", found, "model");
  ttm_buf_puts(s->out,
               "<table><thead><tr><th>Model</th><th>Board</th><th class=\"n\">Runs</th><th class=\"n\">Last, "
               "UTC</th><th>DRAM peaks</th>"
               "<th class=\"n\">Last DRAM peak</th><th class=\"n\">Failed</th></tr></thead><tbody>\n");
  for (size_t i = 0; i < models.at.n && !status; i++) status = put_model_row(s, &models.at.at[i]);
  end_table(s->out);
  ttm_past_models_free(&models);
  return status;
}

static int put_series(const site *s, const ttm_past *past, const ttm_series *series) {
  int status = TTM_OK;
  ttm_buf_puts(s->out, "<h2>Method: ");
  put_text(s->out, series->method);
  ttm_buf_puts(s->out, ", ");
  ttm_put_counted(s->out, series->runs, "run");
  ttm_buf_puts(s->out, "</h2>\n");
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) ttm_put_chart(s->out, past, series, m);
  put_statements(s->out, &series->said);
  begin_runs(s->out);
  for (size_t i = series->runs; i-- && i + LAST_IN_TABLE >= series->runs && !status;)
    status = put_run(s, series, ttm_series_run(past, series, i));
  end_table(s->out);
  return status;
}

static int trend_page(const site *s) {
  ttm_past past;
  ttm_past_last wanted = {.model = given(s->asked->model), .board = given(s->asked->board), .most = LAST, .told = true};
  ttm_buf title = {0};
  int status = ttm_past_read_last(&past, s->history, &wanted, s->err);
  if (!status && !past.runs.n) status = ttm_error_set(s->err, TTM_ENODATA, "There is no such model in the history.");
  ttm_buf_printf(&title, "%.*s on %.*s", TTM_ARGS(wanted.model),
                 TTM_ARGS(wanted.board.n ? wanted.board : TTM_LIT("an unknown board")));
  ttm_buf_char(&title, '\0');
  if (title.failed && !status) status = TTM_ENOMEM;
  if (!status) ttm_page_begin(s->out, title.at, "");
  for (size_t i = 0; i < past.series.n && !status; i++) status = put_series(s, &past, &past.series.at[i]);
  ttm_buf_free(&title);
  ttm_past_free(&past);
  return status;
}

/* ---- One run, and two --------------------------------------------------------------------------------------------- */

static int put_told(void *context, const ttm_history_cell *cells) {
  static const char *const known[] = {"failure", "warning", "note", "ok", "unknown"};
  size_t severity = ttm_str_index(cells[0].text, known, sizeof known / sizeof *known);
  const ttm_str none = {"", 0};
  put_said(context, severity < sizeof known / sizeof *known ? known[severity] : "",
           cells[1].known ? cells[1].text : none, cells[2].known ? cells[2].text : none);
  return TTM_OK;
}

typedef ttm_str fact(const ttm_series *s, const ttm_past_run *run);
static ttm_str board_of(const ttm_series *s, const ttm_past_run *run) { return (void)run, s->board; }
static ttm_str method_of(const ttm_series *s, const ttm_past_run *run) { return (void)run, s->method; }
static ttm_str command_of(const ttm_series *s, const ttm_past_run *run) { return (void)s, run->command; }
static ttm_str commit_of(const ttm_series *s, const ttm_past_run *run) { return (void)s, run->commit; }
static ttm_str host_of(const ttm_series *s, const ttm_past_run *run) { return (void)s, run->host; }
static ttm_str source_of(const ttm_series *s, const ttm_past_run *run) { return (void)s, run->source; }
static ttm_str name_of(const ttm_series *s, const ttm_past_run *run) { return (void)s, run->name; }

static void put_facts(ttm_buf *out, const ttm_past *past) {
  static const struct {
    const char *label;
    fact *get;
  } facts[] = {{"Board", board_of},   {"Method", method_of}, {"Name", name_of}, {"Command", command_of},
               {"Commit", commit_of}, {"Host", host_of},     {"Log", source_of}};
  for (size_t f = 0; f < sizeof facts / sizeof *facts; f++) {
    ttm_buf_printf(out, "<tr><th>%s</th>", facts[f].label);
    for (size_t i = 0; i < past->runs.n; i++) {
      ttm_buf_puts(out, "<td>");
      put_text(out, facts[f].get(ttm_past_series_of(past, i), &past->runs.at[i]));
      ttm_buf_puts(out, "</td>");
    }
    ttm_buf_puts(out, "</tr>\n");
  }
}

static void put_columns(const site *s, const ttm_past *past) {
  ttm_buf *out = s->out;
  ttm_buf_puts(out, "<table><tbody><tr><th>Run</th>");
  for (size_t i = 0; i < past->runs.n; i++) {
    ttm_buf_puts(out, "<td>");
    put_text(out, past->runs.at[i].run);
    ttm_buf_printf(out, "<br>%s UTC</td>", TTM_DAY(past->runs.at[i].time_us));
  }
  ttm_buf_puts(out, "</tr>\n<tr><th>Model</th>");
  for (size_t i = 0; i < past->runs.n; i++)
    ttm_buf_puts(out, "<td>"), put_model(out, ttm_past_series_of(past, i)), ttm_buf_puts(out, "</td>");
  ttm_buf_puts(out, "</tr>\n");
  put_facts(out, past);
  for (int m = 0; m < TTM_PAST_MEMORIES; m++) {
    ttm_buf_printf(out, "<tr><th>%s peak</th>", ttm_past_memory(m));
    for (size_t i = 0; i < past->runs.n; i++)
      ttm_buf_puts(out, "<td>"), put_peak(out, ttm_past_series_of(past, i), &past->runs.at[i].peak[m], true),
          ttm_buf_puts(out, "</td>");
    ttm_buf_puts(out, "</tr>\n");
  }
  ttm_buf_puts(out, "<tr><th>Failure</th>");
  for (size_t i = 0; i < past->runs.n; i++)
    ttm_buf_puts(out, "<td>"), put_failure(out, &past->runs.at[i]), ttm_buf_puts(out, "</td>");
  ttm_buf_puts(out, "</tr></tbody></table>\n");
}

static int put_one(const site *s, const ttm_past *past) {
  ttm_buf_puts(s->out, "<p>");
  int status = put_report_link(s, &past->runs.at[0]);
  put_compare_link(s, &past->runs.at[0]);
  ttm_buf_puts(s->out, "</p>\n<h2>Findings</h2>\n");
  return status ? status : ttm_past_told(s->history, past->runs.at[0].run, put_told, s->out, s->err);
}

/* Where both reports are still there, they tell operation by operation. */
static int put_two(const site *s, const ttm_past *past) {
  ttm_statements said = {0};
  ttm_str folders[2];
  int status = ttm_past_tell_two(&said, past, s->history, s->err);
  if (!status) ttm_buf_puts(s->out, "<h2>What changed</h2>\n"), put_statements(s->out, &said);
  for (int i = 0; i < 2 && !status; i++) status = find_report(&folders[i], s, &past->runs.at[i]);
  if (!status && folders[0].n && folders[1].n) {
    ttm_buf_puts(s->out, "<p><a href=\"compare?");
    put_parameter(s->out, "a", folders[0]);
    put_parameter(s->out, "b", folders[1]);
    ttm_buf_puts(s->out, "\">The reports, operation by operation</a></p>\n");
  }
  ttm_statements_free(&said);
  return status;
}

static int run_page(const site *s) {
  ttm_past past;
  bool two = given(s->asked->second).n && !ttm_str_eq(given(s->asked->first), given(s->asked->second));
  int status = ttm_past_read_two(&past, s->history, given(s->asked->first),
                                 two ? given(s->asked->second) : (ttm_str){"", 0}, s->err);
  if (!status && past.runs.n != (two ? 2 : 1))
    status = ttm_error_set(s->err, TTM_ENODATA, "There is no such run in the history.");
  if (!status) {
    ttm_page_begin(s->out, two ? "Two runs" : "A run", "");
    status = two ? put_two(s, &past) : put_one(s, &past);
    put_columns(s, &past);
  }
  ttm_past_free(&past);
  return status;
}

/* ---- All ---------------------------------------------------------------------------------------------------------- */

int ttm_history_page(ttm_buf *out, const ttm_history_site *about, const ttm_history_asked *asked, ttm_error *err) {
  static int (*const pages[])(const site *) = {[TTM_ROUTE_INDEX] = runs_page,
                                               [TTM_ROUTE_MODELS] = models_page,
                                               [TTM_ROUTE_TREND] = trend_page,
                                               [TTM_ROUTE_RUN] = run_page,
                                               [TTM_ROUTE_LIVE] = live_page};
  site s = {.out = out, .about = about, .asked = asked, .err = err};
  int status = asked->page == TTM_ROUTE_LIVE ? TTM_OK : ttm_history_open(&s.history, about->store, false, err);
  if (!status) status = pages[asked->page](&s);
  ttm_history_close(s.history);
  ttm_page_end(out);
  return out->failed && !status ? ttm_error_nomem(err) : status;
}
