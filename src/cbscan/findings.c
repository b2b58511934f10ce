/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong, or worth knowing, between the buffers of a program and its kernels. */
#include "cbscan/unit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/checked.h"
#include "base/format.h"
#include "base/intern.h"

/* ---- Buffers -------------------------------------------------------------------------------------------------------- */

static const char *const origin_names[CBS_ORIGINS] = {"CircularBufferConfig", "create_cb", "CBDescriptor",
                                                      "DataflowBuffer"};
const char *cbs_origin_name(cbs_origin origin) { return origin_names[origin]; }

static bool sizes_known(const cbs_value *v) {
  return v->type == CBS_VALUE_INT && cbs_value_is_known(v) && cbs_value_min(v) >= 0;
}

bool cbs_buffer_pages(const cbs_buffer *cb, uint64_t *least, uint64_t *most) {
  *least = UINT64_MAX;
  *most = 0;
  if (!cb->slot_count || !sizes_known(&cb->total.value)) return false;
  const cbs_value *page = &cb->slots[0].page.value;
  for (size_t s = 0; s < cb->slot_count; s++) {
    const cbs_value *other = &cb->slots[s].page.value;
    if (!sizes_known(other) || cbs_value_min(other) <= 0) return false;
    /* Aliases may look at the same memory in pages of another size. */
    if (cbs_value_min(other) != cbs_value_min(page) || cbs_value_max(other) != cbs_value_max(page)) return false;
  }
  /* Both usually follow one choice (of a format, say): pair by pair when they have as many alternatives. */
  const cbs_value *total = &cb->total.value;
  for (int i = 0; i < total->n; i++) {
    for (int j = 0; j < page->n; j++) {
      if (total->n == page->n && i != j) continue;
      uint64_t pages = (uint64_t)total->v[i].i / (uint64_t)page->v[j].i;
      if (pages < *least) *least = pages;
      if (pages > *most) *most = pages;
    }
  }
  return true;
}

bool cbs_buffer_bytes(const cbs_buffer *cb, uint64_t *least, uint64_t *most) {
  const cbs_value *total = &cb->total.value;
  *least = *most = 0;
  if (cb->owner == CBS_GLOBAL || cb->address_only) return true;
  if (total->type != CBS_VALUE_INT) return false;
  if (sizes_known(total) && cb->owner == CBS_OWN) *least = (uint64_t)cbs_value_min(total);
  int64_t bound = cbs_value_bound(total);
  if (bound == INT64_MAX || bound < 0) return false;
  *most = (uint64_t)bound;
  return true;
}

bool cbs_buffer_is_adaptive(const cbs_buffer *cb) {
  return cb->total.value.varies || !cbs_value_is_one(&cb->total.value);
}

/* ---- Findings ---------------------------------------------------------------------------------------------------------- */

/* Adds a finding; one kernel serves many programs, so the same is said once. */
static int report(cbs_scan *scan, ttm_cb_level level, const char *rule, uint32_t file, uint32_t line,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));

static int report(cbs_scan *scan, ttm_cb_level level, const char *rule, uint32_t file, uint32_t line,
                  const char *format, ...) {
  ttm_buf text = {0};
  va_list args;
  va_start(args, format);
  ttm_buf_vprintf(&text, format, args);
  va_end(args);
  cbs_finding new = {level, rule, file, line, ttm_buf_str(&text)};
  bool old = false;
  for (size_t i = 0; i < scan->findings.n && !old; i++) {
    const cbs_finding *f = &scan->findings.at[i];
    old = f->line == line && f->file == file && f->rule == rule && ttm_str_eq(f->text, new.text);
  }
  new.text.p = text.failed || old ? NULL : ttm_arena_copy(&scan->arena, new.text);
  ttm_buf_free(&text);
  if (old) return TTM_OK;
  return new.text.p ? ttm_vec_push(&scan->findings, new) : TTM_ENOMEM;
}

/* Adds one whose words are said elsewhere too. */
static int report_words(cbs_scan *scan, ttm_cb_level level, const char *rule, uint32_t file, uint32_t line,
                        ttm_buf *words) {
  int status = words->failed ? TTM_ENOMEM : report(scan, level, rule, file, line, "%.*s", TTM_ARGS(ttm_buf_str(words)));
  ttm_buf_free(words);
  return status;
}

/* The line a reader looks for: of the call when a helper creates the buffer. */
static uint32_t line_of(const cbs_buffer *cb) { return cb->call_line ? cb->call_line : cb->line; }

/* "c_3", or the name of a dataflow buffer. */
static const char *buffer_name(char out[80], const cbs_value *index) {
  if (cbs_value_is_one(index) && index->type == CBS_VALUE_INT)
    snprintf(out, 80, "c_%" PRId64, index->v[0].i);
  else if (cbs_value_is_one(index) && index->type == CBS_VALUE_STRING)
    snprintf(out, 80, "'%.*s'", TTM_ARGS(ttm_str_first(index->v[0].t, 70)));
  else
    snprintf(out, 80, "the buffer");
  return out;
}

/* ---- One buffer ----------------------------------------------------------------------------------------------------- */

static bool never_divides(const cbs_value *total, const cbs_value *page) {
  bool known = total->type == CBS_VALUE_INT && page->type == CBS_VALUE_INT && cbs_value_is_known(total) &&
               cbs_value_is_known(page) && !total->many && !page->many;
  if (!known) return false;
  for (int i = 0; i < total->n; i++) {
    for (int j = 0; j < page->n; j++) {
      if (page->v[j].i <= 0 || total->v[i].i % page->v[j].i == 0) return false;
    }
  }
  return true;
}

static int check_slot(cbs_scan *scan, const cbs_buffer *cb, const cbs_slot *slot) {
  char name[80];
  const cbs_value *index = &slot->index.value;
  if (never_divides(&cb->total.value, &slot->page.value) &&
      report(scan, TTM_CB_ERROR, "does-not-divide", cb->file, line_of(cb),
             "%s: total size %s B is not a multiple of its page size %s B; TT-Metal refuses that",
             buffer_name(name, index), TTM_COUNT_TEXT((uint64_t)cb->total.value.v[0].i),
             TTM_COUNT_TEXT((uint64_t)slot->page.value.v[0].i)))
    return TTM_ENOMEM;
  bool known = index->type == CBS_VALUE_INT && cbs_value_is_known(index);
  if (!known || cbs_value_min(index) < ttm_arches[scan->arch].circular_buffers) return TTM_OK;
  ttm_buf words = {0};
  ttm_words_no_index(&words, (uint64_t)cbs_value_min(index), scan->arch);
  return report_words(scan, TTM_CB_ERROR, "index-too-large", cb->file, line_of(cb), &words);
}

static int check_buffer(cbs_scan *scan, const cbs_buffer *cb) {
  for (size_t s = 0; cb->origin != CBS_DATAFLOW && s < cb->slot_count; s++) {
    if (check_slot(scan, cb, &cb->slots[s])) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- One program ---------------------------------------------------------------------------------------------------- */

/* What the buffers of one program that are sure to be there take on the same cores, and the first of them. */
typedef struct cores_total {
  uint64_t sum;
  const cbs_buffer *first;
} cores_total;

typedef TTM_VEC(cores_total) cores_totals;

/* Cores are the same when they are written alike. */
static int add_up(const cbs_scan *scan, const cbs_function *function, ttm_intern *cores, cores_totals *totals) {
  for (uint32_t i = 0; i < function->buffer_count; i++) {
    const cbs_buffer *cb = &scan->buffers.at[function->first_buffer + i];
    uint64_t least, most;
    uint32_t id;
    if (cb->conditional || !cb->created) continue;
    if (ttm_intern_add(cores, cb->cores, &id)) return TTM_ENOMEM;
    while (totals->n <= id)
      if (ttm_vec_push(totals, (cores_total){0, NULL})) return TTM_ENOMEM;
    cores_total *total = &totals->at[id];
    if (!total->first) total->first = cb;
    if (cbs_buffer_bytes(cb, &least, &most) || least) total->sum = ttm_add_sat(total->sum, least);
  }
  return TTM_OK;
}

static int check_total(cbs_scan *scan, const cbs_function *function) {
  ttm_intern cores = {0};
  cores_totals totals = {0};
  int status = add_up(scan, function, &cores, &totals);
  for (size_t i = 0; i < totals.n && !status; i++) {
    const cbs_buffer *first = totals.at[i].first;
    if (!first || totals.at[i].sum <= scan->l1_usable) continue;
    status = report(scan, TTM_CB_ERROR, "over-l1", function->file, line_of(first),
                    "circular buffers of %.*s on %.*s take %s B; the capacity of a %s core is %s B",
                    TTM_ARGS(function->name), TTM_ARGS(ttm_str_first(first->cores, 60)),
                    TTM_COUNT_TEXT(totals.at[i].sum), ttm_arches[scan->arch].name, TTM_COUNT_TEXT(scan->l1_usable));
  }
  ttm_intern_free(&cores);
  ttm_vec_free(&totals);
  return status;
}

/* True when every index of the program's buffers is known: only then can one be missing. */
static bool all_indices_known(const cbs_scan *scan, const cbs_function *function) {
  for (uint32_t i = 0; i < function->buffer_count; i++) {
    const cbs_buffer *cb = &scan->buffers.at[function->first_buffer + i];
    if (cb->address_only) continue;
    if (!cb->slot_count) return false;
    for (size_t s = 0; s < cb->slot_count; s++) {
      if (!cbs_value_is_known(&cb->slots[s].index.value)) return false;
    }
  }
  return function->buffer_count > 0;
}

static bool has_index(const cbs_scan *scan, const cbs_function *function, int64_t index) {
  for (uint32_t i = 0; i < function->buffer_count; i++) {
    const cbs_buffer *cb = &scan->buffers.at[function->first_buffer + i];
    for (size_t s = 0; s < cb->slot_count; s++) {
      const cbs_value *v = &cb->slots[s].index.value;
      for (int k = 0; v->type == CBS_VALUE_INT && k < v->n; k++) {
        if (v->v[k].i == index) return true;
      }
    }
  }
  return false;
}

/* ---- Host against kernel -------------------------------------------------------------------------------------------------------- */

/* Takes the last part off a path; false when there is none. "." and ".." are no parts. */
static bool take_last_part(ttm_str *path, ttm_str *part) {
  while (path->n) {
    size_t start = path->n;
    while (start && path->p[start - 1] != '/') start--;
    *part = ttm_str_from(*path, start);
    path->n = start ? start - 1 : 0;
    if (part->n && !ttm_str_eq(*part, TTM_LIT(".")) && !ttm_str_eq(*part, TTM_LIT(".."))) return true;
  }
  return false;
}

/* Parts two paths share at their ends; 0 when that is too little to call them the same file: a reference is a path from the root of
 * some checkout and the scan may have begun deeper, so either all of one of them, or three parts. */
static size_t shared_parts(ttm_str a, ttm_str b) {
  size_t shared = 0;
  for (;;) {
    ttm_str x, y;
    bool more_a = take_last_part(&a, &x), more_b = take_last_part(&b, &y);
    if (!more_a || !more_b) return shared;
    if (!ttm_str_eq(x, y)) return shared >= 3 ? shared : 0;
    shared++;
  }
}

/* The file of the kernel a reference names: one scanned file whose path ends with it; UINT32_MAX when none or several do. */
static uint32_t kernel_file(const cbs_scan *scan, const cbs_kernel_ref *ref) {
  uint32_t found = UINT32_MAX;
  size_t best = 0;
  if (ref->path.type != CBS_VALUE_STRING || !cbs_value_is_one(&ref->path)) return UINT32_MAX;
  for (size_t f = 0; f < scan->files.n; f++) {
    if (scan->files.at[f].role != CBS_FILE_KERNEL) continue;
    size_t shared = shared_parts(ttm_str_of(scan->files.at[f].path), ref->path.v[0].t);
    if (shared > best)
      best = shared, found = (uint32_t)f;
    else if (shared && shared == best)
      found = UINT32_MAX; /* two are as good */
  }
  return found;
}

static cbs_value named_meaning(const cbs_kernel_ref *ref, ttm_str name) {
  for (size_t i = 0; i < ref->named_count; i++) {
    if (ttm_str_eq(ref->named[i].name, name)) return ref->named[i].value;
  }
  return cbs_value_unknown(name);
}

/* What an id in a kernel means in a program that gives these arguments: a buffer index, or a dataflow buffer by name. */
static cbs_value meaning_of(const cbs_kernel_ref *ref, const cbs_value *id) {
  if (!cbs_value_is_one(id)) return *id;
  switch (id->type) {
    case CBS_VALUE_ARG:
      if (id->v[0].i < 0 || (uint64_t)id->v[0].i >= ref->arg_count) return cbs_value_unknown((ttm_str){0});
      return ref->args[id->v[0].i].value;
    case CBS_VALUE_NAMED_ARG:
    case CBS_VALUE_ACCESSOR:
      return named_meaning(ref, id->v[0].t);
    default:
      return *id;
  }
}

/* The only buffer of a function with that index or name; NULL when there is none, several, or it may be one of the unresolved. */
static const cbs_buffer *find_buffer(const cbs_scan *scan, const cbs_function *function, const cbs_value *meaning) {
  const cbs_buffer *found = NULL;
  if (!cbs_value_is_one(meaning)) return NULL;
  for (uint32_t i = 0; i < function->buffer_count; i++) {
    const cbs_buffer *cb = &scan->buffers.at[function->first_buffer + i];
    if (!cb->created || cb->address_only) continue;
    for (size_t s = 0; s < cb->slot_count; s++) {
      const cbs_value *index = &cb->slots[s].index.value;
      if (!cbs_value_is_known(index)) return NULL; /* it might be this one */
      if (index->type != meaning->type) continue;
      for (int v = 0; v < index->n; v++) {
        bool same = index->type == CBS_VALUE_STRING ? ttm_str_eq(index->v[v].t, meaning->v[0].t)
                                                    : index->v[v].i == meaning->v[0].i;
        if (!same || found == cb) continue;
        if (found || index->n > 1) return NULL;
        found = cb;
      }
    }
  }
  return found;
}

/* ---- Kernels against buffers ---------------------------------------------------------------------------------------- */

static int check_count(cbs_scan *scan, const cbs_buffer *cb, const cbs_use *use, const cbs_value *meaning,
                       cbs_value count) {
  uint64_t least, most;
  char name[80];
  if (!cbs_buffer_pages(cb, &least, &most) || count.type != CBS_VALUE_INT || !cbs_value_is_known(&count)) return TTM_OK;
  if (cbs_value_min(&count) <= 0) return TTM_OK;
  uint64_t wanted = (uint64_t)cbs_value_min(&count);
  bool waits = use->act == CBS_WAIT || use->act == CBS_RESERVE;
  const char *path = scan->files.at[cb->file].path;
  if (waits && wanted > most) {
    bool sure = !use->conditional && !cb->conditional;
    return report(scan, sure ? TTM_CB_ERROR : TTM_CB_WARNING, "deadlock", use->file, use->line,
                  "%s of %s pages on %s, which holds %s (%s:%u): it never returns", cbs_act_name(use->act),
                  TTM_COUNT_TEXT(wanted), buffer_name(name, meaning), TTM_COUNT_TEXT(most), path, line_of(cb));
  }
  bool one = least == most && cbs_value_is_one(&count);
  if (one && use->act == CBS_PUSH && wanted > 1 && least % wanted != 0 && wanted < least) {
    return report(scan, TTM_CB_WARNING, "uneven-batch", use->file, use->line,
                  "%s pages are pushed at a time into %s, which holds %s (%s:%u): one batch crosses its end",
                  TTM_COUNT_TEXT(wanted), buffer_name(name, meaning), TTM_COUNT_TEXT(least), path, line_of(cb));
  }
  return TTM_OK;
}

typedef struct program {
  cbs_scan *scan;
  const cbs_function *function;
  size_t first_link; /* of this program in scan->links */
  bool complete;     /* every kernel was found and every id in it is known */
  bool indices;      /* every buffer's index is known */
} program;

static cbs_link *link_of(program *p, const cbs_value *meaning) {
  cbs_scan *scan = p->scan;
  for (size_t i = p->first_link; i < scan->links.n; i++) {
    const cbs_value *old = &scan->links.at[i].buffer;
    if (old->type != meaning->type) continue;
    if (meaning->type == CBS_VALUE_STRING ? ttm_str_eq(old->v[0].t, meaning->v[0].t) : old->v[0].i == meaning->v[0].i)
      return &scan->links.at[i];
  }
  cbs_link new = {.function = (uint32_t)(p->function - scan->functions.at),
                  .buffer = *meaning,
                  .pushed_file = UINT32_MAX,
                  .popped_file = UINT32_MAX};
  return ttm_vec_push(&scan->links, new) ? NULL : &scan->links.at[scan->links.n - 1];
}

static int check_use(program *p, const cbs_kernel_ref *ref, const cbs_use *use) {
  cbs_scan *scan = p->scan;
  cbs_value meaning = meaning_of(ref, &use->id.value), count = meaning_of(ref, &use->count.value);
  bool known = cbs_value_is_one(&meaning) && (meaning.type == CBS_VALUE_INT || meaning.type == CBS_VALUE_STRING);
  if (!known) {
    p->complete = false;
    return TTM_OK;
  }
  cbs_link *t = link_of(p, &meaning);
  if (!t) return TTM_ENOMEM;
  if (use->act == CBS_PUSH) {
    t->pushed_file = use->file;
    t->pushed_line = use->line;
    t->pushed_in_loop |= use->in_loop && !use->conditional;
  }
  if (use->act == CBS_POP || use->act == CBS_WAIT) t->popped_file = use->file, t->popped_line = use->line;
  const cbs_buffer *cb = find_buffer(scan, p->function, &meaning);
  if (cb) return check_count(scan, cb, use, &meaning, count);
  /* An index no core has marks a buffer that this program goes without. */
  bool possible =
      meaning.type == CBS_VALUE_INT && meaning.v[0].i >= 0 && meaning.v[0].i < ttm_arches[scan->arch].circular_buffers;
  if (p->indices && possible && !has_index(scan, p->function, meaning.v[0].i)) {
    return report(scan, use->conditional ? TTM_CB_NOTE : TTM_CB_WARNING, "never-created", use->file, use->line,
                  "%s on c_%" PRId64 ", which %.*s (%s:%u) does not create", cbs_act_name(use->act), meaning.v[0].i,
                  TTM_ARGS(p->function->name), scan->files.at[p->function->file].path, p->function->line);
  }
  return TTM_OK;
}

static int check_kernel(program *p, const cbs_kernel_ref *ref) {
  uint32_t file = kernel_file(p->scan, ref);
  if (file == UINT32_MAX) {
    p->complete = false;
    return TTM_OK;
  }
  const cbs_file *kernel = &p->scan->files.at[file];
  if (kernel->broken) p->complete = false; /* something in it may have been missed */
  for (uint32_t u = 0; u < kernel->use_count; u++) {
    if (check_use(p, ref, &p->scan->uses.at[kernel->first_use + u])) return TTM_ENOMEM;
  }
  for (uint32_t h = 0; h < kernel->handed_count; h++) {
    cbs_value meaning = meaning_of(ref, &p->scan->handed.at[kernel->first_handed + h].id);
    if (!cbs_value_is_one(&meaning) || (meaning.type != CBS_VALUE_INT && meaning.type != CBS_VALUE_STRING)) continue;
    cbs_link *t = link_of(p, &meaning);
    if (!t) return TTM_ENOMEM;
    t->handed = true;
  }
  return TTM_OK;
}

static int check_link(program *p, const cbs_link *t) {
  char name[80];
  bool pushed = t->pushed_file != UINT32_MAX, popped = t->popped_file != UINT32_MAX;
  const cbs_buffer *cb = find_buffer(p->scan, p->function, &t->buffer);
  if (!cb || cb->owner != CBS_OWN) return TTM_OK; /* what lives in a tensor is filled or read outside */
  buffer_name(name, &t->buffer);
  if (pushed && !popped && !t->handed && p->complete) {
    return report(p->scan, t->pushed_in_loop ? TTM_CB_WARNING : TTM_CB_NOTE, "never-consumed", t->pushed_file,
                  t->pushed_line, "%s is pushed here but no kernel of %.*s waits for it: %s", name,
                  TTM_ARGS(p->function->name),
                  t->pushed_in_loop ? "the producer blocks when it is full" : "scratch space, or no consumer");
  }
  if (popped && !pushed && !t->handed && p->complete) {
    return report(p->scan, TTM_CB_WARNING, "never-produced", t->popped_file, t->popped_line,
                  "%s is waited for here but no kernel of %.*s pushes to it", name, TTM_ARGS(p->function->name));
  }
  uint64_t least, most;
  bool single =
      pushed && popped && t->pushed_file != t->popped_file && cbs_buffer_pages(cb, &least, &most) && most == 1;
  if (!single) return TTM_OK;
  ttm_buf words = {0};
  ttm_words_single(&words, ttm_str_of(name), "page");
  return report_words(p->scan, TTM_CB_NOTE, "single-buffered", cb->file, line_of(cb), &words);
}

static int check_program(cbs_scan *scan, const cbs_function *function) {
  program p = {.scan = scan, .function = function, .complete = function->ref_count > 0, .first_link = scan->links.n};
  int status = TTM_OK;
  p.indices = all_indices_known(scan, function);
  if (!function->buffer_count) return TTM_OK;
  for (uint32_t r = 0; !status && r < function->ref_count; r++)
    status = check_kernel(&p, &scan->refs.at[function->first_ref + r]);
  for (size_t t = p.first_link; !status && t < scan->links.n; t++) status = check_link(&p, &scan->links.at[t]);
  return status;
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

static int by_weight(const void *a, const void *b) {
  const cbs_finding *x = a, *y = b;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  if (x->rule != y->rule) return strcmp(x->rule, y->rule);
  return ttm_str_order(x->text, y->text);
}

int cbs_judge(cbs_scan *scan) {
  for (size_t i = 0; i < scan->buffers.n; i++) {
    if (check_buffer(scan, &scan->buffers.at[i])) return TTM_ENOMEM;
  }
  for (size_t f = 0; f < scan->functions.n; f++) {
    if (check_total(scan, &scan->functions.at[f]) || check_program(scan, &scan->functions.at[f])) return TTM_ENOMEM;
  }
  if (scan->findings.n) qsort(scan->findings.at, scan->findings.n, sizeof *scan->findings.at, by_weight);
  return TTM_OK;
}
