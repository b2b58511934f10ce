/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/facts.h"

#include "parse/json_text.h"

typedef struct facts {
  ttm_buf out;
  ttm_text_form form;
  size_t columns;
} facts;

static void text(facts *f, const char *words) { ttm_put_text(&f->out, ttm_view_of(words), f->columns, f->form); }

static void member(facts *f, ttm_view object, const char *key, size_t columns) {
  ttm_buf value = {0};
  ttm_json_get_string(&value, ttm_json_get_member(object, key));
  ttm_put_text(&f->out, ttm_buf_view(&value), columns, f->form);
  ttm_buf_free(&value);
}

static void put_operation(facts *f, ttm_view op) {
  ttm_buf_printf(&f->out, "#%.0f ", ttm_json_get_number(ttm_json_get_member(op, "index"), 0));
  member(f, op, "mlir_op", 30);
  ttm_buf_char(&f->out, ' ');
  member(f, op, "loc", f->columns > 60 ? f->columns - 60 : 10);
  ttm_buf_printf(&f->out, ", log line %.0f", ttm_json_get_number(ttm_json_get_member(op, "line"), 0));
}

static void put_peaks(facts *f, ttm_view findings) {
  static const char *const names[] = {"DRAM", "L1", "L1_SMALL", "TRACE"};
  ttm_view peaks = ttm_json_get_member(findings, "peak");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    ttm_view peak = ttm_json_get_member(peaks, names[i]), cause = ttm_json_get_member(peak, "caused_by");
    double mb = ttm_json_get_number(ttm_json_get_member(peak, "allocated_per_bank_MB"), -1);
    double pct = ttm_json_get_number(ttm_json_get_member(peak, "utilization_pct"), 0);
    if (mb <= 0) continue;
    ttm_buf_printf(&f->out, "\x1b[1mPeak\x1b[0m      %-8s %9.3f MB/bank \x1b[%sm%.1f%%\x1b[0m\n", names[i], mb,
                   pct > 90   ? "31"
                   : pct > 80 ? "33"
                              : "32",
                   pct);
    if (!ttm_json_get_member(cause, "mlir_op").n) continue;
    ttm_buf_puts(&f->out, "          raised by ");
    put_operation(f, cause);
    ttm_buf_char(&f->out, '\n');
  }
}

static void put_top(facts *f, ttm_view findings) {
  ttm_view rows = ttm_json_get_member(ttm_json_get_member(findings, "top_consumers"), "DRAM"), row;
  bool first = true;
  while (ttm_json_get_element(&rows, &row)) {
    ttm_buf_puts(&f->out, first ? "\n\x1b[1mAdded\x1b[0m     most to DRAM, in MB/bank:\n" : "");
    first = false;
    ttm_buf_printf(&f->out, "          %9.3f ", ttm_json_get_number(ttm_json_get_member(row, "effect_MB"), 0));
    put_operation(f, row);
    ttm_buf_char(&f->out, '\n');
  }
}

static void put_incidents(facts *f, ttm_view findings) {
  ttm_view rows = ttm_json_get_member(findings, "incidents"), row, way;
  while (ttm_json_get_element(&rows, &row)) {
    ttm_buf_puts(&f->out, "\n\x1b[1mIncident\x1b[0m  \x1b[31m");
    member(f, row, "kind", 20);
    ttm_buf_char(&f->out, ' ');
    member(f, row, "verdict", 20);
    ttm_buf_printf(&f->out, "\x1b[0m, log line %.0f\n          ",
                   ttm_json_get_number(ttm_json_get_member(row, "line"), 0));
    member(f, row, "text", f->columns > 30 ? f->columns - 14 : 30);
    ttm_buf_char(&f->out, '\n');
    for (ttm_view ways = ttm_json_get_member(row, "ways"); ttm_json_get_element(&ways, &way);) {
      ttm_buf_puts(&f->out, "          - ");
      member(f, way, "text", f->columns > 30 ? f->columns - 16 : 30);
      ttm_buf_char(&f->out, '\n');
    }
  }
}

ttm_panel *ttm_facts_panel(const ttm_screen *screen, const ttm_catalog *catalog, const ttm_catalog_entry *entry) {
  facts f = {.form = ttm_screen_form(screen), .columns = (size_t)screen->columns - 2};
  ttm_buf findings = {0};
  ttm_catalog_findings(catalog, entry, &findings);
  ttm_view all = ttm_buf_view(&findings);
  ttm_buf_puts(&f.out, "\x1b[33mIts log is not there any more: this is what the report's findings hold.\x1b[0m\n\n");
  ttm_buf_puts(&f.out, "\x1b[1mLog\x1b[0m       ");
  text(&f, *entry->log ? entry->log : "unknown");
  ttm_buf_puts(&f.out, "\n          ");
  ttm_put_counted(&f.out, entry->operations, "operation");
  ttm_buf_puts(&f.out, "\n");
  put_peaks(&f, all);
  put_top(&f, all);
  put_incidents(&f, all);
  if (!entry->has_findings) ttm_buf_puts(&f.out, "\nThis report has no findings; s in the list serves its files.\n");
  ttm_buf_free(&findings);
  return ttm_text_panel("Report", entry->folder, &f.out);
}
