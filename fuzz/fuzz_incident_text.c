/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as one line: never a crash, and every view given back lies inside the line (or is a literal of ours). */
#include "fuzz.h"

#include "parse/incident_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str line = {(const char *)data, size};
  ttm_incident_text incident;
  if (ttm_incident_parse(line, &incident)) {
    if (!incident.text.n) abort();
    check_inside(line, incident.text);
    check_inside(line, incident.core_range);
    /* The sentence by itself is the same incident: this is what makes the copies in one log fall together. */
    ttm_incident_text again;
    if (incident.kind < TTM_INCIDENT_L1_BUFFERS) {
      if (!ttm_incident_parse(incident.text, &again) || !ttm_str_eq(again.text, incident.text)) abort();
      if (again.kind != incident.kind || again.size != incident.size || again.buffers_end != incident.buffers_end)
        abort();
    }
  }
  ttm_incident_is_header(line);
  if (ttm_incident_parse_info(line, &incident)) {
    if (!incident.text.n) abort();
    check_inside(line, incident.text);
  }
  return 0;
}
