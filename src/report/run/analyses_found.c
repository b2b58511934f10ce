/* SPDX-License-Identifier: Apache-2.0 */
/* Late frees, runs, leaks, layers, fragmentation and waste on a terminal. */
#include "report/run/analyses_parts.h"

enum { SHOWN = 5, MOST_PROGRAMS = 8 };

static const ttm_str NOTHING = {"", 0};
static const char NO_RUNS[] = "Unknown: nothing tells where a run begins and ends.";
static const char *const DERIVED = "derived", *const MEASURED = "measured";

static void say(ttm_analysis_page *p, const char *words) {
  ttm_sentence_add(p, "%s", words);
  ttm_sentence_end(p, NOTHING);
}

static bool same_op(ttm_str a, ttm_str b) {
  return ttm_member_number(a, "index", -1) == ttm_member_number(b, "index", -2);
}

/* ---- Late frees ---------------------------------------------------------------------------------------------------- */

static double lowest_peak(ttm_str late) {
  double lowest = ttm_member_number(late, "peak_if_freed_per_bank_MB", ttm_member_number(late, "peak_per_bank_MB", 0));
  ttm_str rows = ttm_json_get_member(late, "tensors"), row;
  while (ttm_json_get_element(&rows, &row)) {
    double peak = ttm_member_number(row, "peak_if_freed_per_bank_MB", lowest);
    if (peak < lowest) lowest = peak;
  }
  return lowest;
}

static void put_late_row(ttm_analysis_page *p, ttm_str row) {
  ttm_str made = ttm_json_get_member(row, "made_by"), used = ttm_json_get_member(row, "last_use");
  double times = ttm_member_number(row, "times", 1);
  if (times > 1) ttm_sentence_add(p, "%.0f times: ", times);
  ttm_sentence_add(p, "result of ");
  ttm_sentence_op(p, made);
  if (same_op(made, used)) {
    ttm_sentence_add(p, ", never used");
  } else {
    ttm_sentence_add(p, ", last used by ");
    ttm_sentence_op(p, used);
  }
  ttm_sentence_add(p, ", freed in log line %.0f, %.0f operations late; without that the peak is %.3f",
                   ttm_member_number(row, "freed_line", 0), ttm_member_number(row, "operations_late", 0),
                   ttm_member_number(row, "peak_if_freed_per_bank_MB", 0));
  if (ttm_str_eq(ttm_json_get_member(row, "replay_agrees"), TTM_LIT("true"))) ttm_sentence_add(p, ", replayed");
  ttm_figure_end(p, ttm_member_number(row, "per_bank_MB", 0), made);
}

void ttm_analysis_late(ttm_analysis_page *p) {
  ttm_str late = ttm_json_get_member(p->findings, "late_frees"), rows = ttm_json_get_member(late, "tensors"), row;
  ttm_str agrees = ttm_json_get_member(late, "replay_agrees");
  bool told = ttm_lives_told(p, late);
  double peak = ttm_member_number(late, "peak_per_bank_MB", 0), lowest = lowest_peak(late);
  ttm_analysis_heading(p, "Late frees", told ? DERIVED : NULL);
  if (!told) return ttm_say_unknown(p);
  if (!ttm_array_length(rows)) return say(p, "No tensor of any size stays allocated long after its last use.");
  if (peak - lowest < 0.0005)
    ttm_sentence_add(p, "Not when memory is highest: freed at their last use, the DRAM peak stays %.3f MB/bank.", peak);
  else
    ttm_sentence_add(p, "Freed at their last use, the DRAM peak is %.3f instead of %.3f MB/bank, %.3f less%s.", lowest,
                     peak, peak - lowest,
                     ttm_str_eq(agrees, TTM_LIT("true"))    ? "; replaying the allocator confirms it"
                     : ttm_str_eq(agrees, TTM_LIT("false")) ? "; replayed, the allocator places some tensors elsewhere"
                                                            : "");
  ttm_sentence_end(p, NOTHING);
  for (int i = 0; i < SHOWN && ttm_json_get_element(&rows, &row); i++) put_late_row(p, row);
}

/* ---- Runs and leaks ------------------------------------------------------------------------------------------------ */

static void put_program(ttm_analysis_page *p, ttm_str program) {
  double runs = ttm_member_number(program, "runs", 0), warm = ttm_member_number(program, "warm_up_runs", 0);
  double odd = ttm_member_number(program, "odd_runs", 0), alike = runs - warm - odd;
  double start = ttm_member_number(program, "last_start_MB", -1), last = ttm_member_number(program, "last_peak_MB", -1);
  double peak = ttm_member_number(program, "peak_MB", -1);
  if (ttm_has_text(program, "program"))
    ttm_sentence_text(p, program, "program");
  else
    ttm_sentence_add(p, "operations outside every program");
  if (ttm_member_number(program, "rank", 0) > 0)
    ttm_sentence_add(p, " on rank %.0f", ttm_member_number(program, "rank", 0));
  if (runs == 1)
    ttm_sentence_add(p, ": one run");
  else if (alike < 2)
    ttm_sentence_add(p, ": %.0f runs, no two of them alike yet", runs);
  else if (warm > 0)
    ttm_sentence_add(p, ": %.0f runs, %.0f of warm-up, then %.0f alike", runs, warm, alike);
  else if (odd > 0)
    ttm_sentence_add(p, ": %.0f runs, %.0f of them alike", runs, alike);
  else
    ttm_sentence_add(p, ": %.0f runs, all of them alike", runs);
  if (alike >= 2 && start >= 0 && last >= 0)
    ttm_sentence_add(p, ", the last from %.3f up to %.3f MB/bank", start, last);
  if (alike >= 2 && odd > 0) ttm_sentence_add(p, ", %.0f not like them", odd);
  if (peak >= 0)
    ttm_sentence_add(p, "; highest DRAM %.3f MB/bank, in run %.0f", peak, ttm_member_number(program, "peak_run", 0));
  ttm_point_end(p, NOTHING);
}

void ttm_analysis_runs(ttm_analysis_page *p) {
  ttm_str programs = ttm_json_get_member(p->findings, "programs"), program;
  uint32_t n = ttm_has_runs(p) ? ttm_array_length(programs) : 0;
  ttm_analysis_heading(p, "Runs", n ? MEASURED : NULL);
  if (!ttm_has_runs(p)) return say(p, NO_RUNS);
  if (!n) return say(p, "The log shows no program run.");
  for (uint32_t i = 0; i < MOST_PROGRAMS && ttm_json_get_element(&programs, &program); i++) put_program(p, program);
  if (n <= MOST_PROGRAMS) return;
  ttm_sentence_add(p, "and %u more programs", n - MOST_PROGRAMS);
  ttm_sentence_end(p, NOTHING);
}

static void put_culprit(ttm_analysis_page *p, ttm_str one) {
  ttm_sentence_op(p, one);
  ttm_sentence_add(p, ", %.0f each run", ttm_member_number(one, "tensors_per_run", 1));
  ttm_figure_end(p, ttm_member_number(one, "per_run_MB", 0), one);
}

static void put_leak(ttm_analysis_page *p, ttm_str leak) {
  ttm_str culprits = ttm_json_get_member(leak, "culprits"), one;
  uint32_t n = ttm_array_length(culprits);
  bool named = !p->rough && ttm_has_text(leak, "mlir_op");
  double left = ttm_member_number(leak, "runs_until_full", -1);
  ttm_sentence_add(p, "Every run leaves %.3f MB/bank behind, %.0f runs prove it",
                   ttm_member_number(leak, "per_run_MB", 0), ttm_member_number(leak, "runs_seen", 0));
  if (left >= 0) ttm_sentence_add(p, ", after %.0f more memory is full", left);
  ttm_sentence_add(p, !named  ? ". Which operation it is cannot be told"
                      : n > 1 ? ": results of the operations below stay"
                              : ": what stays is a result of ");
  if (named && n < 2) ttm_sentence_op(p, leak);
  ttm_sentence_add(p, ". Confidence ");
  if (p->rough)
    ttm_sentence_add(p, "low");
  else
    ttm_sentence_text(p, leak, "confidence");
  if (ttm_str_eq(ttm_json_get_member(leak, "others_would_fit"), TTM_LIT("true")))
    ttm_sentence_add(p, ": others would add up too");
  ttm_sentence_add(p, ".");
  ttm_sentence_end(p, named ? leak : NOTHING);
  while (named && n > 1 && ttm_json_get_element(&culprits, &one)) put_culprit(p, one);
}

static uint32_t most_runs(ttm_str programs) {
  double most = 0;
  for (ttm_str program; ttm_json_get_element(&programs, &program);) {
    double runs = ttm_member_number(program, "runs", 0);
    if (runs > most) most = runs;
  }
  return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

void ttm_analysis_leaks(ttm_analysis_page *p) {
  ttm_str leaks = ttm_json_get_member(p->findings, "leaks"), leak;
  uint32_t n = ttm_array_length(leaks), runs = most_runs(ttm_json_get_member(p->findings, "programs"));
  ttm_analysis_heading(p, "Leaks", n || runs >= TTM_LEAK_RUNS ? DERIVED : NULL);
  while (ttm_json_get_element(&leaks, &leak)) put_leak(p, leak);
  if (n) return;
  if (!ttm_has_runs(p)) return say(p, NO_RUNS);
  if (runs < TTM_LEAK_RUNS)
    return say(p, "Too few runs to tell: it takes five of one program, one of warm-up and three equal rises after it.");
  ttm_sentence_add(p, "None: over %u runs no level at the start of a run rises by the same amount again and again.",
                   runs);
  ttm_sentence_end(p, NOTHING);
}

/* ---- Layers -------------------------------------------------------------------------------------------------------- */

void ttm_analysis_layers(ttm_analysis_page *p) {
  ttm_str layers = ttm_json_get_member(p->findings, "layers"), odd = ttm_json_get_member(layers, "odd"), one;
  ttm_analysis_heading(p, "Layers", ttm_is_object(layers) ? DERIVED : NULL);
  if (!ttm_is_object(layers)) return say(p, "No block of operations repeats in the longest run.");
  ttm_sentence_add(p, "%.0f layers of %.0f operations alike, the first at ", ttm_member_number(layers, "count", 0),
                   ttm_member_number(layers, "operations", 0));
  ttm_sentence_op(p, ttm_json_get_member(layers, "first"));
  ttm_sentence_add(p, "; one goes up %.3f MB/bank above its start and leaves ",
                   ttm_member_number(layers, "peak_above_start_per_bank_MB", 0));
  double growth = ttm_member_number(layers, "growth_per_bank_MB", 0);
  if (growth != 0)
    ttm_sentence_add(p, "%+.3f behind.", growth);
  else
    ttm_sentence_add(p, "nothing behind.");
  ttm_sentence_end(p, ttm_json_get_member(layers, "first"));
  while (ttm_json_get_element(&odd, &one)) {
    ttm_str differs = ttm_json_get_member(one, "differs");
    ttm_sentence_add(p, "layer %.0f differs: %.0f operations, first at ", ttm_member_number(one, "layer", 0),
                     ttm_member_number(one, "operations", 0));
    ttm_sentence_op(p, differs);
    if (ttm_json_get_member(one, "peak_above_start_per_bank_MB").n)
      ttm_sentence_add(p, "; it goes up %.3f MB/bank", ttm_member_number(one, "peak_above_start_per_bank_MB", 0));
    ttm_point_end(p, differs);
  }
}

/* ---- Fragmentation ------------------------------------------------------------------------------------------------- */

static void put_pin(ttm_analysis_page *p, ttm_str pin) {
  ttm_str made = ttm_json_get_member(pin, "made_by");
  double tensors = ttm_member_number(pin, "tensors", 0);
  ttm_sentence_add(p, "in the way: ");
  if (ttm_is_object(made))
    ttm_sentence_op(p, made);
  else
    ttm_sentence_add(p, "memory that no tensor of the log explains");
  if (tensors > 1) ttm_sentence_add(p, " and %.0f more", tensors - 1);
  ttm_sentence_add(p, ", %.3f MB/bank at address %.0f; without it one free block of %.3f",
                   ttm_member_number(pin, "per_bank_MB", 0), ttm_member_number(pin, "address", 0),
                   ttm_member_number(pin, "free_block_without_MB", 0));
  ttm_point_end(p, made);
}

static void put_refusals(ttm_analysis_page *p, ttm_str request, double all) {
  ttm_str states = ttm_json_get_member(request, "states"), state;
  uint32_t n = 0;
  for (; ttm_json_get_element(&states, &state); n++) {
    ttm_sentence_add(p, "refused at log line %.0f: %.3f MB/bank free, the largest block %.3f",
                     ttm_member_number(state, "line", 0), ttm_member_number(state, "free_per_bank_MB", 0),
                     ttm_member_number(state, "largest_free_block_MB", 0));
    ttm_point_end(p, NOTHING);
  }
  if (!n || all <= n) return;
  ttm_sentence_add(p, "and at %.0f more", all - n);
  ttm_point_end(p, NOTHING);
}

void ttm_analysis_fragmentation(ttm_analysis_page *p) {
  ttm_str found = ttm_json_get_member(p->findings, "fragmentation"), worst = ttm_json_get_member(found, "worst");
  ttm_str request = ttm_json_get_member(found, "largest_request"), op = ttm_json_get_member(request, "operation"), pin;
  ttm_str pins = ttm_json_get_member(ttm_json_get_member(found, "pinned_by"), "tensors");
  double room = ttm_member_number(worst, "free_per_bank_MB", 0);
  double largest = ttm_member_number(worst, "largest_free_block_MB", 0);
  double refused = ttm_member_number(request, "states_that_would_refuse_it", 0);
  bool measured = ttm_str_eq(ttm_json_get_member(worst, "basis"), TTM_LIT("\"measured\""));
  ttm_analysis_heading(p, "Fragmentation of DRAM", !ttm_is_object(found) ? NULL : measured ? MEASURED : DERIVED);
  if (!ttm_is_object(found))
    return say(p, ttm_is_object(ttm_json_get_member(ttm_json_get_member(p->findings, "peak"), "DRAM"))
                      ? "Unknown: nothing tells how the free memory is cut up."
                      : "The log shows no DRAM state.");
  if (room - largest < 0.0005)
    return say(p, ttm_member_number(found, "unknown_states", 0) > 0
                      ? "Free DRAM is in one piece wherever that is known."
                      : "Free DRAM is in one piece at every state.");
  ttm_sentence_add(p, "At most %.3f MB/bank are out of reach of a single tensor, %.1f%% of the %.3f free",
                   room - largest, ttm_member_number(worst, "pct", 0), room);
  if (ttm_member_number(worst, "line", 0) > 0)
    ttm_sentence_add(p, ", log line %.0f", ttm_member_number(worst, "line", 0));
  ttm_sentence_add(p, ".");
  ttm_sentence_end(p, NOTHING);
  if (refused > 0) {
    ttm_sentence_add(p, "At %.0f states, first at log line %.0f, the log's largest tensor, %.3f MB/bank by ", refused,
                     ttm_member_number(request, "first_line", 0), ttm_member_number(request, "per_bank_MB", 0));
    ttm_sentence_op(p, op);
    ttm_sentence_add(p, ", would have been refused though enough was free (derived).");
    ttm_sentence_end(p, op);
    put_refusals(p, request, refused);
  }
  while (ttm_json_get_element(&pins, &pin)) put_pin(p, pin);
}

/* ---- Waste --------------------------------------------------------------------------------------------------------- */

typedef struct waste_words {
  ttm_str kind; /* as in findings.json, quoted */
  const char *key, *what, *remedy;
} waste_words;

static const waste_words WASTE[] = {
    {{"\"f32_copy\"", 10}, "f32_copy", "f32 copies of bf16 weights", "keep it in bf16"},
    {{"\"weight_twice\"", 14},
     "weight_twice",
     "weights there in several forms",
     "convert on the host, or free the original first"},
    {{"\"tile_padding\"", 14}, "tile_padding", "tiles that are mostly padding", "no reshape needs fewer tiles"},
    {{"\"narrow_rows\"", 13}, "narrow_rows", "narrow row-major rows", "longer rows, or tiles"},
};
enum { WASTE_KINDS = sizeof WASTE / sizeof *WASTE };

static void put_waste_row(ttm_analysis_page *p, ttm_str row) {
  ttm_str kind = ttm_json_get_member(row, "kind"), made = ttm_json_get_member(row, "made_by");
  ttm_sentence_tensor(p, row, made);
  ttm_sentence_add(p, ", ");
  ttm_sentence_text(p, row, "shape");
  ttm_sentence_add(p, " ");
  ttm_sentence_text(p, row, "dtype");
  for (size_t k = 0; k < WASTE_KINDS; k++) {
    if (!ttm_str_eq(kind, WASTE[k].kind)) continue;
    if (ttm_has_text(row, "better_shape")) {
      ttm_sentence_add(p, "; reshaped to ");
      ttm_sentence_text(p, row, "better_shape");
      ttm_sentence_add(p, " it needs fewer tiles");
    } else if (ttm_member_number(row, "row_major_saves_per_bank_MB", 0) > 0) {
      ttm_sentence_add(p, "; in ROW_MAJOR layout, where its operations take that, it needs %.3f less",
                       ttm_member_number(row, "row_major_saves_per_bank_MB", 0));
    } else {
      ttm_sentence_add(p, "; %s", WASTE[k].remedy);
    }
  }
  ttm_figure_end(p, ttm_member_number(row, "per_bank_MB", 0), made);
}

void ttm_analysis_waste(ttm_analysis_page *p) {
  ttm_str waste = ttm_json_get_member(p->findings, "waste_at_peak"), rows = ttm_json_get_member(waste, "top"), row;
  ttm_str sums = ttm_json_get_member(waste, "per_bank_MB");
  bool told = ttm_lives_told(p, waste);
  uint32_t n = ttm_array_length(rows);
  ttm_analysis_heading(p, "Waste at the DRAM peak", told ? DERIVED : NULL);
  if (!told) return ttm_say_unknown(p);
  if (!n)
    return say(p,
               "None: no f32 copies of bf16 weights, no weight in two forms, no padding or narrow rows that matter.");
  for (size_t k = 0; k < WASTE_KINDS; k++) {
    double mb = ttm_member_number(sums, WASTE[k].key, 0);
    if (mb > 0) ttm_sentence_add(p, "%s%.3f MB/bank of %s", p->sentence.n ? ", " : "", mb, WASTE[k].what);
  }
  ttm_sentence_add(p, ".");
  ttm_sentence_end(p, NOTHING);
  for (int i = 0; i < SHOWN && ttm_json_get_element(&rows, &row); i++) put_waste_row(p, row);
  if (n <= SHOWN) return;
  ttm_sentence_add(p, "and %u more", n - SHOWN);
  ttm_sentence_end(p, NOTHING);
}
