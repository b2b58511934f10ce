/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/rescue.h"

#include "analyze/op_groups.h"
#include "analyze/parts.h"
#include "analyze/replay.h"

/* Spans count from one. */
#define NOT_SEEN 0
#define VARIES UINT32_MAX

typedef struct search {
  const ttm_findings *f;
  const ttm_profile *p;
  const ttm_incident *incident;
  int memory; /* TTM_REPLAY_* */
  uint32_t rank;
  ttm_op_groups groups;
  uint32_t *text_spans;          /* by text: operations from birth to last use of its freed results, plus one */
  TTM_VEC(uint32_t) group_spans; /* by group likewise */
  ttm_rescue *out;
} search;

static uint32_t span_of(const search *s, const ttm_tensor *tensor) {
  return ttm_elements_between(s->f, tensor->birth, tensor->last_use) + 1;
}

static void learn(uint32_t *known, uint32_t span) { *known = *known == NOT_SEEN || *known == span ? span : VARIES; }

static bool is_plain(const search *s, const ttm_tensor *tensor, uint32_t t) {
  const ttm_profile *p = s->p;
  if (tensor->self != t || tensor->birth >= p->ops.n || tensor->last_use >= p->ops.n) return false;
  uint32_t call = p->ops.at[tensor->birth].call;
  return !(p->ops.at[tensor->birth].flags & TTM_OP_CONST_EVAL) && call < p->calls.n &&
         p->calls.at[call].rank == s->rank;
}

/* How long results are used that were freed before the failure. */
static int learn_spans(search *s) {
  const ttm_profile *p = s->p;
  s->text_spans = ttm_alloc_array(p->texts.n, sizeof *s->text_spans);
  if (!s->text_spans) return TTM_ENOMEM;
  for (uint32_t t = 0; t < p->tensors.n; t++) {
    const ttm_tensor *tensor = &p->tensors.at[t];
    uint32_t group;
    if (!is_plain(s, tensor, t) || tensor->freed_by >= s->incident->op) continue;
    uint32_t text = p->ops.at[tensor->birth].text, span = span_of(s, tensor);
    learn(&s->text_spans[text], span);
    if (ttm_op_groups_of(&s->groups, text, &group)) return TTM_ENOMEM;
    while (s->group_spans.n <= group) {
      if (ttm_vec_push(&s->group_spans, NOT_SEEN)) return TTM_ENOMEM;
    }
    learn(&s->group_spans.at[group], span);
  }
  return TTM_OK;
}

/* The same operation of an earlier run tells best, that of another layer next. */
static int is_past_use(search *s, uint32_t t, bool *past) {
  const ttm_tensor *tensor = &s->p->tensors.at[t];
  *past = false;
  if (!is_plain(s, tensor, t) || tensor->last_use >= s->incident->op) return TTM_OK;
  if (ttm_op_may_view(s->p, tensor->last_use)) return TTM_OK; /* the view may still be in use */
  uint32_t text = s->p->ops.at[tensor->birth].text, known = s->text_spans[text], group;
  if (ttm_op_groups_of(&s->groups, text, &group)) return TTM_ENOMEM;
  if (known == NOT_SEEN && group < s->group_spans.n) known = s->group_spans.at[group];
  *past = known != NOT_SEEN && known != VARIES && known == span_of(s, tensor);
  return TTM_OK;
}

static void keep(ttm_rescue *out, uint32_t tensor, uint64_t bytes) {
  if (out->n == TTM_RESCUERS && bytes <= out->at[out->n - 1].bank_bytes) return;
  uint32_t at = out->n < TTM_RESCUERS ? out->n++ : out->n - 1;
  for (; at && out->at[at - 1].bank_bytes < bytes; at--) out->at[at] = out->at[at - 1];
  out->at[at].tensor = tensor;
  out->at[at].bank_bytes = bytes;
}

/* Tensors that hold memory at the failure and are past their last use. */
static int gather(search *s) {
  const ttm_profile *p = s->p;
  ttm_replay replay;
  int status = ttm_replay_init(&replay, p, s->rank);
  if (!status) status = ttm_replay_to_state(&replay, s->incident->state);
  for (uint32_t t = 0; t < p->tensors.n && !status; t++) {
    uint64_t at, bytes;
    bool past;
    if (!ttm_replay_block(&replay, t, &at) || at == TTM_UNKNOWN) continue;
    bytes = ttm_replay_cost_of(&replay, ttm_tensor_type_id(p, t), s->memory);
    if (bytes && !(status = is_past_use(s, t, &past)) && past) keep(s->out, t, bytes);
  }
  ttm_replay_free(&replay);
  return status;
}

int ttm_rescue_find(ttm_rescue *out, const ttm_findings *f, size_t i) {
  const ttm_incident_finding *finding = &f->incidents.at[i];
  search s = {.f = f, .p = f->profile, .incident = &f->profile->incidents.at[finding->incident]};
  const ttm_incident_text *what = &s.incident->what;
  ttm_memory memory;
  *out = (ttm_rescue){.n = 0};
  s.out = out;
  if (what->kind != TTM_INCIDENT_OOM || !ttm_memory_of(what->memory, &memory) || memory > TTM_L1) return TTM_OK;
  if (finding->verdict != TTM_VERDICT_EXHAUSTED && finding->verdict != TTM_VERDICT_FRAGMENTED) return TTM_OK;
  if (s.p->kind != TTM_LOG_FULL || !ttm_profile_frees_known(s.p) || s.incident->op >= s.p->ops.n ||
      s.incident->state >= s.p->states.n)
    return TTM_OK;
  s.memory = memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM;
  s.rank = ttm_state_rank(s.p, s.incident->state);
  int status = ttm_op_groups_init(&s.groups, s.p);
  if (!status) status = learn_spans(&s);
  if (!status) status = gather(&s);
  ttm_op_groups_free(&s.groups);
  ttm_vec_free(&s.group_spans);
  ttm_free(s.text_spans);
  return status;
}
