/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/checked.h"
#include "base/intern.h"

static int report(cbs_scan *scan, cbs_level level, const char *rule, uint32_t file, uint32_t line, const char *format,
                  ...) __attribute__((format(printf, 6, 7)));

static int report(cbs_scan *scan, cbs_level level, const char *rule, uint32_t file, uint32_t line, const char *format,
                  ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (n < 0) return TTM_OK;
  size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
  for (size_t i = 0; i < scan->findings.n; i++) { /* one kernel serves many programs: say it once */
    const cbs_finding *old = &scan->findings.at[i];
    if (old->line == line && old->file == file && old->rule == rule && ttm_str_eq(old->text, (ttm_str){text, length}))
      return TTM_OK;
  }
  char *copy = ttm_arena_copy(&scan->arena, (ttm_str){text, length});
  if (!copy) return TTM_ENOMEM;
  return ttm_vec_push(&scan->findings, (cbs_finding){level, rule, file, line, {copy, length}});
}

/* "c_3", or the name of a dataflow buffer. */
static const char *buffer_name(char out[80], const cbs_value *index) {
  if (cbs_value_is_one(index) && index->type == CBS_VALUE_INT)
    snprintf(out, 80, "c_%" PRId64, index->v[0].i);
  else if (cbs_value_is_one(index) && index->type == CBS_VALUE_STRING)
    snprintf(out, 80, "'%.*s'", index->v[0].t.n < 70 ? (int)index->v[0].t.n : 70, index->v[0].t.p);
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

static int check_buffer(cbs_scan *scan, const cbs_buffer *cb) {
  char name[80];
  uint32_t limit = ttm_arches[scan->arch].circular_buffers;
  uint32_t line = cb->call_line ? cb->call_line : cb->line;
  for (size_t s = 0; s < cb->slot_count; s++) {
    const cbs_slot *slot = &cb->slots[s];
    const cbs_value *index = &slot->index.value;
    if (cb->origin != CBS_DATAFLOW && never_divides(&cb->total.value, &slot->page.value)) {
      if (report(scan, CBS_ERROR, "does-not-divide", cb->file, line,
                 "%s: %" PRId64 " bytes in all is no multiple of its pages of %" PRId64
                 " bytes; the runtime refuses that",
                 buffer_name(name, index), cb->total.value.v[0].i, slot->page.value.v[0].i))
        return TTM_ENOMEM;
    }
    if (cb->origin != CBS_DATAFLOW && index->type == CBS_VALUE_INT && cbs_value_is_known(index) &&
        cbs_value_min(index) >= limit) {
      if (report(scan, CBS_ERROR, "index-too-large", cb->file, line,
                 "index %" PRId64 ": a %s core has circular buffers 0 to %u", cbs_value_min(index),
                 ttm_arches[scan->arch].name, limit - 1))
        return TTM_ENOMEM;
    }
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
  for (uint32_t i = 0; i < function->cb_count; i++) {
    const cbs_buffer *cb = &scan->cbs.at[function->first_cb + i];
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
    status = report(scan, CBS_ERROR, "over-l1", function->file, first->call_line ? first->call_line : first->line,
                    "circular buffers of %.*s on %.*s take %" PRIu64 " bytes; a %s core has %" PRIu64 " to give",
                    (int)function->name.n, function->name.p, first->cores.n < 60 ? (int)first->cores.n : 60,
                    first->cores.p, totals.at[i].sum, ttm_arches[scan->arch].name, scan->l1_usable);
  }
  ttm_intern_free(&cores);
  ttm_vec_free(&totals);
  return status;
}

/* True when every index of the program's buffers is known: only then can one be missing. */
static bool all_indices_known(const cbs_scan *scan, const cbs_function *function) {
  for (uint32_t i = 0; i < function->cb_count; i++) {
    const cbs_buffer *cb = &scan->cbs.at[function->first_cb + i];
    if (cb->address_only) continue;
    if (!cb->slot_count) return false;
    for (size_t s = 0; s < cb->slot_count; s++) {
      if (!cbs_value_is_known(&cb->slots[s].index.value)) return false;
    }
  }
  return function->cb_count > 0;
}

static bool has_index(const cbs_scan *scan, const cbs_function *function, int64_t index) {
  for (uint32_t i = 0; i < function->cb_count; i++) {
    const cbs_buffer *cb = &scan->cbs.at[function->first_cb + i];
    for (size_t s = 0; s < cb->slot_count; s++) {
      const cbs_value *v = &cb->slots[s].index.value;
      for (int k = 0; v->type == CBS_VALUE_INT && k < v->n; k++) {
        if (v->v[k].i == index) return true;
      }
    }
  }
  return false;
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
  uint32_t line = cb->call_line ? cb->call_line : cb->line;
  if (waits && wanted > most) {
    bool sure = !use->conditional && !cb->conditional;
    return report(scan, sure ? CBS_ERROR : CBS_WARNING, "deadlock", use->file, use->line,
                  "%s of %" PRIu64 " pages on %s, which holds %" PRIu64 " (%s:%u): it never returns",
                  cbs_act_name(use->act), wanted, buffer_name(name, meaning), most, scan->files.at[cb->file].path,
                  line);
  }
  bool one = least == most && cbs_value_is_one(&count);
  if (one && use->act == CBS_PUSH && wanted > 1 && least % wanted != 0 && wanted < least) {
    return report(scan, CBS_WARNING, "uneven-batch", use->file, use->line,
                  "pushes of %" PRIu64 " pages into %s, which holds %" PRIu64
                  " (%s:%u): batches must divide the buffer, or one straddles its end",
                  wanted, buffer_name(name, meaning), least, scan->files.at[cb->file].path, line);
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
  cbs_value meaning = cbs_meaning(ref, &use->id.value), count = cbs_meaning(ref, &use->count.value);
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
  const cbs_buffer *cb = cbs_find_buffer(scan, p->function, &meaning);
  if (cb) return check_count(scan, cb, use, &meaning, count);
  /* An index no core has marks a buffer that this program goes without. */
  bool possible =
      meaning.type == CBS_VALUE_INT && meaning.v[0].i >= 0 && meaning.v[0].i < ttm_arches[scan->arch].circular_buffers;
  if (p->indices && possible && !has_index(scan, p->function, meaning.v[0].i)) {
    return report(scan, use->conditional ? CBS_NOTE : CBS_WARNING, "never-created", use->file, use->line,
                  "%s on c_%" PRId64 ", which %.*s (%s:%u) does not create", cbs_act_name(use->act), meaning.v[0].i,
                  (int)p->function->name.n, p->function->name.p, scan->files.at[p->function->file].path,
                  p->function->line);
  }
  return TTM_OK;
}

static int check_kernel(program *p, const cbs_kernel_ref *ref) {
  uint32_t file = cbs_kernel_file(p->scan, ref);
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
    cbs_value meaning = cbs_meaning(ref, &p->scan->handed.at[kernel->first_handed + h].id);
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
  const cbs_buffer *cb = cbs_find_buffer(p->scan, p->function, &t->buffer);
  if (!cb || cb->owner != CBS_OWN) return TTM_OK; /* what lives in a tensor is filled or read outside */
  buffer_name(name, &t->buffer);
  if (pushed && !popped && !t->handed && p->complete) {
    return report(p->scan, t->pushed_in_loop ? CBS_WARNING : CBS_NOTE, "never-consumed", t->pushed_file, t->pushed_line,
                  "%s is filled here but no kernel of %.*s waits for it: %s", name, (int)p->function->name.n,
                  p->function->name.p,
                  t->pushed_in_loop ? "the producer stops when it is full" : "scratch space, or a consumer is missing");
  }
  if (popped && !pushed && !t->handed && p->complete) {
    return report(p->scan, CBS_WARNING, "never-produced", t->popped_file, t->popped_line,
                  "%s is waited for here but no kernel of %.*s fills it", name, (int)p->function->name.n,
                  p->function->name.p);
  }
  uint64_t least, most;
  if (pushed && popped && t->pushed_file != t->popped_file && cbs_buffer_pages(cb, &least, &most) && most == 1) {
    return report(p->scan, CBS_NOTE, "single-buffered", cb->file, cb->call_line ? cb->call_line : cb->line,
                  "%s holds one page: producer and consumer take turns instead of overlapping; two pages let both work",
                  name);
  }
  return TTM_OK;
}

static int check_program(cbs_scan *scan, const cbs_function *function) {
  program p = {.scan = scan, .function = function, .complete = function->ref_count > 0, .first_link = scan->links.n};
  int status = TTM_OK;
  p.indices = all_indices_known(scan, function);
  if (!function->cb_count) return TTM_OK;
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
  int rule = strcmp(x->rule, y->rule);
  if (rule) return rule;
  size_t n = x->text.n < y->text.n ? x->text.n : y->text.n;
  int order = n ? memcmp(x->text.p, y->text.p, n) : 0;
  return order ? order : x->text.n < y->text.n ? -1 : x->text.n > y->text.n;
}

int cbs_judge(cbs_scan *scan) {
  for (size_t i = 0; i < scan->cbs.n; i++) {
    if (check_buffer(scan, &scan->cbs.at[i])) return TTM_ENOMEM;
  }
  for (size_t f = 0; f < scan->functions.n; f++) {
    if (check_total(scan, &scan->functions.at[f]) || check_program(scan, &scan->functions.at[f])) return TTM_ENOMEM;
  }
  if (scan->findings.n) qsort(scan->findings.at, scan->findings.n, sizeof *scan->findings.at, by_weight);
  return TTM_OK;
}
