/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/pitfalls.h"

#include "base/checked.h"

const char *ttm_pitfall_name(ttm_pitfall pitfall) {
  static const char *const names[TTM_PITFALLS] = {"refused",
                                                  "underflow",
                                                  "window",
                                                  "cached_programs",
                                                  "dataflow_not_recorded",
                                                  "cores_added",
                                                  "mesh_repeated",
                                                  "finished_programs",
                                                  "aliased",
                                                  "mixed_units",
                                                  "block_rounding",
                                                  "padding",
                                                  "kernel_binaries",
                                                  "small_regions",
                                                  "device_names",
                                                  "no_addresses",
                                                  "board_assumed",
                                                  "not_all_read"};
  return pitfall < TTM_PITFALLS ? names[pitfall] : "?";
}

typedef unsigned long long ull;

/* ---- Finding ------------------------------------------------------------------------------------------------------- */

/* Releases before 0.77 know no dataflow buffers. 1 yes, 0 no, -1 nothing tells. */
static int has_dataflow_buffers(const ttm_profile *p) {
  ttm_str v = ttm_profile_string(p, p->capture.version);
  uint64_t major, minor;
  ttm_str_take(&v, TTM_LIT("v"));
  if (!ttm_str_take_u64(&v, &major) || !ttm_str_take(&v, TTM_LIT(".")) || !ttm_str_take_u64(&v, &minor)) return -1;
  return major > 0 || minor >= 77;
}

static uint64_t not_cached(const ttm_capture *c) { return c->empty_programs - c->empty_cached; }

typedef struct seen {
  bool aliased, whole_l1, small, trace, kernels, circular_device, buffer_device, mesh;
  uint32_t circular, buffer; /* devices */
} seen;

static void look_at_event(seen *s, const ttm_buffer_event *e) {
  bool circular = e->kind == TTM_EVENT_CIRCULAR || e->kind == TTM_EVENT_DATAFLOW || e->kind == TTM_EVENT_SCRATCHPAD;
  if (e->kind == TTM_EVENT_CIRCULAR && e->alias & TTM_ALIAS) s->aliased = true;
  if ((e->kind == TTM_EVENT_ALLOCATE || e->kind == TTM_EVENT_INPUT) && e->word == TTM_WORD_L1) s->whole_l1 = true;
  if (circular && e->device != TTM_NONE) {
    s->mesh |= s->circular_device && e->device != s->circular;
    s->circular_device = true;
    s->circular = e->device;
  }
  if (e->kind == TTM_EVENT_ALLOCATE && e->device != TTM_NONE) s->buffer_device = true, s->buffer = e->device;
}

static seen look(const ttm_capture *c) {
  seen s = {0};
  for (size_t i = 0; i < c->events.n; i++) look_at_event(&s, &c->events.at[i]);
  for (size_t i = 0; i < c->buffers.n; i++) {
    s.small |= c->buffers.at[i].memory == TTM_L1_SMALL;
    s.trace |= c->buffers.at[i].memory == TTM_TRACE;
    s.kernels |= c->buffers.at[i].kernels;
  }
  return s;
}

static uint64_t summed_program(const ttm_extracts *x) {
  uint64_t most = x->per_core.peak_cb;
  if (x->per_core.peak_dataflow_buffer > most) most = x->per_core.peak_dataflow_buffer;
  return x->per_core.peak_scratchpad > most ? x->per_core.peak_scratchpad : most;
}

static uint64_t dram_all_banks(const ttm_profile *p, const ttm_core_use *use) {
  return ttm_mul_sat(use->peak_dram, p->capture.board.dram_banks);
}

/* One of its per-kind peaks is above what any core holds of that kind. */
static bool adds_cores(const ttm_extracts *x, const ttm_core_use *use) {
  return x->per_core.peak_cb > use->peak_program[0] || x->per_core.peak_dataflow_buffer > use->peak_program[1] ||
         x->per_core.peak_scratchpad > use->peak_program[2];
}

uint32_t ttm_pitfalls_find(const ttm_profile *p, const ttm_extracts *x, const ttm_core_use *use) {
  const ttm_capture *c = &p->capture;
  seen s = look(c);
  uint32_t found = 0;
#define FOUND(pitfall, condition) found |= (condition) ? UINT32_C(1) << (pitfall) : 0
  FOUND(TTM_PITFALL_REFUSED, x->per_core.refused != NULL);
  FOUND(TTM_PITFALL_UNDERFLOW, x->wrapped);
  FOUND(TTM_PITFALL_WINDOW, use->before_buffers);
  FOUND(TTM_PITFALL_CACHED, c->empty_cached || (c->normal && not_cached(c) && has_dataflow_buffers(p) <= 0));
  FOUND(TTM_PITFALL_DATAFLOW, c->normal && not_cached(c) && has_dataflow_buffers(p) != 0);
  FOUND(TTM_PITFALL_MESH, s.mesh);
  FOUND(TTM_PITFALL_CORES, adds_cores(x, use));
  FOUND(TTM_PITFALL_FINISHED, !x->wrapped && !x->per_core.refused && x->per_core.peak_total > use->summed);
  FOUND(TTM_PITFALL_ALIASED, s.aliased);
  FOUND(TTM_PITFALL_MIXED_UNITS, s.whole_l1);
  FOUND(TTM_PITFALL_BLOCKS,
        !x->wrapped && !x->per_core.refused && !use->before_l1 && use->peak_l1 > x->per_core.peak_l1);
  FOUND(TTM_PITFALL_PADDING, x->dram.peak >= 0 && !use->before_dram && dram_all_banks(p, use) > (uint64_t)x->dram.peak);
  FOUND(TTM_PITFALL_KERNELS, s.kernels);
  FOUND(TTM_PITFALL_REGIONS, s.small || s.trace);
  FOUND(TTM_PITFALL_DEVICE_NAMES, s.circular_device && s.buffer_device && s.circular != s.buffer);
  FOUND(TTM_PITFALL_ADDRESSES, !c->normal);
  FOUND(TTM_PITFALL_BOARD, c->board.estimated);
  FOUND(TTM_PITFALL_UNREAD, p->seen.cut || c->bad_nodes || c->other_nodes);
#undef FOUND
  return found;
}

bool ttm_pitfalls_incomplete(uint32_t found) {
  return found &
         (UINT32_C(1) << TTM_PITFALL_CACHED | UINT32_C(1) << TTM_PITFALL_DATAFLOW | UINT32_C(1) << TTM_PITFALL_UNREAD);
}

/* ---- Saying -------------------------------------------------------------------------------------------------------- */

static void write_unread(ttm_buf *out, const ttm_profile *p) {
  const ttm_capture *c = &p->capture;
  const char *space = "";
  if (p->seen.cut) {
    ttm_buf_printf(out, "The capture breaks off at line %llu; what came before was used.", (ull)p->seen.lines);
    space = " ";
  }
  if (c->other_nodes) {
    ttm_buf_printf(out, "%sNodes of types this version does not know: %llu.", space, (ull)c->other_nodes);
    space = " ";
  }
  if (c->bad_nodes) ttm_buf_printf(out, "%sElements that are no nodes: %llu.", space, (ull)c->bad_nodes);
}

static void write_missing_buffers(ttm_buf *out, ttm_pitfall pitfall, const ttm_profile *p) {
  const ttm_capture *c = &p->capture;
  ttm_str first = ttm_profile_string(p, c->first_empty);
  ull n = pitfall == TTM_PITFALL_CACHED && c->empty_cached ? (ull)c->empty_cached : (ull)not_cached(c);
  int known = has_dataflow_buffers(p);
  ttm_buf_printf(out, "%llu of %llu programs recorded no buffers of their own, the first in %.*s: ", n,
                 (ull)c->programs, (int)(first.n < 80 ? first.n : 80), first.p);
  if (pitfall == TTM_PITFALL_CACHED)
    ttm_buf_printf(out,
                   "%s, and such programs record no circular buffers, so that peaks are too low. "
                   "Capture with device.disable_and_clear_program_cache().",
                   c->empty_cached ? "they came from the program cache" : "they may have come from the program cache");
  else
    ttm_buf_printf(out,
                   "run mode NORMAL %s dataflow buffers and scratchpads, so that peaks are too low. "
                   "Capture with RunMode.NO_DISPATCH.",
                   known > 0 ? "never records" : "does not record");
}

void ttm_pitfall_write(ttm_buf *out, ttm_pitfall pitfall, const ttm_profile *p, const ttm_extracts *x,
                       const ttm_core_use *use) {
  const ttm_capture *c = &p->capture;
  switch (pitfall) {
    case TTM_PITFALL_REFUSED:
      ttm_buf_printf(out, "extract_resource_usage_per_core throws here: %s", x->per_core.refused);
      if (x->per_core.refused_at != TTM_NONE) ttm_buf_printf(out, " (node %u)", x->per_core.refused_at);
      ttm_buf_puts(out, ".");
      return;
    case TTM_PITFALL_UNDERFLOW:
      ttm_buf_puts(out,
                   "A buffer from before the capture was freed inside it: tt-metal's unsigned sums wrapped below zero, "
                   "and numbers near 2^32 or 2^64 are no memory.");
      return;
    case TTM_PITFALL_WINDOW:
      ttm_buf_printf(
          out,
          "Not everything began inside the capture (buffers from before it: %llu). tt-metal leaves their %llu B of L1 "
          "per core and %llu B per DRAM bank out; the true figures count them from the start.",
          (ull)use->before_buffers, (ull)use->before_l1, (ull)use->before_dram);
      return;
    case TTM_PITFALL_CACHED:
    case TTM_PITFALL_DATAFLOW:
      write_missing_buffers(out, pitfall, p);
      return;
    case TTM_PITFALL_CORES:
      ttm_buf_printf(out,
                     "tt-metal adds buffers of programs without looking at their cores: "
                     "%llu B where the fullest core holds %llu B.",
                     (ull)summed_program(x), (ull)use->peak_program_all);
      return;
    case TTM_PITFALL_MESH:
      ttm_buf_printf(out,
                     "Each program's buffers stand here once per device (%u devices), and tt-metal adds all copies.",
                     use->devices);
      return;
    case TTM_PITFALL_FINISHED:
      ttm_buf_puts(out,
                   "A program's buffers stay in tt-metal's sum until the next program starts: "
                   "tensors allocated after it are added on top, although its buffers are gone by then.");
      return;
    case TTM_PITFALL_ALIASED:
      ttm_buf_puts(
          out,
          "extract_peak_L1_memory_usage counts globally allocated circular buffers on top of the tensor they lie in.");
      return;
    case TTM_PITFALL_MIXED_UNITS:
      ttm_buf_puts(
          out,
          "extract_peak_L1_memory_usage adds whole tensors (all cores together) to program buffers of one core: "
          "its number is no size of anything.");
      return;
    case TTM_PITFALL_BLOCKS:
      ttm_buf_printf(out, "The allocator rounds every buffer up to whole blocks: %llu B per core, not %llu B.",
                     (ull)use->peak_l1, (ull)x->per_core.peak_l1);
      return;
    case TTM_PITFALL_PADDING:
      ttm_buf_printf(out,
                     "extract_dram_usage counts sizes without what pages and banks round up: "
                     "the banks give up %llu B in all where it says %lld B.",
                     (ull)dram_all_banks(p, use), (long long)x->dram.peak);
      return;
    case TTM_PITFALL_KERNELS:
      ttm_buf_printf(out, "Kernel binaries are in the DRAM figures: up to %llu B per bank.", (ull)use->peak_kernels);
      return;
    case TTM_PITFALL_REGIONS:
      ttm_buf_puts(out, "tt-metal counts L1_SMALL as L1 and TRACE as DRAM; both have regions of their own.");
      return;
    case TTM_PITFALL_DEVICE_NAMES:
      ttm_buf_puts(
          out,
          "Tensors are named by mesh, buffers of programs by chip: device_id differs although the device is the same.");
      return;
    case TTM_PITFALL_ADDRESSES:
      ttm_buf_puts(out,
                   "Nothing was really allocated (NO_DISPATCH): ends and gaps follow from tt-metal's placement rule, "
                   "and fragmentation is not seen.");
      return;
    case TTM_PITFALL_BOARD:
      ttm_buf_printf(out, "The capture does not name its board; %s with %llu L1 banks and %llu DRAM banks is assumed.",
                     ttm_arches[c->board.arch].name, (ull)c->board.l1_banks, (ull)c->board.dram_banks);
      return;
    case TTM_PITFALL_UNREAD:
      write_unread(out, p);
      return;
    case TTM_PITFALLS:
      return;
  }
}
