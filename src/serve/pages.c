/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include "serve/pages.h"

#include <time.h>

#include "base/format.h"
#include "report/write/svg.h"

void ttm_put_url(ttm_buf *out, ttm_str name) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
  for (size_t i = 0; i < name.n; i++) {
    if (memchr(safe, name.p[i], sizeof safe - 1))
      ttm_buf_char(out, name.p[i]);
    else
      ttm_buf_printf(out, "%%%02X", (unsigned char)name.p[i]);
  }
}

/* ---- Pieces -------------------------------------------------------------------------------------------------------- */

static void text(ttm_buf *out, const char *words) { ttm_xml_text(out, ttm_str_of(words), 200); }

static void navigation(ttm_buf *out, const char *here) {
  static const char *const links[][2] = {
      {"./", "Runs"}, {"models", "Models"}, {"reports", "Reports"}, {"live", "Live"}, {"open", "Open a file"}};
  ttm_buf_puts(out, "<nav>");
  for (size_t i = 0; i < sizeof links / sizeof *links; i++)
    ttm_buf_printf(out, "<a href=\"%s\"%s>%s</a> ", links[i][0],
                   !strcmp(links[i][1], here) ? " aria-current=\"page\"" : "", links[i][1]);
  ttm_buf_puts(out, "</nav>\n");
}

void ttm_page_begin(ttm_buf *out, const char *title, const char *here) {
  ttm_buf_puts(out,
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>");
  text(out, title);
  ttm_buf_puts(out, "</title>");
  if (here && !strcmp(here, "Live"))
    ttm_buf_puts(out, "<meta http-equiv=\"refresh\" content=\"2\">"); /* what it shows moves */
  ttm_buf_puts(
      out,
      "<style>\n"
      ":root{color-scheme:light dark;--line:#8884;--dim:#767676;--bar:#3b82c4;--warn:#c98a00;--bad:#d03a3a}\n"
      "@media(prefers-color-scheme:dark){:root{--dim:#9c9c9c}}\n"
      "body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2.5rem auto;padding:0 1.2rem}\n"
      "h1{font-size:1.4rem;margin:0 0 .2rem}p{margin:.3rem 0}.dim{color:var(--dim)}\n"
      "table{border-collapse:collapse;width:100%;margin-top:1.2rem}th{text-align:left;font-weight:600}\n"
      "th,td{padding:.45rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}\n"
      ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
      ".bar{height:4px;border-radius:2px;background:var(--line);margin-top:.3rem;min-width:6rem}\n"
      ".bar i{display:block;height:4px;border-radius:2px;background:var(--bar)}\n"
      ".warn i{background:var(--warn)}.bad i{background:var(--bad)}.failure{color:var(--bad)}\n"
      "form{margin-top:1.2rem;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}\n"
      "select,button{font:inherit;max-width:100%;padding:.2rem .5rem}label{max-width:100%}\n"
      "a{color:inherit;text-underline-offset:.2em}code{font-size:.92em}a,td{overflow-wrap:anywhere}.do "
      "a{overflow-wrap:normal}\n"
      "th.n{white-space:normal}.k{white-space:nowrap}.f{min-width:8rem}h3{font-size:1rem;margin:.8rem 0 "
      "0}ul{padding-left:1.2rem;margin:.3rem 0}\n"
      "@media(max-width:48rem){body{margin:1.2rem auto}thead{display:none}table,tbody,tr,td,th{display:block}\n"
      "tr{padding:.5rem 0;border-bottom:1px solid var(--line)}td,th{border:0;padding:.1rem 0}\n"
      "td.n,td.k{text-align:left;white-space:normal}[data-of]::before{content:attr(data-of) \": \";color:var(--dim)}}\n"
      "nav{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;margin-bottom:1.2rem}nav [aria-current]{font-weight:600}\n"
      "input{font:inherit;padding:.2rem .5rem;flex:1 1 14rem;min-width:0}h2{font-size:1.1rem;margin:1.6rem 0 .2rem}\n"
      "li{margin:.15rem 0}td:nth-child(2){min-width:6.5rem}figure{margin:1rem 0}figcaption,.ends{color:var(--dim)}\n"
      ".plot{display:flex;gap:.5rem}.plot div,.ends{display:flex;justify-content:space-between;white-space:nowrap}\n"
      ".plot div{flex-direction:column;text-align:right;min-width:4rem;color:var(--dim)}\n"
      "svg{flex:1;min-width:0;width:100%;height:9rem;background:#8881}svg.spark{height:1.6rem;max-width:12rem}\n"
      "path{fill:none;stroke:var(--bar);stroke-width:2;vector-effect:non-scaling-stroke}.full{stroke:var(--bad);stroke-"
      "dasharray:4}\n"
      ".dot{stroke-width:6;stroke-linecap:round}.step{stroke:var(--warn);stroke-dasharray:3}.failed{stroke:var(--bad)}"
      "\n"
      ".beside{max-width:90rem}@media(max-width:64rem){.n,.k{white-space:normal}.bar{min-width:4rem}}\n"
      "@media(min-width:79rem){.beside main{display:grid;grid-template-columns:minmax(0,1fr) 14rem;gap:2rem}}\n"
      "</style></head><body");
  ttm_buf_printf(out, "%s>\n", here && !strcmp(here, "Runs") ? " class=\"beside\"" : "");
  if (here) navigation(out, here);
  ttm_buf_puts(out, "<h1>");
  text(out, title);
  ttm_buf_puts(out, "</h1>\n");
}

void ttm_page_end(ttm_buf *out) { ttm_buf_puts(out, "</body></html>\n"); }

/* UTC: the server's clock and the reader's may be in different countries. */
static void date(ttm_buf *out, int64_t seconds) {
  time_t when = (time_t)seconds;
  struct tm parts;
  char words[40];
  if (gmtime_r(&when, &parts) && strftime(words, sizeof words, "%Y-%m-%d %H:%M UTC", &parts)) ttm_buf_puts(out, words);
}

void ttm_page_level(ttm_buf *out, double pct) {
  if (pct < 0) return;
  ttm_buf_printf(out, " (%.1f%%)<div class=\"bar%s\"><i style=\"width:%.1f%%\"></i></div>", pct,
                 pct > 90   ? " bad"
                 : pct > 80 ? " warn"
                            : "",
                 pct > 100 ? 100 : pct);
}

static void peak(ttm_buf *out, double mb, double pct) {
  if (mb < 0) return ttm_buf_puts(out, "<span class=\"dim\">unknown</span>");
  ttm_buf_printf(out, "%.2f MB/bank", mb);
  ttm_page_level(out, pct);
}

static void failure(ttm_buf *out, const ttm_catalog_entry *entry) {
  if (!entry->failures && !entry->later) return ttm_buf_puts(out, "<span class=\"dim\">none</span>");
  ttm_buf_puts(out, "<span class=\"failure\">");
  text(out, entry->failure);
  if (entry->failures > 1) {
    ttm_buf_puts(out, " and ");
    ttm_put_count(out, entry->failures - 1);
    ttm_buf_puts(out, " more");
  }
  ttm_buf_puts(out, "</span>");
}

/* ---- Pages --------------------------------------------------------------------------------------------------------- */

/* A phone shows a row as lines, each with the name of its column. */
static void cell(ttm_buf *out, const char *column) {
  ttm_buf_printf(out, "</td><td class=\"n\" data-of=\"%s\">", column);
}

static void index_row(ttm_buf *out, const ttm_catalog_entry *entry) {
  ttm_buf_puts(out, "<tr><td><a href=\"");
  ttm_put_url(out, ttm_str_of(entry->folder));
  ttm_buf_puts(out, "/\">");
  text(out, entry->folder);
  ttm_buf_puts(out, "</a>");
  cell(out, "Written");
  date(out, entry->written);
  cell(out, "Operations");
  if (entry->has_findings) ttm_put_count(out, entry->operations);
  cell(out, "Peak DRAM");
  peak(out, entry->peak_mb, entry->peak_pct);
  cell(out, "Peak L1");
  peak(out, entry->l1_peak_mb, entry->l1_peak_pct);
  ttm_buf_puts(out, "</td><td data-of=\"Failure\">");
  failure(out, entry);
  ttm_buf_puts(out, "</td></tr>\n");
}

static void choice(ttm_buf *out, const ttm_catalog *catalog, const char *label, const char *name, size_t chosen) {
  ttm_buf_printf(out, "<label>%s <select name=\"%s\">", label, name);
  for (size_t i = 0; i < catalog->entries.n; i++) {
    ttm_buf_puts(out, i == chosen ? "<option selected value=\"" : "<option value=\"");
    ttm_xml_text(out, ttm_str_of(catalog->entries.at[i].folder), SIZE_MAX);
    ttm_buf_puts(out, "\">");
    text(out, catalog->entries.at[i].folder);
    ttm_buf_puts(out, "</option>");
  }
  ttm_buf_puts(out, "</select></label>\n");
}

/* Two reports to compare: at first the newest with the one before it. */
static void compare_form(ttm_buf *out, const ttm_catalog *catalog) {
  if (catalog->entries.n < 2) return;
  ttm_buf_puts(out, "<form action=\"compare\">\n");
  choice(out, catalog, "Before", "a", 1);
  choice(out, catalog, "After", "b", 0);
  ttm_buf_puts(out, "<button>Compare</button></form>\n");
}

void ttm_page_index(ttm_buf *out, const ttm_catalog *catalog, bool history) {
  ttm_page_begin(out, "Memory reports", history ? "Reports" : NULL);
  if (!catalog->entries.n) {
    ttm_buf_puts(out,
                 "<p>No report yet. <code>ttmem analyze LOG</code> writes one; then reload this page. <a "
                 "href=\"open\">Open a file</a> to read a log in the browser.</p>\n");
    return ttm_page_end(out);
  }
  ttm_buf_puts(out, "<p class=\"dim\">");
  ttm_put_counted(out, catalog->entries.n, "report");
  ttm_buf_puts(out,
               ", newest first</p>\n<table><thead><tr><th>Report</th><th class=\"n\">Written</th>"
               "<th class=\"n\">Operations</th><th class=\"n\">Peak DRAM</th><th class=\"n\">Peak "
               "L1</th><th>Failure</th></tr></thead><tbody>\n");
  for (size_t i = 0; i < catalog->entries.n; i++) index_row(out, &catalog->entries.at[i]);
  ttm_buf_puts(out, "</tbody></table>\n");
  compare_form(out, catalog);
  ttm_page_end(out);
}

static void fact(ttm_buf *out, const char *label) { ttm_buf_printf(out, "</td></tr>\n<tr><th>%s</th><td>", label); }

static void file_link(ttm_buf *out, const char *name, const char *suffix, const char *what) {
  ttm_buf_puts(out, "<li><a href=\"");
  ttm_put_url(out, ttm_str_of(name));
  ttm_buf_printf(out, "%s\">", suffix);
  text(out, name);
  ttm_buf_printf(out, "%s</a> <span class=\"dim\">%s</span></li>\n", suffix, what);
}

void ttm_page_report(ttm_buf *out, const ttm_catalog_entry *entry) {
  ttm_page_begin(out, entry->folder, NULL);
  ttm_buf_puts(out,
               "<p class=\"dim\"><a href=\"../reports\">all reports</a></p>\n<table><tbody><tr><th>Written</th><td>");
  date(out, entry->written);
  if (entry->has_findings) {
    fact(out, "Log");
    text(out, entry->log);
    fact(out, "Operations");
    ttm_put_count(out, entry->operations);
    fact(out, "Peak DRAM");
    peak(out, entry->peak_mb, entry->peak_pct);
    fact(out, "Peak L1");
    peak(out, entry->l1_peak_mb, entry->l1_peak_pct);
    fact(out, "Failure");
    failure(out, entry);
  }
  ttm_buf_puts(out, "</td></tr></tbody></table>\n<ul>\n");
  if (entry->has_findings) file_link(out, entry->name, "_findings.json", "the findings");
  file_link(out, entry->name, "_memory.json", "the memory before every operation and its delta");
  file_link(out, entry->name, "_operations.json", "the text of every operation");
  file_link(out, entry->name, "_inputs_registry.json", "weights, constants and inputs");
  file_link(out, entry->name, "_ir.json", "the compiled modules");
  ttm_buf_puts(out, "</ul>\n");
  ttm_page_end(out);
}

void ttm_page_message(ttm_buf *out, const char *title, const char *sentence) {
  ttm_page_begin(out, title, NULL);
  ttm_buf_puts(out, "<p>");
  text(out, sentence);
  ttm_buf_puts(out, "</p>\n");
  ttm_page_end(out);
}
