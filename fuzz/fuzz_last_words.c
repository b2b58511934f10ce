/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the end of a log: never a crash, and every view given back lies inside it. */
#include "fuzz.h"

#include "parse/last_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ttm_str text = {(const char *)data, size};
  ttm_last_words words;
  ttm_last_words_read(&words, text);
  check_inside(text, words.sentence);
  check_inside(text, words.file);
  if (words.memory) check_inside(text, words.incident.text);
  if (words.memory && words.incident.kind == TTM_INCIDENT_FATAL) abort();
  return 0;
}
