/* SPDX-License-Identifier: Apache-2.0 */
/* Fixes tried before anybody is told of them. Each is said as a change (analyze/change.h), the one that `ttmem verify` takes, and played on the ledger
 * of the input. */
#include "analyze/fix.h"

#include "analyze/one_device.h"
#include "analyze/parts.h"
#include "analyze/trial.h"

enum {
  MOST_FAILURES = 3,  /* whose fixes are tried */
  MOST_PATTERNS = 24, /* in one change; a model has fewer groups of weights */
  LEAST_SHARE = 100,  /* of the peak: less is no fix */
};

typedef struct trier {
  ttm_findings *f;
  const ttm_profile *p;
  ttm_ledger ledger;
  ttm_trial before;
  bool ready;        /* both are made */
  ttm_buf text;      /* of the change */
  size_t patterns;   /* in it */
  uint32_t incident; /* it is to end; TTM_NONE */
  uint64_t floor;    /* captures: to which other devices come, whatever this one saves */
} trier;

/* ---- A fix as a change ---------------------------------------------------------------------------------------------------- */

static ttm_buf *next_pattern(trier *t) {
  if (t->patterns++) ttm_buf_char(&t->text, ',');
  return &t->text;
}

static void put_number(trier *t, uint32_t op) { ttm_buf_printf(next_pattern(t), "#%u", ttm_findings_index(t->f, op)); }

/* A folded name: its stars stand for what differs. */
static void put_folded(ttm_buf *out, ttm_str name) {
  ttm_str rest = name;
  while (rest.n) {
    ttm_str part = ttm_str_take_to(&rest, '*');
    ttm_change_quote(out, part);
    if (rest.n || (name.n && name.p[name.n - 1] == '*')) ttm_buf_char(out, '*');
  }
}

/* The operation and its place; `every`: in all layers, whose numbers differ. */
static void put_place(trier *t, uint32_t op, bool every) {
  const ttm_op_text *text = ttm_op_text_of(t->p, op);
  ttm_str at = ttm_profile_string(t->p, text->location);
  bool known = at.n && at.p[0] != '@';
  if (!known && !every) return put_number(t, op);
  ttm_buf *out = next_pattern(t);
  ttm_change_quote(out, ttm_profile_string(t->p, text->name));
  if (!known) return;
  ttm_buf_char(out, '@');
  for (size_t i = 0; i < at.n; i++) {
    bool digit = every && ttm_is_digit(at.p[i]);
    if (!digit)
      ttm_change_quote(out, (ttm_str){at.p + i, 1});
    else if (!i || !ttm_is_digit(at.p[i - 1]))
      ttm_buf_char(out, '*');
  }
}

static void put_row(trier *t, const ttm_alive_row *row, bool *said) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  if (row->group != TTM_NONE && said[row->group]) return;
  if (row->group != TTM_NONE) said[row->group] = true;
  if (!row->name && row->op < t->p->ops.n) return put_place(t, row->op, t->p->kind != TTM_LOG_CAPTURE);
  if (!row->name) return;
  if (row->group != TTM_NONE)
    put_folded(next_pattern(t), set->groups.at[row->group].name);
  else
    ttm_change_quote(next_pattern(t), ttm_profile_string(t->p, row->name));
}

typedef bool row_test(const trier *t, const ttm_alive_row *row, uint32_t i, const ttm_remedy *r);

static bool is_for_bfp8(const trier *t, const ttm_alive_row *row, uint32_t i, const ttm_remedy *r) {
  (void)i, (void)r;
  return ttm_alive_row_bfp8_saves(t->f, row) > 0;
}
static bool is_upcast(const trier *t, const ttm_alive_row *row, uint32_t i, const ttm_remedy *r) {
  (void)i, (void)r;
  return ttm_waste_of(t->f, row, TTM_WASTE_UPCAST) > 0;
}
static bool is_kept(const trier *t, const ttm_alive_row *row, uint32_t i, const ttm_remedy *r) {
  (void)t, (void)i, (void)r;
  return row->class == TTM_ALIVE_KEPT;
}
static bool is_cache(const trier *t, const ttm_alive_row *row, uint32_t i, const ttm_remedy *r) {
  (void)t, (void)i, (void)r;
  return row->class == TTM_ALIVE_KV_CACHE;
}
static bool is_of_waste(const trier *t, const ttm_alive_row *row, uint32_t i, const ttm_remedy *r) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  for (size_t w = 0; w < t->f->wastes.n; w++) {
    const ttm_waste *waste = &t->f->wastes.at[w];
    if (waste->row == r->row && waste->kind >= TTM_WASTE_PADDING)
      return row->type == set->rows.at[r->row].type && ttm_waste_has(t->f, waste, i);
  }
  return false;
}

/* The rows that the fix is about: those that pass the test, largest first, as many as it counts. */
static void put_rows(trier *t, const ttm_remedy *r, row_test *test) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  bool said[TTM_ALIVE_ROWS] = {false};
  uint64_t count = 0;
  for (uint32_t i = 0; i < set->rows.n && count < (r->caches ? r->caches : r->count); i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (!test(t, row, i, r)) continue;
    count += row->tensors;
    put_row(t, row, said);
  }
}

/* The caches, and what was refused where they, and nothing else, are made. */
static void put_caches(trier *t, const ttm_remedy *r, uint32_t op) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  bool caches = false, others = false;
  put_rows(t, r, is_cache);
  for (uint32_t i = 0; i < set->rows.n && op < t->p->ops.n; i++) {
    uint32_t made = set->rows.at[i].op;
    if (made >= t->p->ops.n || ttm_op_text_of(t->p, made)->location != ttm_op_text_of(t->p, op)->location) continue;
    *(is_cache(t, &set->rows.at[i], i, r) ? &caches : &others) = true;
  }
  if (caches && !others) put_number(t, op);
}

static bool is_argument(const trier *t, uint32_t name) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  for (size_t i = 0; i < set->arguments.n; i++)
    if (set->arguments.at[i].name == name) return true;
  return false;
}

/* One form of each weight that is there in several: the one that was made first is converted on the host. What the host put there itself has no
 * place of its own in the replay. */
static void put_first_forms(trier *t) {
  const ttm_alive_set *set = &t->f->alive_set[TTM_DRAM];
  for (uint32_t i = 0; i < set->rows.n; i++) {
    const ttm_alive_row *row = &set->rows.at[i];
    if (!ttm_waste_of(t->f, row, TTM_WASTE_TWICE)) continue;
    if (row->tensor == TTM_NONE || is_argument(t, row->name)) t->patterns = MOST_PATTERNS;
    put_number(t, row->op);
  }
}

static void put_late(trier *t) {
  const ttm_lifetimes *l = &t->f->lifetimes;
  for (size_t i = 0; i < l->n; i++)
    put_place(t, t->p->tensors.at[l->late[i].tensor].birth, l->late[i].times > 1 && t->p->kind != TTM_LOG_CAPTURE);
}

static void put_blocks(trier *t, const ttm_remedy *r) {
  for (uint32_t i = 0; i < r->block_count; i++) {
    uint32_t birth = t->p->tensors.at[r->blocks[i]].birth;
    r->every ? put_place(t, birth, true) : put_number(t, birth);
  }
}

static void put_shape(trier *t, const ttm_remedy *r) {
  char shape[160] = "";
  for (size_t w = 0; w < t->f->wastes.n; w++) {
    const ttm_waste *waste = &t->f->wastes.at[w];
    if (waste->row == r->row && waste->kind >= TTM_WASTE_PADDING) ttm_dims_print(&waste->better, shape, sizeof shape);
  }
  ttm_buf_printf(&t->text, "reshape=%s:", shape);
  put_rows(t, r, is_of_waste);
}

/* About the refused tensor itself. */
static void put_refused(trier *t, const ttm_remedy *r, uint32_t op) {
  if (op >= t->p->ops.n) return;
  if (r->kind == TTM_FIX_DTYPE) ttm_buf_printf(&t->text, "dtype=%s:", r->dtype);
  if (r->kind == TTM_FIX_DIVIDE) ttm_buf_printf(&t->text, "divide=%llu:", (unsigned long long)r->count);
  if (r->kind == TTM_FIX_DRAM) ttm_buf_puts(&t->text, "move=dram:");
  r->every ? put_place(t, op, true) : put_number(t, op);
}

static void put_part(trier *t, const char *change, void (*put)(trier *)) {
  ttm_buf_puts(&t->text, change);
  put(t);
}

/* The change that a fix is, in t->text; false when it is none that can be tried. `second`: another one for the same fix. */
static bool put_change(trier *t, const ttm_remedy *r, bool second) {
  uint32_t op = t->incident == TTM_NONE ? TTM_NONE : t->p->incidents.at[t->incident].op;
  ttm_buf_clear(&t->text);
  t->patterns = 0;
  switch (r->kind) {
    case TTM_FIX_DTYPE:
    case TTM_FIX_DIVIDE:
    case TTM_FIX_DRAM:
      put_refused(t, r, op);
      break;
    case TTM_FIX_BOARD:
      ttm_buf_printf(next_pattern(t), "board=%s", r->board);
      break;
    case TTM_FIX_FREE:
      ttm_buf_puts(&t->text, "free=now:"), put_blocks(t, r);
      break;
    case TTM_FIX_FREE_EARLIER:
      ttm_buf_puts(&t->text, "free=last-use:");
      r->block_count ? put_blocks(t, r) : put_late(t);
      break;
    case TTM_FIX_RELEASE_KEPT:
      ttm_buf_puts(&t->text, "free=run-end:"), put_rows(t, r, is_kept);
      break;
    case TTM_FIX_STOP_LEAK:
      ttm_buf_puts(&t->text, t->p->kind == TTM_LOG_CAPTURE ? "free=last-use:" : "free=run-end:");
      put_place(t, r->op, false);
      break;
    case TTM_FIX_WEIGHTS:
      ttm_buf_printf(&t->text, "dtype=%s:", r->dtype);
      r->every ? ttm_buf_puts(next_pattern(t), "weights") : put_rows(t, r, is_for_bfp8);
      break;
    case TTM_FIX_CACHE:
      ttm_buf_printf(&t->text, "divide=%llu:", (unsigned long long)r->count), put_caches(t, r, op);
      break;
    case TTM_FIX_CACHE_DTYPE:
      ttm_buf_printf(&t->text, "dtype=%s:", r->dtype), put_caches(t, r, op);
      break;
    case TTM_FIX_MOVE_PIN:
      ttm_buf_puts(&t->text, second ? "free=now:" : "order=first:"), put_number(t, r->op);
      break;
    case TTM_FIX_NO_UPCAST:
      ttm_buf_puts(&t->text, "dtype=bf16:"), put_rows(t, r, is_upcast);
      break;
    case TTM_FIX_ONE_FORM:
      put_part(t, "move=host:", put_first_forms);
      break;
    case TTM_FIX_RESHAPE:
    case TTM_FIX_WIDER_ROWS:
      put_shape(t, r);
      break;
    case TTM_FIX_ROW_MAJOR:
      ttm_buf_puts(&t->text, "layout=row_major:"), put_place(t, r->op, false);
      break;
    default:
      return false;
  }
  return t->patterns && t->patterns <= MOST_PATTERNS;
}

/* ---- Trying ------------------------------------------------------------------------------------------------------------------ */

/* Whether the replay without any change fails as the input did: only then does it tell what ends the failure. */
static bool fails_alike(const trier *t) { return t->before.failures_left == t->before.failures && t->before.failures; }

static int find_floor(trier *t) {
  ttm_one_device device;
  int status = ttm_one_device_make(&device, t->p, t->f->alive_set[TTM_DRAM].device);
  t->floor = device.others_bytes;
  ttm_one_device_free(&device);
  return status;
}

static int get_ready(trier *t) {
  if (t->ready) return TTM_OK;
  int status = ttm_ledger_make(&t->ledger, t->f);
  if (!status) status = ttm_trial_run(&t->before, &t->ledger, NULL, 0);
  if (!status) status = find_floor(t);
  t->ready = !status;
  return status;
}

/* Tries the change in t->text. *after is what it comes to; false when it means nothing that can be changed. */
static int try_change(trier *t, ttm_trial *after, bool *meant) {
  ttm_change change;
  int status = t->text.failed ? TTM_ENOMEM : get_ready(t);
  *meant = !status && !ttm_change_parse(&change, ttm_buf_str(&t->text), NULL);
  if (*meant) status = ttm_trial_run(after, &t->ledger, &change, 1);
  if (status || !*meant) return status;
  ttm_trial_judge(after, &t->before, &t->ledger);
  *meant = change.kind == TTM_CHANGE_BOARD || after->match[0].changed;
  return TTM_OK;
}

uint32_t ttm_memory_failures(const ttm_profile *p) {
  uint32_t n = 0;
  for (size_t i = 0; i < p->incidents.n; i++) n += p->incidents.at[i].what.kind != TTM_INCIDENT_FATAL;
  return n;
}

/* The rest that a fix is judged by: of the failure it is to end; else the first that does not fit, or the last. TTM_RESTS: none is reached. */
static size_t rest_of(const trier *t, const ttm_trial *after) {
  size_t found = TTM_RESTS;
  for (size_t k = 0; k < t->ledger.rest_count; k++) {
    bool own = t->incident == TTM_NONE || k == ttm_ledger_rest_of(&t->ledger, t->incident);
    if (own && after->rests[k].reached && (found == TTM_RESTS || after->rests[found].fits)) found = k;
  }
  return found;
}

static int keep_result(trier *t, ttm_remedy *r, const ttm_trial *after, bool in_l1) {
  size_t number = rest_of(t, after);
  const ttm_trial_rest *rest = number < TTM_RESTS ? &after->rests[number] : NULL;
  ttm_str text = ttm_buf_str(&t->text);
  const char *kept = ttm_arena_copy(&t->f->changes, text);
  if (!kept) return TTM_ENOMEM;
  if (r->kind == TTM_FIX_BOARD) r->bytes = after->memories[TTM_REPLAY_DRAM].peak;
  /* Only a module tells whether what is freed is needed later, and nothing what a tensor of unknown type holds. */
  bool doubtful = after->estimate || (r->kind == TTM_FIX_FREE && !rest) || r->guess;
  r->check = doubtful ? TTM_FIX_ESTIMATED : TTM_FIX_REPLAYED;
  r->tried = (ttm_tried){{kept, text.n},
                         after->memories[in_l1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM].peak,
                         after->failures < ttm_memory_failures(t->p) ? -1 : !after->failures_left,
                         ttm_trial_rest_fits(after),
                         rest ? t->ledger.rests[number].program : NULL,
                         TTM_NO_ROW,
                         0};
  if (!rest) return TTM_OK;
  const ttm_rest_op *refused = ttm_ledger_rest_op(&t->ledger, rest->refused_op);
  r->tried.rest_fits = !rest->fits ? 0 : r->tried.rest->run.unknown ? -1 : 1;
  if (!rest->fits && refused) r->tried.refused_row = refused->row;
  r->tried.shortfall = rest->shortfall;
  return TTM_OK;
}

/* ---- Fixes of a failure -------------------------------------------------------------------------------------------------------- */

/* What a ttnn program brought is there for its next step. */
static bool is_free_to_go(const trier *t, const ttm_holding *h, uint32_t op) {
  const ttm_label *label = &t->ledger.labels.at[h->label];
  return h->tensor != TTM_NONE && t->p->tensors.at[h->tensor].last_use < op && !h->rest_use &&
         !ttm_op_brings(label->op) && (label->class == TTM_ALIVE_ACTIVATION || label->class == TTM_ALIVE_KEPT);
}

/* Blocks from `first` on that make one block of `needed` together with the room around them, if all may go; its bytes, 0 otherwise. */
static uint64_t gather_run(const trier *t, const ttm_trial_blocks *blocks, size_t first, uint64_t bank, uint32_t op,
                           uint64_t needed, ttm_remedy *out) {
  uint64_t from = first ? blocks->at[first - 1].at + blocks->at[first - 1].size : 0;
  out->bytes = out->block_count = 0;
  for (size_t i = first; i < blocks->n && out->block_count < TTM_FIX_BLOCKS_MOST; i++) {
    const ttm_holding *h = &t->ledger.holdings.at[blocks->at[i].holding];
    if (!is_free_to_go(t, h, op)) return 0;
    out->blocks[out->block_count++] = h->tensor;
    out->bytes += blocks->at[i].size;
    uint64_t to = i + 1 < blocks->n ? blocks->at[i + 1].at : bank;
    if (to - from >= needed) return to - from;
  }
  return 0;
}

/* The fewest bytes whose going makes the room: only what lies side by side counts. */
static int find_blocks(trier *t, ttm_remedy *r, uint64_t *made) {
  const ttm_incident *incident = &t->p->incidents.at[t->incident];
  ttm_trial_blocks blocks = {0};
  ttm_remedy best = *r, one = *r;
  uint64_t bank = 0, block;
  best.block_count = 0;
  int status = get_ready(t);
  if (!status) status = ttm_trial_at_failure(&blocks, &t->ledger, t->incident, &bank);
  for (size_t i = 0; i < blocks.n && !status && fails_alike(t); i++) {
    block = gather_run(t, &blocks, i, bank, incident->op, incident->what.needed_per_bank, &one);
    if (block && (!best.block_count || one.bytes < best.bytes)) best = one, *made = block;
  }
  best.count = best.block_count;
  best.op = best.block_count ? t->p->tensors.at[best.blocks[0]].birth : r->op;
  *r = best.block_count ? best : *r;
  ttm_vec_free(&blocks);
  return status;
}

static bool in_l1(const trier *t) { return ttm_str_eq(t->p->incidents.at[t->incident].what.memory, TTM_LIT("L1")); }

/* The same done to more tensors; false when there are no more. */
static bool widen(const trier *t, ttm_remedy *r) {
  bool weights = r->kind == TTM_FIX_WEIGHTS;
  if (r->every) return false;
  if (weights && ttm_fix_more_weights(r, t->f)) return true;
  return r->every = weights || r->kind == TTM_FIX_DTYPE || r->kind == TTM_FIX_DIVIDE || r->kind == TTM_FIX_DRAM ||
                    (r->kind == TTM_FIX_FREE_EARLIER && r->block_count);
}

/* A fix that only passes the failure: the same done to more tensors may be one for the whole program. */
static int try_wider(trier *t, ttm_remedy *r) {
  ttm_remedy wide = *r;
  ttm_trial after;
  bool meant = false;
  int status = TTM_OK;
  while (!status && widen(t, &wide)) {
    if (put_change(t, &wide, false)) status = try_change(t, &after, &meant);
    size_t rest = status || !meant ? TTM_RESTS : rest_of(t, &after);
    if (rest == TTM_RESTS || !after.rests[rest].fits) continue;
    if (wide.every && wide.kind == TTM_FIX_WEIGHTS) wide.count = after.match[0].changed;
    *r = wide;
    return keep_result(t, r, &after, in_l1(t));
  }
  return status;
}

/* *helps: it ends the failure, or nothing tells. */
static int try_for_failure(trier *t, ttm_remedy *r, bool *helps) {
  ttm_trial after;
  bool meant = false;
  uint64_t made;
  int status = r->kind == TTM_FIX_FREE ? find_blocks(t, r, &made) : TTM_OK;
  *helps = true;
  for (int second = 0; second < (r->kind == TTM_FIX_MOVE_PIN ? 2 : 1) && !status; second++) {
    if (put_change(t, r, second)) status = try_change(t, &after, &meant);
    if (meant && !(after.left >> t->incident % 64 & 1)) break;
  }
  if (status || !meant || !fails_alike(t)) {
    r->check = TTM_FIX_ESTIMATED;
    /* "Free as much" helps nobody when it is known what lies where. */
    if (!status && r->kind == TTM_FIX_FREE && fails_alike(t)) *helps = false;
    return status;
  }
  *helps = t->incident >= 64 || !(after.left >> t->incident & 1);
  if (!*helps && r->kind == TTM_FIX_STOP_LEAK) return *helps = true, TTM_OK; /* derived from what every round keeps */
  if (*helps) status = keep_result(t, r, &after, in_l1(t));
  return *helps && !status && r->tried.rest && !r->tried.rest_fits ? try_wider(t, r) : status;
}

/* What all the rest fits with, what it may fit with, what it does not; of each those that were replayed first, guesses last. */
static unsigned order_of(const ttm_remedy *r) {
  int rest = r->tried.change.n ? r->tried.rest_fits : -1;
  unsigned whole = rest > 0 ? 0 : rest < 0 ? 1 : 2;
  return whole * 4 + r->guess * 2u + (r->check != TTM_FIX_REPLAYED && r->check != TTM_FIX_PREDICTED);
}

static void sort(const trier *t, ttm_remedies *list) {
  for (size_t i = 0; i < list->n && t->p->predicted; i++)
    if (list->at[i].check != TTM_FIX_ESTIMATED) list->at[i].check = TTM_FIX_PREDICTED;
  for (size_t i = 1; i < list->n; i++) {
    ttm_remedy one = list->at[i];
    size_t at = i;
    for (; at && order_of(&list->at[at - 1]) > order_of(&one); at--) list->at[at] = list->at[at - 1];
    list->at[at] = one;
  }
}

/* What pins free space in a recording; a log's pins are known by its replay. */
static int add_pin(trier *t, ttm_remedies *fixes, ttm_verdict verdict) {
  ttm_remedy pin = {.kind = TTM_FIX_MOVE_PIN, .op = TTM_NONE};
  if (verdict != TTM_VERDICT_FRAGMENTED || t->p->kind != TTM_LOG_CAPTURE || fixes->n == TTM_REMEDIES) return TTM_OK;
  uint64_t made = 0;
  int status = find_blocks(t, &pin, &made);
  if (status || !pin.block_count) return status;
  if (pin.block_count > 1) pin.kind = TTM_FIX_FREE;
  if (pin.kind == TTM_FIX_MOVE_PIN) pin.bytes = made;
  for (size_t k = fixes->n++; k; k--) fixes->at[k] = fixes->at[k - 1];
  fixes->at[0] = pin;
  return TTM_OK;
}

static int try_failure(trier *t, uint32_t i) {
  ttm_remedies fixes;
  bool helps;
  int status = TTM_OK;
  size_t n = 0;
  ttm_fixes_of_failure(&fixes, t->f, i);
  t->incident = t->f->incidents.at[i].incident;
  /* More weights than memory: what is recorded up to the failure tells little of what the rest needs. */
  bool exceed = t->f->weight_demand.bytes > t->f->weight_demand.capacity;
  bool oom = t->p->incidents.at[t->incident].what.kind == TTM_INCIDENT_OOM;
  if (oom && exceed) status = get_ready(t), oom = ttm_ledger_rest_of(&t->ledger, t->incident) < TTM_RESTS;
  if (oom) status = add_pin(t, &fixes, t->f->incidents.at[i].verdict);
  for (size_t k = 0; k < fixes.n && oom && !status; k++) {
    status = try_for_failure(t, &fixes.at[k], &helps);
    if (helps) fixes.at[n++] = fixes.at[k];
  }
  if (oom) fixes.n = n;
  sort(t, &fixes);
  return status ? status : ttm_vec_push(&t->f->failure_fixes, fixes);
}

/* ---- Fixes of the peak ---------------------------------------------------------------------------------------------------------- */

static int try_for_peak(trier *t, ttm_remedy *r, bool *helps) {
  ttm_trial after;
  bool meant = false;
  int status = put_change(t, r, false) ? try_change(t, &after, &meant) : TTM_OK;
  *helps = true;
  if (status || !meant) return r->check = TTM_FIX_ESTIMATED, status;
  uint64_t before = t->before.memories[TTM_REPLAY_DRAM].peak, *peak = &after.memories[TTM_REPLAY_DRAM].peak;
  if (*peak < t->floor) *peak = t->floor;
  bool ends = fails_alike(t) && !after.failures_left; /* what failed is part of the peak then */
  *helps = ends || (before > *peak && before - *peak >= before / LEAST_SHARE);
  if (!ends && *helps) r->bytes = before - *peak;
  /* A leak that is not yet part of the peak will be. */
  if (!*helps && r->kind == TTM_FIX_STOP_LEAK) return *helps = true, TTM_OK;
  return *helps ? keep_result(t, r, &after, false) : TTM_OK;
}

static int try_peak(trier *t) {
  ttm_remedies *fixes = &t->f->peak_fixes;
  bool helps;
  int status = TTM_OK;
  size_t n = 0;
  t->incident = TTM_NONE;
  for (size_t k = 0; k < fixes->n && !status; k++) {
    status = try_for_peak(t, &fixes->at[k], &helps);
    if (helps) fixes->at[n++] = fixes->at[k];
  }
  fixes->n = n;
  sort(t, fixes);
  return status;
}

int ttm_fixes_try(ttm_findings *f) {
  trier t = {.f = f, .p = f->profile};
  int status = TTM_OK;
  if (!ttm_ledger_possible(t.p)) return TTM_OK;
  for (uint32_t i = 0; i < f->incidents.n && i < MOST_FAILURES && !status; i++) status = try_failure(&t, i);
  if (!status) status = try_peak(&t);
  ttm_ledger_free(&t.ledger);
  ttm_buf_free(&t.text);
  return status;
}
