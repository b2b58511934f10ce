/* SPDX-License-Identifier: Apache-2.0 */
/* Incidents: each failure is told two to four times (log line, exception, traceback); it is kept once. */
#include "parse/log_line.h"
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

static int add(ttm_builder *b, ttm_stream *s, ttm_incident_text what, uint32_t line, bool logged) {
  ttm_profile *p = b->profile;
  if (repeats_last(p, s, &what, line)) return p->incidents.at[p->incidents.n - 1].copies++, TTM_OK;
  uint32_t text;
  if (ttm_intern_add(&p->strings, what.text, &text)) return TTM_ENOMEM;
  uint32_t known = ttm_map_get(&b->incident_ids, text, TTM_NONE);
  if (known != TTM_NONE && !(logged && p->incidents.at[known].logged)) {
    p->incidents.at[known].copies++;
    p->incidents.at[known].logged |= logged;
    return TTM_OK;
  }
  if (p->incidents.n >= MOST_INCIDENTS) return TTM_OK;
  what.text = ttm_profile_string(p, text);
  if (keep(p, &what.memory) || keep(p, &what.core_range)) return TTM_ENOMEM;
  ttm_incident incident = {.what = what,
                           .line = line,
                           .copies = 1,
                           .op = s->pending != TTM_NONE ? s->pending : TTM_NONE,
                           .state = s->last_state,
                           .rank = s->rank,
                           .logged = logged};
  if (s->pending != TTM_NONE) p->ops.at[s->pending].flags |= TTM_OP_FAILED;
  if (ttm_vec_push(&p->incidents, incident)) return TTM_ENOMEM;
  return ttm_map_set(&b->incident_ids, text, (uint32_t)(p->incidents.n - 1));
}

int ttm_incident_add(ttm_builder *b, ttm_stream *s, ttm_str line_text, uint32_t line) {
  ttm_incident_text what;
  int rc = ttm_state_commit(b, s);
  if (rc || !ttm_incident_parse(line_text, &what)) return rc;
  return add(b, s, what, line, is_logged(line_text));
}

int ttm_incident_add_sentence(ttm_builder *b, ttm_stream *s, ttm_str sentence, uint32_t line) {
  ttm_incident_text what;
  int rc = ttm_state_commit(b, s);
  if (rc) return rc;
  if (ttm_incident_parse(sentence, &what)) return TTM_OK; /* a known wording has its own event */
  return ttm_incident_parse_info(sentence, &what) ? add(b, s, what, line, false) : TTM_OK;
}
