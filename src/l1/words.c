/* SPDX-License-Identifier: Apache-2.0 */
#include "l1/words.h"

#include "base/checked.h"
#include "base/format.h"

const char *ttm_cb_level_name(ttm_cb_level level) {
  static const char *const names[TTM_CB_LEVELS] = {"error", "warning", "note"};
  return names[level];
}

void ttm_words_overlap(ttm_buf *out, const ttm_l1_overlap *o) {
  uint64_t bytes = o->end - o->limit;
  const char *kind = o->dataflow ? "DFB" : "CB";
  ttm_buf_printf(out, o->beyond ? "%ss exceed L1 by %s per core" : "%s/tensor overlap %s per core", kind,
                 TTM_BYTES_TEXT(bytes));
  if (o->cores.n) ttm_buf_printf(out, " on %.*s", TTM_ARGS(o->cores));
  if (o->tile_bytes) {
    ttm_buf_puts(out, ", ");
    ttm_put_counted(out, ttm_div_up(bytes, o->tile_bytes), "tile");
    ttm_buf_printf(out, " of %s", TTM_BYTES_TEXT(o->tile_bytes));
  }
  ttm_buf_printf(out, ": %s buffers end at %s, %s at %s", o->dataflow ? "dataflow" : "circular", TTM_COUNT_TEXT(o->end),
                 o->beyond ? "L1 ends" : "the lowest L1 tensor starts", TTM_COUNT_TEXT(o->limit));
}

void ttm_words_no_index(ttm_buf *out, uint64_t index, ttm_arch_id arch) {
  ttm_buf_printf(out, "c_%s does not exist: a %s core has circular buffers 0 to %u", TTM_COUNT_TEXT(index),
                 ttm_arches[arch].name, ttm_arches[arch].circular_buffers - 1);
}

void ttm_words_single(ttm_buf *out, ttm_str buffer, const char *unit) {
  ttm_buf_printf(out, "%.*s holds one %s: producer and consumer take turns; two %ss let them overlap", TTM_ARGS(buffer),
                 unit, unit);
}
