/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/incident_text.h"

#include "parse/log_line.h"
#include "parse/log_mark.h"

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_word(char c) { return ttm_is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || c == '_'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* ---- colour and blanks around a piece of text ---- */

static ttm_str skip_front(ttm_str v) {
  for (;;) {
    size_t n = v.n && is_blank(v.p[0]) ? 1 : ttm_escape_length(v);
    if (!n) return v;
    v = ttm_str_from(v, n);
  }
}

static ttm_str skip_back(ttm_str v) {
  for (;;) {
    if (v.n && is_blank(v.p[v.n - 1])) {
      v.n--;
      continue;
    }
    if (!v.n || v.p[v.n - 1] != 'm') return v;
    size_t n = v.n - 1;
    while (n && (ttm_is_digit(v.p[n - 1]) || v.p[n - 1] == ';')) n--;
    if (n < 2 || v.p[n - 1] != '[' || v.p[n - 2] != '\033') return v;
    v.n = n - 2;
  }
}

/* tt-logger ends a line with " (assert.hpp:104)": the throw site is never there, so it only gets in the way. */
static ttm_str without_source(ttm_str v) {
  v = skip_back(v);
  size_t n = v.n;
  if (n < 6 || v.p[n - 1] != ')') return v;
  size_t digits = --n;
  while (n && ttm_is_digit(v.p[n - 1])) n--;
  if (n == digits || !n || v.p[n - 1] != ':') return v;
  size_t name_end = --n;
  bool dot = false;
  while (n && (is_word(v.p[n - 1]) || v.p[n - 1] == '.' || v.p[n - 1] == '-')) dot |= v.p[--n] == '.';
  if (n == name_end || !dot || !n || v.p[n - 1] != '(') return v;
  v.n = n - 1;
  return skip_back(v);
}

/* ---- is there anything at all? ---- */

static uint32_t mark_bit(char c) { return UINT32_C(1) << (c & 31); }

/* Which marks a line holds, by their first bytes. */
static uint32_t marks_in(ttm_str line) {
  uint32_t found = 0;
  ttm_mark mark;
  for (size_t at = 0; (mark = ttm_mark_find(line, &at, false)) != TTM_MARK_NONE; at++)
    if (mark == TTM_MARK_INCIDENT) found |= mark_bit(line.p[at]);
  return found;
}

bool ttm_incident_is_possible(ttm_str line) { return marks_in(line) != 0; }

/* Whether the line may hold TT_FATAL, TT_THROW, LOG_ASSERT. */
static bool names_macro(uint32_t marks) { return marks & (mark_bit('F') | mark_bit('H') | mark_bit('_')); }

/* ---- reading a sentence ---- */

/* "123 B": the number only counts with what follows it, so that a cut line gives no half number. */
static bool take_number(ttm_str *v, ttm_str before, ttm_str after, uint64_t *out) {
  ttm_str at = *v;
  uint64_t value;
  if (!ttm_str_take(&at, before) || !ttm_str_take_u64(&at, &value) || !ttm_str_take(&at, after)) return false;
  *out = value;
  *v = at;
  return true;
}

static ttm_str take_word(ttm_str *v) {
  size_t n = 0;
  while (n < v->n && is_word(v->p[n])) n++;
  ttm_str word = ttm_str_first(*v, n);
  *v = ttm_str_from(*v, n);
  return word;
}

/* "[0-0 - 7-7]", "[(x=0,y=0) - (x=7,y=7)]", "{[0-0 - 10-8], [0-9 - 3-9]}": every byte a range may hold, blanks
 * trimmed. */
static bool take_core_range(ttm_str *v, ttm_str *out) {
  size_t n = 0;
  while (n < v->n && (ttm_is_digit(v->p[n]) || (v->p[n] && strchr("[](){}xy=,- ", v->p[n])))) n++;
  while (n && v->p[n - 1] == ' ') n--;
  if (!n || (v->p[0] != '[' && v->p[0] != '{' && v->p[0] != '(')) return false;
  *out = ttm_str_first(*v, n);
  *v = ttm_str_from(*v, n);
  return true;
}

static void take_tail(ttm_str *v, ttm_incident_text *out) {
  uint64_t allocated, free_bytes, largest;
  ttm_str at = *v;
  if (!take_number(&at, TTM_LIT(" (allocated: "), TTM_LIT(" B, free: "), &allocated)) return;
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B, largest free block: "), &free_bytes)) return;
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B)"), &largest)) return;
  out->allocated_per_bank = allocated;
  out->free_per_bank = free_bytes;
  out->largest_free_block = largest;
  *v = at;
}

/* ". After subtracting 1 dependency range(s) and 2 additional occupied range(s), 3 B remained placeable across 4 window(s), largest 5 B." */
static void take_windows(ttm_str *v, ttm_incident_text *out) {
  uint64_t ignored, placeable, window;
  ttm_str at = *v;
  if (!take_number(&at, TTM_LIT(". After subtracting "), TTM_LIT(" dependency range(s) and "), &ignored)) return;
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" additional occupied range(s), "), &ignored)) return;
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B remained placeable across "), &placeable)) return;
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" window(s), largest "), &ignored)) return;
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B"), &window)) return;
  out->placeable = placeable;
  out->window = window;
  *v = at;
}

/* The readers below start behind their anchor and leave *v where the sentence's numbers end. A sentence may stop early: what stands
 * there counts. */
static bool read_no_space(ttm_str *v, bool dependencies, ttm_incident_text *out) {
  ttm_str at = *v, needs = TTM_LIT(", where each bank needs to store "), bank_size = TTM_LIT(", but bank size is ");
  if (dependencies) needs = TTM_LIT(" ("), bank_size = TTM_LIT(", bank size is ");
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B "), &out->size)) return false;
  out->memory = take_word(&at);
  if (!out->memory.n || !(ttm_str_take(&at, TTM_LIT(" buffer")) || dependencies)) return false;
  *v = at;
  if (!take_number(&at, TTM_LIT(" across "), TTM_LIT(" banks"), &out->banks)) return true;
  *v = at;
  if (!take_number(&at, needs, dependencies ? TTM_LIT(" B per bank)") : TTM_LIT(" B"), &out->needed_per_bank))
    return true;
  *v = at;
  if (!ttm_str_take(&at, bank_size)) return true;
  ttm_str_take(&at, TTM_LIT("only "));
  if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B"), &out->bank_size)) return true;
  take_tail(&at, out);
  *v = at;
  if (dependencies) take_windows(v, out);
  return true;
}

/* Of per-core buffers: "cannot place 4096 bytes aligned to 32 on cores {[0-0 - 7-7]} in [1024, 65536)". */
static bool read_arena(ttm_str *v, ttm_incident_text *out) {
  uint64_t low, high;
  out->kind = TTM_INCIDENT_OOM;
  out->memory = TTM_LIT("L1");
  if (!take_number(v, TTM_LIT("cannot place "), TTM_LIT(" bytes"), &out->needed_per_bank)) return false;
  if (!take_number(v, TTM_LIT(" aligned to "), TTM_LIT(" on cores "), &low)) return true;
  if (take_core_range(v, &out->core_range) && take_number(v, TTM_LIT(" in ["), TTM_LIT(", "), &low) &&
      take_number(v, TTM_LIT(""), TTM_LIT(")"), &high) && low <= high)
    out->bank_size = high - low;
  return true;
}

static bool read_oom(ttm_str *v, ttm_incident_text *out) {
  uint64_t ignored;
  out->kind = TTM_INCIDENT_OOM;
  if (ttm_str_take(v, TTM_LIT("Not enough space to allocate "))) return read_no_space(v, false, out);
  if (ttm_str_take(v, TTM_LIT("Not enough space after considering dependencies to allocate ")))
    return read_no_space(v, true, out);
  if (!take_number(v, TTM_LIT("Cannot allocate at an address below "), TTM_LIT(""), &ignored)) return false;
  take_number(v, TTM_LIT(". Allocation at "), TTM_LIT(""), &ignored);
  return true;
}

static bool read_static_buffers(ttm_str *v, ttm_incident_text *out) {
  ttm_str at = *v;
  if (ttm_str_take(&at, TTM_LIT("dataflow"))) {
    out->dataflow = true;
  } else if (!ttm_str_take(&at, TTM_LIT("circular"))) {
    return false;
  }
  out->memory = TTM_LIT("L1");
  if (take_number(&at, TTM_LIT(" buffers in program "), TTM_LIT(" clash with L1 buffers on core range "),
                  &out->program)) {
    out->kind = TTM_INCIDENT_L1_CLASH;
    if (!take_core_range(&at, &out->core_range)) return false;
    if (!take_number(&at, TTM_LIT(". L1 buffer allocated at "), TTM_LIT(" and static "), &out->l1_buffer_at))
      return false;
    take_word(&at);
    if (!take_number(&at, TTM_LIT(" buffer region ends at "), TTM_LIT(""), &out->buffers_end)) return false;
  } else {
    out->kind = TTM_INCIDENT_L1_OVERFLOW;
    if (!ttm_str_take(&at, TTM_LIT(" buffers on core range ")) || !take_core_range(&at, &out->core_range)) return false;
    if (!take_number(&at, TTM_LIT(" grow to "), TTM_LIT(" B which is beyond max L1 size of "), &out->buffers_end))
      return false;
    if (!take_number(&at, TTM_LIT(""), TTM_LIT(" B"), &out->l1_size)) return false;
  }
  *v = at;
  return true;
}

static bool read_service_core(ttm_str *v, ttm_incident_text *out) {
  ttm_str at = *v;
  out->kind = TTM_INCIDENT_L1_CLASH;
  out->memory = TTM_LIT("L1");
  out->service = true;
  if (!take_core_range(&at, &out->core_range)) return false;
  if (!take_number(&at, TTM_LIT(" in program "), TTM_LIT(" clash with ServiceCoreManager-allocated L1 "),
                   &out->program))
    return false;
  if (!take_number(&at, TTM_LIT("(lowest service allocation at "), TTM_LIT(", "), &out->l1_buffer_at)) return false;
  take_word(&at); /* "CB", or "DFB" one day */
  if (!take_number(&at, TTM_LIT(" region ends at "), TTM_LIT(")"), &out->buffers_end)) return false;
  *v = at;
  return true;
}

/* ---- Sentences about something else ---- */

/* The rest of the line belongs to the sentence. */
static bool take_all(ttm_str *v) {
  *v = ttm_str_from(*v, v->n);
  return true;
}

static bool read_program_size(ttm_str *v, ttm_incident_text *out) {
  out->about = TTM_ABOUT_KERNELS;
  if (!take_number(v, TTM_LIT(""), TTM_LIT(") too large for kernel config buffer ("), &out->size)) return false;
  if (!take_number(v, TTM_LIT(""), TTM_LIT(")"), &out->limit)) return false;
  ttm_str at = *v;
  uint64_t over;
  if (!ttm_str_take(&at, TTM_LIT(" on ")) || !take_word(&at).n) return true;
  *v = at;
  return take_number(&at, TTM_LIT(", "), TTM_LIT(" B over:"), &over) ? take_all(v) : true;
}

static bool read_trace_region(ttm_str *v, ttm_incident_text *out) {
  uint64_t ignored;
  out->about = TTM_ABOUT_TRACE_REGION;
  out->memory = TTM_LIT("TRACE");
  if (!take_number(v, TTM_LIT(""), TTM_LIT("B on "), &out->size)) return false;
  if (!ttm_str_take(v, TTM_LIT("MeshDevice ")) && !ttm_str_take(v, TTM_LIT("device "))) return false;
  return take_number(v, TTM_LIT(""), TTM_LIT(", but only "), &ignored) &&
         take_number(v, TTM_LIT(""), TTM_LIT("B is allocated for trace region"), &out->limit);
}

/* `size`: the address up to which the operations of a trace allocate or free; `limit`: that of the trace buffer, which is lower. */
static bool read_trace_overlap(ttm_str *v, ttm_incident_text *out) {
  uint64_t mark;
  out->memory = TTM_LIT("DRAM");
  out->about = TTM_ABOUT_TRACE_OVERLAP;
  if (!take_number(v, TTM_LIT(""), TTM_LIT(" overlaps with "), &out->limit)) return false;
  if (ttm_str_starts(*v, TTM_LIT("DRAM activity captured by another live trace"))) out->about = TTM_ABOUT_TRACE_OTHER;
  for (size_t at; (at = ttm_str_find(*v, TTM_LIT("igh water mark: "))) != TTM_NOT_FOUND;) {
    *v = ttm_str_from(*v, at + 16);
    if (ttm_str_take_u64(v, &mark) && (out->size == TTM_UNKNOWN || mark > out->size)) out->size = mark;
  }
  return take_all(v);
}

static bool read_host_memory(ttm_str *v, ttm_incident_text *out) {
  out->about = TTM_ABOUT_HOST_MEMORY;
  return take_all(v);
}

/* "MemoryError", "MemoryError: Unable to allocate 2.00 GiB for an array": the last line of a traceback, and no word of a program's text. */
static bool read_memory_error(ttm_str *v, ttm_incident_text *out) {
  ttm_str rest = skip_back(*v);
  return (!rest.n || rest.p[0] == ':') && read_host_memory(v, out);
}

static bool read_hugepages(ttm_str *v, ttm_incident_text *out) {
  out->about = TTM_ABOUT_HUGEPAGES;
  return take_all(v);
}

static bool read_exhausted(ttm_str *v, ttm_incident_text *out) {
  out->about = TTM_ABOUT_EXHAUSTED;
  return take_all(v);
}

/* ---- where a sentence ends ---- */

/* A message inside a repr or JSON stops at a written-out line break or at the quote that opened before it. */
static ttm_str cut_glue(ttm_str prefix, ttm_str text) {
  size_t end = ttm_str_find(text, TTM_LIT("\\n"));
  if (end != TTM_NOT_FOUND) text.n = end;
  bool single = false, twofold = false;
  for (size_t i = 0; i < prefix.n; i++) {
    single ^= prefix.p[i] == '\'' && !(i && is_word(prefix.p[i - 1]) && i + 1 < prefix.n && is_word(prefix.p[i + 1]));
    twofold ^= prefix.p[i] == '"';
  }
  for (size_t i = 0; i < text.n; i++) {
    bool closes =
        (twofold && text.p[i] == '"') || (single && text.p[i] == '\'' && (i + 1 == text.n || !is_word(text.p[i + 1])));
    if (!closes) continue;
    text.n = i;
    if (i && text.p[i - 1] == '\\') text.n--;
    break;
  }
  return skip_back(text);
}

/* After the numbers come at most a full stop and hints in whole sentences ("The L1_SMALL region is 0 B because"). */
static ttm_str with_hints(ttm_str prefix, ttm_str sentence, ttm_str rest) {
  rest = without_source(cut_glue(prefix, rest));
  if (!rest.n || rest.p[0] != '.') return sentence;
  if (rest.n < 3 || rest.p[1] != ' ' || !is_upper(rest.p[2])) rest.n = 1;
  for (size_t i = 0; i < rest.n; i++) {
    if (rest.p[i] == '"' || rest.p[i] == '\033') rest.n = i;
  }
  sentence.n += skip_back(rest).n;
  return sentence;
}

/* Code that talks about an incident is none: a traceback quotes it, a test matches on it, a comment explains it. */
static bool looks_like_code(ttm_str prefix) {
  static const ttm_str marks[] = {
      TTM_LIT("raise "),  TTM_LIT("match="),    TTM_LIT("assert "),    TTM_LIT(".raises("),    TTM_LIT("print("),
      TTM_LIT("EXPECT_"), TTM_LIT("throw "),    TTM_LIT("TT_FATAL("),  TTM_LIT("TT_THROW("),   TTM_LIT(".error("),
      TTM_LIT(".info("),  TTM_LIT(".warning("), TTM_LIT(".critical("), TTM_LIT("fmt::format(")};
  ttm_str start = skip_front(prefix);
  if (ttm_str_starts(start, TTM_LIT("#")) || ttm_str_starts(start, TTM_LIT("//"))) return true;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    if (ttm_str_contains(prefix, marks[i])) return true;
  }
  return false;
}

void ttm_incident_clear(ttm_incident_text *out) {
  *out = (ttm_incident_text){
      .kind = TTM_INCIDENT_FATAL, .text = TTM_LIT(""), .memory = TTM_LIT(""), .core_range = TTM_LIT("")};
  out->size = out->banks = out->needed_per_bank = out->bank_size = TTM_UNKNOWN;
  out->allocated_per_bank = out->free_per_bank = out->largest_free_block = TTM_UNKNOWN;
  out->program = out->l1_buffer_at = out->buffers_end = out->l1_size = out->limit = TTM_UNKNOWN;
  out->placeable = out->window = TTM_UNKNOWN;
}

/* What wrappers put before every line of an exception: pytest "E   ", CI time stamps, "ERROR 10-23 04:15:50
 * [engine.py:187] ". */
static ttm_str without_wrapper(ttm_str v) {
  static const ttm_str levels[] = {TTM_LIT("ERROR "), TTM_LIT("CRITICAL "), TTM_LIT("WARNING "), TTM_LIT("INFO ")};
  v = skip_front(v);
  ttm_str at = v;
  size_t stamp = ttm_str_find_char(ttm_str_first(v, 40), ' ');
  if (stamp != TTM_NOT_FOUND && stamp > 19 && ttm_is_digit(v.p[0]) && v.p[10] == 'T' && v.p[stamp - 1] == 'Z') {
    v = at = skip_front(ttm_str_from(v, stamp));
  }
  if (ttm_str_take(&at, TTM_LIT("E  "))) return skip_front(at);
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (!ttm_str_take(&at, levels[i]) || !at.n || !ttm_is_digit(at.p[0])) continue;
    size_t site = ttm_str_find_char(ttm_str_first(at, 20), '['), end = ttm_str_find_char(ttm_str_first(at, 120), ']');
    if (site != TTM_NOT_FOUND && end != TTM_NOT_FOUND && site < end) return skip_front(ttm_str_from(at, end + 1));
  }
  return v;
}

/* ---- the sentences that carry numbers ---- */

typedef struct sentence {
  ttm_str anchor;
  char mark; /* the first byte of a mark that it holds; 0: none */
  bool (*read)(ttm_str *v, ttm_incident_text *out);
} sentence;

static const sentence SENTENCES[] = {
    {TTM_LIT("Out of Memory: "), 'y', read_oom},
    {TTM_LIT("Statically allocated "), 'S', read_static_buffers},
    {TTM_LIT("Circular buffers on service-core range "), 'C', read_service_core},
    {TTM_LIT("Persistent L1 arena is out of memory: "), 'y', read_arena},
    {TTM_LIT("Program size ("), 't', read_program_size},
    {TTM_LIT("Creating trace buffers of size "), 'C', read_trace_region},
    {TTM_LIT("Trace buffer at address "), 0, read_trace_overlap},
    {TTM_LIT("std::bad_alloc"), 'd', read_host_memory},
    {TTM_LIT("MemoryError"), 'y', read_memory_error},
    {TTM_LIT("DefaultCPUAllocator: "), 'U', read_host_memory},
    {TTM_LIT("Out of memory: Killed process "), 'y', read_host_memory},
    {TTM_LIT("out of memory: Killed process "), 'y', read_host_memory},
    {TTM_LIT("Mapping a hugepage failed"), 'u', read_hugepages},
    {TTM_LIT("no huge page mount found"), 'u', read_hugepages},
    {TTM_LIT("Hugepages are not allocated"), 'u', read_hugepages},
    {TTM_LIT("Hugepage auxiliary region exhausted"), 'u', read_hugepages},
    {TTM_LIT("Failed to pin pages for hugepage"), 'u', read_hugepages},
    {TTM_LIT("NOC address of a hugepage does not match"), 'u', read_hugepages},
    {TTM_LIT("IOMMU is required for sysmem without hugepages"), 'u', read_hugepages},
    {TTM_LIT("open_hugepage_file failed"), 'u', read_hugepages},
    {TTM_LIT("RESOURCE_EXHAUSTED: "), 'E', read_exhausted},
};

static bool find_sentence(ttm_str line, uint32_t marks, ttm_incident_text *out) {
  for (size_t s = 0; s < sizeof SENTENCES / sizeof *SENTENCES; s++) {
    ttm_str anchor = SENTENCES[s].anchor;
    if (SENTENCES[s].mark && !(marks & mark_bit(SENTENCES[s].mark))) continue;
    size_t from = 0;
    for (;;) {
      size_t found = ttm_str_find(ttm_str_from(line, from), anchor);
      if (found == TTM_NOT_FOUND) break;
      size_t start = from + found;
      from = start + anchor.n;
      ttm_str at = ttm_str_from(line, from);
      ttm_incident_clear(out);
      if (!SENTENCES[s].read(&at, out)) continue;
      ttm_str prefix = ttm_str_first(line, start);
      if (looks_like_code(prefix)) return false;
      if (SENTENCES[s].read == read_memory_error && ttm_str_find_char(without_wrapper(prefix), ' ') != TTM_NOT_FOUND)
        return false;
      ttm_str text = {line.p + start, (size_t)(at.p - (line.p + start))};
      out->text = at.n ? with_hints(prefix, text, at) : without_source(cut_glue(prefix, text));
      return true;
    }
  }
  return false;
}

/* ---- every other fatal line ---- */

static bool has_word(ttm_str text, ttm_str word) {
  for (size_t from = 0, at; (at = ttm_str_find(ttm_str_from(text, from), word)) != TTM_NOT_FOUND;) {
    size_t start = from + at;
    from = start + word.n;
    if ((!start || !is_word(text.p[start - 1])) && (from >= text.n || !is_word(text.p[from]))) return true;
  }
  return false;
}

static bool has_any(ttm_str text, const ttm_str *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (ttm_str_contains(text, words[i])) return true;
  return false;
}
#define HAS_ANY(text, ...) \
  has_any(text, (const ttm_str[]){__VA_ARGS__}, sizeof((const ttm_str[]){__VA_ARGS__}) / sizeof(ttm_str))

/* "of 65536 B", "(65536 bytes)": the first number of bytes. */
static uint64_t first_bytes(ttm_str v) {
  uint64_t n;
  while (v.n) {
    if (!ttm_str_take_u64(&v, &n))
      v = ttm_str_from(v, 1);
    else if (ttm_str_starts(v, TTM_LIT(" B")) || ttm_str_starts(v, TTM_LIT(" bytes")))
      return n;
  }
  return TTM_UNKNOWN;
}

static uint64_t last_number(ttm_str v) {
  uint64_t n, last = TTM_UNKNOWN;
  while (v.n) {
    if (ttm_str_take_u64(&v, &n))
      last = n;
    else
      v = ttm_str_from(v, 1);
  }
  return last;
}

/* "size to 131072. This is larger than the ... size of 65536 B", "CB size 99 B exceeds the budget of 98 B". */
static void read_excess(ttm_incident_text *out) {
  static const ttm_str verbs[] = {TTM_LIT("larger than"), TTM_LIT("exceed"), TTM_LIT("fit in")};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs && out->limit == TTM_UNKNOWN; i++) {
    size_t at = ttm_str_find(out->text, verbs[i]);
    if (at == TTM_NOT_FOUND) continue;
    uint64_t size = last_number(ttm_str_first(out->text, at)), limit = first_bytes(ttm_str_from(out->text, at));
    if (size != TTM_UNKNOWN && limit != TTM_UNKNOWN && size > limit) out->size = size, out->limit = limit;
  }
}

static bool warns_of_trace(ttm_str line) {
  return ttm_str_contains(line, TTM_LIT("potentially unsafe due to the existence of an active trace"));
}

/* What a program's buffers or L1 have no room for is an error about memory, however it is worded. */
static void find_subject(ttm_incident_text *out) {
  ttm_str t = out->text;
  if (warns_of_trace(t)) out->about = TTM_ABOUT_TRACE_UNSAFE;
  bool dataflow = HAS_ANY(t, TTM_LIT("ataflow buffer"), TTM_LIT("DFB"));
  bool circular = ttm_str_contains(t, TTM_LIT("ircular buffer")) || has_word(t, TTM_LIT("CB")) ||
                  has_word(t, TTM_LIT("CBs")) || has_word(t, TTM_LIT("cb"));
  bool room = has_word(t, TTM_LIT("L1")) &&
              HAS_ANY(t, TTM_LIT("space"), TTM_LIT("capacity"), TTM_LIT("budget"), TTM_LIT("fit"), TTM_LIT("exceed"),
                      TTM_LIT("nough"), TTM_LIT("larger than"), TTM_LIT("room"), TTM_LIT("too small"),
                      TTM_LIT("too large"), TTM_LIT("L1 bank"), TTM_LIT("L1 small region"));
  if (!dataflow && !circular && !room) return;
  out->kind = TTM_INCIDENT_L1_BUFFERS;
  out->memory = TTM_LIT("L1");
  out->dataflow = dataflow;
  read_excess(out);
}

static bool is_fatal(ttm_str line, size_t start, ttm_incident_text *out) {
  ttm_str prefix = ttm_str_first(line, start);
  ttm_str text = skip_front(without_source(cut_glue(prefix, ttm_str_from(line, start))));
  if (!text.n || looks_like_code(prefix)) return false;
  ttm_incident_clear(out);
  out->text = text;
  find_subject(out);
  return true;
}

/* Where the message starts behind a level column at line[start, end): "FATAL | msg", "critical | Always | msg",
 * "[critical] [assert.hpp:103] [Always] msg". 0 when the word is no level column. */
static size_t message_after_level(ttm_str line, size_t start, size_t end, bool name_column) {
  ttm_str before = skip_back(ttm_str_first(line, start)), after = skip_front(ttm_str_from(line, end));
  if (before.n && before.p[before.n - 1] == '[' && ttm_str_take(&after, TTM_LIT("] ["))) {
    for (int column = 0; column < 2; column++) {
      while (after.n && (is_word(after.p[0]) || after.p[0] == '.' || after.p[0] == ':')) after = ttm_str_from(after, 1);
      if (!ttm_str_take(&after, column ? TTM_LIT("] ") : TTM_LIT("] ["))) return 0;
    }
    return (size_t)(after.p - line.p);
  }
  if (before.n && before.p[before.n - 1] != '|') return 0;
  if (!ttm_str_take(&after, TTM_LIT("|"))) return 0;
  if (name_column) {
    after = skip_front(after);
    take_word(&after);
    after = skip_front(after);
    if (!ttm_str_take(&after, TTM_LIT("|"))) return 0;
  }
  return (size_t)(after.p - line.p);
}

static bool find_level(ttm_str line, ttm_str level, bool name_column, ttm_incident_text *out) {
  size_t from = 0;
  for (;;) {
    size_t found = ttm_str_find(ttm_str_from(line, from), level);
    if (found == TTM_NOT_FOUND) return false;
    size_t start = from + found, message = message_after_level(line, start, start + level.n, name_column);
    if (message) return is_fatal(line, message, out);
    from = start + level.n;
  }
}

/* "TT_FATAL: msg", and the exception on one line: "TT_FATAL @ f.cpp:1: cond\ninfo:\nmsg\nbacktrace:" with written-out
 * breaks. */
static bool find_macro(ttm_str line, bool named, ttm_incident_text *out) {
  static const ttm_str macros[] = {TTM_LIT("TT_FATAL: "), TTM_LIT("TT_THROW: "), TTM_LIT("TT_ASSERT: "),
                                   TTM_LIT("FATL| ")};
  for (size_t i = 0; named && i < sizeof macros / sizeof *macros; i++) {
    size_t at = ttm_str_find(line, macros[i]);
    if (at != TTM_NOT_FOUND) return is_fatal(line, at + macros[i].n, out);
  }
  size_t info = ttm_str_find(line, TTM_LIT("\\ninfo:\\n"));
  if (info != TTM_NOT_FOUND && ttm_str_contains(ttm_str_first(line, info), TTM_LIT("TT_"))) {
    return is_fatal(line, info + sizeof "\\ninfo:\\n" - 1, out);
  }
  static const ttm_str sites[] = {TTM_LIT("LOG_ASSERT @ "), TTM_LIT("LOG_FATAL @ ")};
  for (size_t i = 0; named && i < sizeof sites / sizeof *sites; i++) {
    size_t at = ttm_str_find(line, sites[i]);
    if (at != TTM_NOT_FOUND) return is_fatal(line, at, out);
  }
  return false;
}

bool ttm_incident_parse(ttm_str line, ttm_incident_text *out) {
  uint32_t marks = marks_in(line);
  if (!marks) return false;
  if (find_sentence(line, marks, out) || find_macro(line, names_macro(marks), out)) return true;
  return (marks & mark_bit('F') && find_level(line, TTM_LIT("FATAL"), false, out)) ||
         (marks & mark_bit('i') && find_level(line, TTM_LIT("critical"), true, out));
}

bool ttm_incident_parse_info(ttm_str line, ttm_incident_text *out) {
  uint32_t marks = marks_in(line);
  if (marks && find_sentence(line, marks, out)) return true;
  ttm_str text = without_wrapper(line);
  return text.n && is_fatal(text, 0, out);
}

bool ttm_incident_is_header(ttm_str line) {
  if (!names_macro(marks_in(line))) return false;
  static const ttm_str marks[] = {TTM_LIT("TT_FATAL @ "), TTM_LIT("TT_THROW @ "), TTM_LIT("TT_ASSERT @ ")};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t at = ttm_str_find(line, marks[i]);
    if (at == TTM_NOT_FOUND) continue;
    ttm_str site = ttm_str_from(line, at + marks[i].n);
    if (ttm_str_contains(site, TTM_LIT("\\ninfo:"))) return false;
    for (size_t k = 1; k + 2 < site.n; k++) {
      if (site.p[k] != ':' || !ttm_is_digit(site.p[k + 1])) continue;
      size_t end = k + 1;
      while (end < site.n && ttm_is_digit(site.p[end])) end++;
      if (end < site.n && site.p[end] == ':') return true;
      k = end - 1;
    }
  }
  return false;
}

/* ---- What stands on more than one line ---- */

bool ttm_incident_has_list(ttm_str line) { return ttm_str_ends(skip_back(line), TTM_LIT(" B over:")); }

/* "  runtime args     128 B": true for a line of the list; its words go behind the others. */
static bool add_item(ttm_buf *out, ttm_str line, bool first) {
  ttm_str_take(&line, TTM_LIT("E   ")); /* pytest */
  ttm_str item = skip_back(without_source(line));
  if (!ttm_str_starts(line, TTM_LIT("  "))) return false;
  item = skip_front(item);
  if (!item.n || ttm_str_ends(item, TTM_LIT(" 0 B"))) return item.n > 0;
  ttm_buf_puts(out, first ? " " : ", ");
  for (size_t i = 0; i < item.n; i++) {
    if (item.p[i] != ' ' || item.p[i - 1] != ' ') ttm_buf_char(out, item.p[i]);
  }
  return true;
}

void ttm_incident_join(ttm_buf *out, ttm_str line, ttm_str *rest) {
  enum { MOST_ITEMS = 32 };
  ttm_buf_put(out, skip_back(line));
  size_t before = out->n;
  for (int i = 0; i < MOST_ITEMS && rest->n; i++) {
    ttm_str after = *rest;
    if (!add_item(out, ttm_str_take_to(&after, '\n'), out->n == before)) return;
    *rest = after;
  }
}

const char *ttm_incident_about_name(ttm_incident_about about) {
  static const char *const names[] = {NULL,           "kernels",     "trace_region", "trace_overlap", "trace_overlap",
                                      "trace_unsafe", "host_memory", "hugepages",    "exhausted"};
  return names[about];
}

const char *ttm_incident_kind_name(ttm_incident_kind kind) {
  static const char *const names[] = {"oom", "l1_clash", "l1_overflow", "l1_buffers", "fatal"};
  return names[kind];
}
