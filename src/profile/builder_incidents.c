/* SPDX-License-Identifier: Apache-2.0 */
/* Incidents: each failure is told two to four times (log line, exception, traceback); it is kept once. */
#include "profile/builder.h"

enum { MOST_INCIDENTS = 10000 };

/* A logger prints a failure once; every other copy comes from an exception that travels. */
static bool is_logged(ttm_str line) {
  return ttm_str_contains(line, TTM_LIT("| critical |")) || ttm_str_contains(line, TTM_LIT("| FATAL")) ||
         ttm_str_contains(line, TTM_LIT("FATAL\x1b[0m |"));
}

/* Moves a view from the log line into the profile's strings. */
static int keep(ttm_profile *p, ttm_str *v) {
  uint32_t id;
  if (ttm_intern_add(&p->strings, *v, &id)) return TTM_ENOMEM;
  *v = ttm_profile_string(p, id);
  return TTM_OK;
}

/* The runtime's own FATAL line is followed by "LOG_ASSERT @ file:line: condition": the same failure once more. */
static bool repeats_last(const ttm_profile *p, const ttm_stream *s, const ttm_incident_text *what, uint32_t line) {
  if (p->incidents.n == 0 || what->kind != TTM_INCIDENT_FATAL) return false;
  const ttm_incident *last = &p->incidents.at[p->incidents.n - 1];
  bool repeats =
      ttm_str_starts(what->text, TTM_LIT("LOG_ASSERT @")) || ttm_str_starts(what->text, TTM_LIT("LOG_FATAL @"));
  return repeats && last->what.kind == TTM_INCIDENT_FATAL && last->rank == s->rank && line - last->line <= 16;
}

int ttm_build_incident(ttm_builder *b, ttm_stream *s, ttm_incident_text what, uint32_t op, uint32_t line, bool logged) {
  ttm_profile *p = b->profile;
  if (repeats_last(p, s, &what, line)) return p->incidents.at[p->incidents.n - 1].copies++, TTM_OK;
  uint32_t text;
  if (ttm_build_string(b, what.text, &text)) return TTM_ENOMEM;
  uint32_t known = ttm_map_get(&b->incident_ids, text, TTM_NONE);
  if (known != TTM_NONE && !(logged && p->incidents.at[known].logged)) {
    p->incidents.at[known].copies++;
    p->incidents.at[known].logged |= logged;
    if (!p->incidents.at[known].place) p->incidents.at[known].place = s->place;
    return TTM_OK;
  }
  if (p->incidents.n >= MOST_INCIDENTS) return TTM_OK;
  what.text = ttm_profile_string(p, text);
  if (keep(p, &what.memory) || keep(p, &what.core_range)) return TTM_ENOMEM;
  ttm_incident incident = {.what = what,
                           .line = line,
                           .copies = 1,
                           .op = op,
                           .state = s->last_state,
                           .rank = s->rank,
                           .logged = logged,
                           .place = s->place};
  if (op != TTM_NONE) p->ops.at[op].flags |= TTM_OP_FAILED;
  if (ttm_vec_push(&p->incidents, incident)) return TTM_ENOMEM;
  return ttm_map_set(&b->incident_ids, text, (uint32_t)(p->incidents.n - 1));
}

int ttm_build_incident_line(ttm_builder *b, ttm_stream *s, ttm_str text, uint32_t op, uint32_t line) {
  ttm_incident_text what;
  return ttm_incident_parse(text, &what) ? ttm_build_incident(b, s, what, op, line, is_logged(text)) : TTM_OK;
}

int ttm_build_incident_info(ttm_builder *b, ttm_stream *s, ttm_str sentence, uint32_t op, uint32_t line) {
  ttm_incident_text what;
  if (ttm_incident_parse(sentence, &what)) return TTM_OK; /* a known wording has its own event */
  return ttm_incident_parse_info(sentence, &what) ? ttm_build_incident(b, s, what, op, line, false) : TTM_OK;
}
