/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/words.h"
#include "report/files/json_parts.h"
#include "report/run/diff.h"
#include "report/write/json_writer.h"

static const char *const SIDES[] = {"\"before\":", "\"after\":"};

static void put_side(ttm_buf *out, const ttm_findings *f) {
  ttm_json_raw(out, "{\"path\":");
  ttm_json_string(out, ttm_words_source(f->profile));
  ttm_json_raw(out, ",\"operations\":");
  ttm_buf_u64(out, f->elements);
  ttm_json_raw(out, ",\"weight_MB\":");
  ttm_json_mib(out, f->registry.weight_bytes);
  ttm_json_raw(out, ",\"incidents\":");
  ttm_buf_u64(out, f->incidents.n);
  ttm_json_raw(out, ",\"leaks\":");
  ttm_buf_u64(out, f->leaks.n);
  ttm_buf_char(out, '}');
}

static void put_peak_side(ttm_buf *out, int64_t milli) {
  if (milli < 0)
    ttm_json_null(out);
  else
    ttm_json_milli(out, milli);
}

static void put_peaks(ttm_buf *out, const ttm_diff *d) {
  ttm_json_raw(out, ",\n\"peak\":{");
  for (int m = 0; m < TTM_MEMORIES; m++) {
    int64_t was = ttm_diff_peak(d, 0, (ttm_memory)m), is = ttm_diff_peak(d, 1, (ttm_memory)m);
    ttm_buf_printf(out, "%s\"%s\":{\"before_per_bank_MB\":", m ? ",\n" : "\n", ttm_memory_name((ttm_memory)m));
    put_peak_side(out, was);
    ttm_json_raw(out, ",\"after_per_bank_MB\":");
    put_peak_side(out, is);
    ttm_json_raw(out, ",\"change_MB\":");
    if (was < 0 || is < 0)
      ttm_json_null(out);
    else
      ttm_json_milli(out, is - was);
    ttm_buf_char(out, '}');
  }
  ttm_buf_char(out, '}');
}

static void put_row(ttm_buf *out, const ttm_diff *d, const ttm_diff_row *row) {
  ttm_json_raw(out, "\n{\"change_MB\":");
  ttm_json_milli(out, row->effect[1] - row->effect[0]);
  for (int s = 0; s < 2; s++) {
    ttm_buf_char(out, ',');
    ttm_buf_puts(out, SIDES[s]);
    if (row->op[s] == TTM_NONE) {
      ttm_json_null(out);
      continue;
    }
    ttm_buf_char(out, '{');
    ttm_json_op_members(out, d->f[s], row->op[s]);
    ttm_json_raw(out, ",\"at\":");
    ttm_json_string(out, ttm_words_location(d->f[s]->profile, row->op[s]));
    ttm_json_raw(out, ",\"effect_MB\":");
    ttm_json_milli(out, row->effect[s]);
    ttm_buf_char(out, '}');
  }
  ttm_buf_char(out, '}');
}

static void put_names(ttm_buf *out, const ttm_diff *d) {
  ttm_json_raw(out, ",\n\"only_in_one\":[");
  for (size_t i = 0; i < d->counts.n; i++) {
    ttm_buf_puts(out, i ? ",\n{\"mlir_op\":" : "\n{\"mlir_op\":");
    ttm_json_string(out, ttm_intern_get(&d->names, d->counts.at[i].id));
    ttm_buf_printf(out, ",\"before\":%llu,\"after\":%llu}", (unsigned long long)d->counts.at[i].only[0],
                   (unsigned long long)d->counts.at[i].only[1]);
  }
  ttm_buf_char(out, ']');
}

void ttm_diff_json(ttm_buf *out, const ttm_diff *d) {
  ttm_json_raw(out, "{\"schema_version\":1");
  for (int s = 0; s < 2; s++) {
    ttm_json_raw(out, ",\n");
    ttm_buf_puts(out, SIDES[s]);
    put_side(out, d->f[s]);
  }
  ttm_json_raw(out, ",\n\"worse\":");
  ttm_json_bool(out, ttm_diff_is_worse(d));
  ttm_json_raw(out, ",\n\"tolerance_pct\":");
  ttm_json_double(out, d->tolerance);
  put_peaks(out, d);
  ttm_buf_printf(out, ",\n\"operations\":{\"in_both\":%llu,\"only_before\":%llu,\"only_after\":%llu}",
                 (unsigned long long)d->both, (unsigned long long)d->only[0], (unsigned long long)d->only[1]);
  ttm_json_raw(out, ",\n\"changed\":[");
  for (size_t i = 0; i < d->tops; i++) {
    if (i) ttm_buf_char(out, ',');
    put_row(out, d, &d->rows.at[d->top[i]]);
  }
  ttm_buf_char(out, ']');
  put_names(out, d);
  ttm_json_raw(out, "}\n");
}
