/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/parts.h"
#include "base/bank.h"

const char *ttm_verdict_name(ttm_verdict verdict) {
  switch (verdict) {
    case TTM_VERDICT_EXHAUSTED:
      return "exhausted";
    case TTM_VERDICT_FRAGMENTED:
      return "fragmented";
    case TTM_VERDICT_IMPOSSIBLE:
      return "impossible";
    case TTM_VERDICT_BLOCKED:
      return "blocked";
    case TTM_VERDICT_NONE:
      break;
  }
  return NULL;
}

void ttm_refusal_make(ttm_incident_text *out, const ttm_bank *bank, uint32_t banks, ttm_memory memory,
                      uint64_t needed) {
  ttm_incident_clear(out);
  out->kind = TTM_INCIDENT_OOM;
  out->memory = ttm_str_of(ttm_memory_name(memory));
  out->needed_per_bank = needed;
  out->banks = banks;
  out->bank_size = bank->size;
  out->allocated_per_bank = bank->allocated;
  out->free_per_bank = ttm_bank_room(bank);
  out->largest_free_block = ttm_bank_largest(bank);
}

static void decide(ttm_incident_finding *out, ttm_verdict verdict, uint64_t needed, uint64_t had) {
  out->verdict = verdict;
  out->shortfall = needed - had;
}

/* Messages before 2026 say neither what is free nor how large the largest block is; the last state before them does,
 * rounded. A verdict that the rounding could turn is not given. */
static void judge_by_state(const ttm_profile *p, const ttm_incident *incident, ttm_incident_finding *out) {
  uint64_t needed = incident->what.needed_per_bank;
  ttm_memory memory;
  ttm_level level;
  if (incident->state >= p->states.n || !ttm_memory_of(incident->what.memory, &memory)) return;
  if (!ttm_state_level(p, incident->state, memory, &level)) return;
  uint64_t total = ttm_level_bytes(level.total), room = ttm_level_bytes(level.free),
           largest = ttm_level_bytes(level.largest);
  out->derived = true;
  if (needed > total + TTM_LEVEL_SLACK) {
    decide(out, TTM_VERDICT_IMPOSSIBLE, needed, total);
  } else if (needed > room + TTM_LEVEL_SLACK) {
    decide(out, TTM_VERDICT_EXHAUSTED, needed, room);
  } else if (needed + TTM_LEVEL_SLACK <= room && needed > largest + TTM_LEVEL_SLACK) {
    decide(out, TTM_VERDICT_FRAGMENTED, needed, largest);
  } else {
    out->derived = false;
  }
}

ttm_verdict ttm_verdict_of(const ttm_incident_text *what, uint64_t *shortfall) {
  uint64_t needed = what->needed_per_bank, room = what->free_per_bank, largest = what->largest_free_block;
  *shortfall = TTM_UNKNOWN;
  if (needed == TTM_UNKNOWN) return TTM_VERDICT_NONE;
  if (what->bank_size != TTM_UNKNOWN && needed > what->bank_size)
    return *shortfall = needed - what->bank_size, TTM_VERDICT_IMPOSSIBLE;
  if (room == TTM_UNKNOWN) return TTM_VERDICT_NONE;
  if (room < needed) return *shortfall = needed - room, TTM_VERDICT_EXHAUSTED;
  if (largest != TTM_UNKNOWN && largest < needed) return *shortfall = needed - largest, TTM_VERDICT_FRAGMENTED;
  if (what->window != TTM_UNKNOWN && what->window < needed)
    return *shortfall = needed - what->window, TTM_VERDICT_BLOCKED;
  return TTM_VERDICT_NONE;
}

static void judge_oom(const ttm_profile *p, const ttm_incident *incident, ttm_incident_finding *out) {
  const ttm_incident_text *what = &incident->what;
  out->verdict = ttm_verdict_of(what, &out->shortfall);
  if (out->verdict == TTM_VERDICT_NONE && what->needed_per_bank != TTM_UNKNOWN && what->free_per_bank == TTM_UNKNOWN)
    judge_by_state(p, incident, out);
}

/* Bytes by which `end` reaches past `limit`; TTM_UNKNOWN unless both are known and it does. */
static uint64_t overlap(uint64_t end, uint64_t limit) {
  return end == TTM_UNKNOWN || limit == TTM_UNKNOWN || end < limit ? TTM_UNKNOWN : end - limit;
}

int ttm_find_verdicts(ttm_findings *f) {
  const ttm_profile *p = f->profile;
  if (p->incidents.n && ttm_vec_reserve(&f->incidents, p->incidents.n)) return TTM_ENOMEM;
  for (uint32_t i = 0; i < p->incidents.n; i++) {
    const ttm_incident *incident = &p->incidents.at[i];
    ttm_incident_finding finding = {.incident = i, .verdict = TTM_VERDICT_NONE, .shortfall = TTM_UNKNOWN};
    switch (incident->what.kind) {
      case TTM_INCIDENT_OOM:
        judge_oom(p, incident, &finding);
        break;
      case TTM_INCIDENT_L1_CLASH:
        finding.shortfall = overlap(incident->what.buffers_end, incident->what.l1_buffer_at);
        break;
      case TTM_INCIDENT_L1_OVERFLOW:
        finding.shortfall = overlap(incident->what.buffers_end, incident->what.l1_size);
        break;
      case TTM_INCIDENT_L1_BUFFERS:
      case TTM_INCIDENT_FATAL:
        finding.shortfall = overlap(incident->what.size, incident->what.limit);
        break;
    }
    f->incidents.at[f->incidents.n++] = finding;
  }
  return TTM_OK;
}
