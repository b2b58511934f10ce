/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/pitfalls.h"

#include "analyze/say.h"
#include "base/checked.h"

/* A hole {} takes the next word of words_of(). */
static const struct {
  const char *name, *sentence;
} PITFALLS[TTM_PITFALLS] = {
    [TTM_PITFALL_REFUSED] = {"refused", "extract_resource_usage_per_core throws: {}{}{}."},
    [TTM_PITFALL_UNDERFLOW] = {"underflow",
                               "A buffer from before the capture was freed inside it: tt-metal's unsigned sums wrapped "
                               "below zero, and numbers near 2^32 or 2^64 are no memory."},
    [TTM_PITFALL_WINDOW] = {"window",
                            "The capture began after the device was opened: what was allocated before is only in it "
                            "where it uses or frees that. It shows {} with {} B of L1 per core and {} B per "
                            "DRAM bank, which tt-metal leaves out and the corrected numbers count from the start."},
    [TTM_PITFALL_CACHED] = {"cached_programs",
                            "{} of {} programs recorded no buffers, the first is {}: {} from the program cache. Cached "
                            "programs record no circular buffers, so peaks are too low. Capture with "
                            "device.disable_and_clear_program_cache()."},
    [TTM_PITFALL_DATAFLOW] = {"dataflow_not_recorded",
                              "{} of {} programs recorded no buffers, the first is {}: run mode NORMAL does not record "
                              "dataflow buffers and scratchpads, so peaks are too low. Capture with "
                              "RunMode.NO_DISPATCH."},
    [TTM_PITFALL_CORES] =
        {"cores_added",
         "tt-metal adds the buffers of programs on different cores: {} B where the fullest core holds "
         "{} B."},
    [TTM_PITFALL_MESH] =
        {"mesh_repeated",
         "The buffers of each program are recorded once per device ({} devices), and tt-metal adds all "
         "copies."},
    [TTM_PITFALL_FINISHED] = {"finished_programs",
                              "tt-metal counts the buffers of a program until the next one starts: tensors allocated "
                              "after it are added to buffers that are gone."},
    [TTM_PITFALL_ALIASED] =
        {"aliased",
         "extract_peak_L1_memory_usage counts globally allocated circular buffers in addition to the "
         "tensor they share memory with."},
    [TTM_PITFALL_MIXED_UNITS] =
        {"mixed_units",
         "extract_peak_L1_memory_usage adds whole tensors (all cores) to the program buffers of "
         "one core: the sum has no meaning."},
    [TTM_PITFALL_BLOCKS] = {"block_rounding",
                            "The allocator rounds every buffer up to whole blocks: {} B per core, not {} B."},
    [TTM_PITFALL_PADDING] =
        {"padding",
         "extract_dram_usage leaves out the padding of pages and banks: all banks together hold {} B, "
         "it says {} B."},
    [TTM_PITFALL_KERNELS] = {"kernel_binaries", "Kernel binaries are in the DRAM numbers: up to {} B per bank."},
    [TTM_PITFALL_REGIONS] = {"small_regions",
                             "tt-metal counts L1_SMALL as L1 and TRACE as DRAM; both are regions of their own."},
    [TTM_PITFALL_DEVICE_NAMES] =
        {"device_names",
         "Tensors are named by mesh, buffers of programs by chip: device_id differs although the "
         "device is the same."},
    [TTM_PITFALL_ADDRESSES] = {"no_addresses",
                               "Nothing was really allocated (NO_DISPATCH): ends and gaps follow from tt-metal's "
                               "placement rule, and fragmentation is unknown."},
    [TTM_PITFALL_BOARD] = {"board_assumed",
                           "The board is not in this capture; {} with {} L1 banks and {} DRAM banks is assumed."},
    [TTM_PITFALL_UNREAD] = {"not_all_read", ""},
};

const char *ttm_pitfall_name(ttm_pitfall pitfall) { return pitfall < TTM_PITFALLS ? PITFALLS[pitfall].name : "?"; }

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
  FOUND(TTM_PITFALL_WINDOW, ttm_profile_is_window(p) || use->before_buffers);
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
  return found & (UINT32_C(1) << TTM_PITFALL_WINDOW | UINT32_C(1) << TTM_PITFALL_CACHED |
                  UINT32_C(1) << TTM_PITFALL_DATAFLOW | UINT32_C(1) << TTM_PITFALL_UNREAD);
}

/* ---- Saying -------------------------------------------------------------------------------------------------------- */

static void write_unread(ttm_buf *out, const ttm_profile *p) {
  const ttm_capture *c = &p->capture;
  size_t start = out->n;
  if (p->seen.cut)
    ttm_say(out, NULL, "The capture breaks off at line {}; the part before it is used. ", TTM_LINE(p->seen.lines));
  if (c->other_nodes) ttm_say(out, NULL, "Nodes of types this version does not know: {}. ", TTM_COUNT(c->other_nodes));
  if (c->bad_nodes) ttm_say(out, NULL, "Elements that are no nodes: {}. ", TTM_COUNT(c->bad_nodes));
  if (!out->failed && out->n > start) out->n--;
}

typedef struct words {
  ttm_word at[4];
} words;

static words words_of(ttm_pitfall pitfall, const ttm_profile *p, const ttm_extracts *x, const ttm_core_use *use) {
  const ttm_capture *c = &p->capture;
  uint64_t cached = c->empty_cached ? c->empty_cached : not_cached(c);
  ttm_word first = TTM_TEXT(ttm_profile_string(p, c->first_empty));
  switch (pitfall) {
    case TTM_PITFALL_REFUSED:
      if (x->per_core.refused_at == TTM_NONE) return (words){{TTM_WORDS(x->per_core.refused)}};
      return (words){{TTM_WORDS(x->per_core.refused), TTM_WORDS(", node "), TTM_LINE(x->per_core.refused_at)}};
    case TTM_PITFALL_WINDOW:
      return (words){
          {TTM_PLURAL(use->before_buffers, "such buffer"), TTM_COUNT(use->before_l1), TTM_COUNT(use->before_dram)}};
    case TTM_PITFALL_CACHED:
      return (words){{TTM_COUNT(cached), TTM_COUNT(c->programs), first,
                      TTM_WORDS(c->empty_cached ? "they came" : "they may have come")}};
    case TTM_PITFALL_DATAFLOW:
      return (words){{TTM_COUNT(not_cached(c)), TTM_COUNT(c->programs), first}};
    case TTM_PITFALL_CORES:
      return (words){{TTM_COUNT(summed_program(x)), TTM_COUNT(use->peak_program_all)}};
    case TTM_PITFALL_MESH:
      return (words){{TTM_COUNT(use->devices)}};
    case TTM_PITFALL_BLOCKS:
      return (words){{TTM_COUNT(use->peak_l1), TTM_COUNT(x->per_core.peak_l1)}};
    case TTM_PITFALL_PADDING:
      return (words){{TTM_COUNT(dram_all_banks(p, use)), TTM_COUNT((uint64_t)x->dram.peak)}};
    case TTM_PITFALL_KERNELS:
      return (words){{TTM_COUNT(use->peak_kernels)}};
    case TTM_PITFALL_BOARD:
      return (words){
          {TTM_WORDS(ttm_arches[c->board.arch].name), TTM_COUNT(c->board.l1_banks), TTM_COUNT(c->board.dram_banks)}};
    default:
      return (words){{{.kind = TTM_SAY_NONE}}};
  }
}

void ttm_pitfall_write(ttm_buf *out, ttm_pitfall pitfall, const ttm_profile *p, const ttm_extracts *x,
                       const ttm_core_use *use) {
  if (pitfall == TTM_PITFALL_UNREAD) return write_unread(out, p);
  words w = words_of(pitfall, p, x, use);
  ttm_say_words(out, NULL, PITFALLS[pitfall].sentence, w.at, 4);
}
