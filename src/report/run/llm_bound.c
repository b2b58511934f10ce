/* SPDX-License-Identifier: Apache-2.0 */
/* The LLM report within a budget of tokens: sections go, the least important first, and say that they went. */
#include "report/run/text.h"

/* Numbers and paths take more tokens than prose; three bytes to one is on the safe side for the tokenizers in use. */
enum { BYTES_PER_TOKEN = 3 };

/* In the order in which they go. Header, Configuration and What was not understood stay to the end. */
static const char *const GOING[] = {
    "Operation Distribution",
    "Nothing found, or unknown",
    "Layers",
    "Runs",
    "Model Weights",
    "Top 10 Padding Overhead",
    "Fragmentation",
    "Waste at the peak",
    "Freed late",
    "L1 of the fullest core",
    "Live tensors at the peak",
    "Top 10 Memory Consumers (L1)",
    "Top 10 Memory Consumers (DRAM)",
    "Growth",
    "Peak Memory",
    "Fixes",
    "Failures",
};

/* Where the section starts (at its "## "); TTM_NOT_FOUND when there is none. */
static size_t find_section(ttm_str text, const char *name) {
  static const ttm_str mark = {"\n## ", 4};
  for (size_t at = 0, next; (next = ttm_str_find(ttm_str_from(text, at), mark)) != TTM_NOT_FOUND;) {
    at += next + mark.n;
    if (ttm_str_starts(ttm_str_from(text, at), ttm_str_of(name))) return at - 3;
  }
  return TTM_NOT_FOUND;
}

static void cut_section(ttm_buf *text, size_t at) {
  static const ttm_str note = {"*left out: --max-tokens*\n", 25};
  ttm_str rest = ttm_str_from(ttm_buf_str(text), at);
  size_t head = ttm_str_find_char(rest, '\n'), end = ttm_str_find(rest, TTM_LIT("\n\n## "));
  if (head == TTM_NOT_FOUND) return;
  end = end == TTM_NOT_FOUND ? rest.n : end + 1;
  if (end - head - 1 <= note.n) return;
  memmove(text->at + at + head + 1 + note.n, text->at + at + end, rest.n - end);
  memcpy(text->at + at + head + 1, note.p, note.n);
  text->n -= end - head - 1 - note.n;
}

void ttm_llm_bound(ttm_buf *text, uint64_t tokens) {
  uint64_t limit = tokens > UINT64_MAX / BYTES_PER_TOKEN ? UINT64_MAX : tokens * BYTES_PER_TOKEN;
  for (size_t i = 0; i < sizeof GOING / sizeof *GOING && text->n > limit; i++) {
    size_t at = find_section(ttm_buf_str(text), GOING[i]);
    if (at != TTM_NOT_FOUND) cut_section(text, at);
  }
  if (text->n <= limit) return;
  size_t n = (size_t)limit; /* not even the headings fit: whole lines, as many as do */
  while (n && text->at[n - 1] != '\n') n--;
  text->n = n;
}
