/* SPDX-License-Identifier: Apache-2.0 */
/* What added most to a memory, and what was live at its peak. The same operation or tensor of every layer is one row, which opens to its
 * members. */
#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"
#include "ui/text_lines.h"

enum { MOST_ROWS = 2 * TTM_ALIVE_ROWS, WIDE = 100 };
_Static_assert(TTM_TOP *(TTM_CONSUMER_MEMBERS + 1) <= MOST_ROWS, "every member has a row");

typedef struct row {
  uint32_t group;
  bool opens;        /* it stands for several; false for each of them */
  double mb;         /* per bank */
  uint32_t op;       /* it leads to, TTM_NONE */
  uint32_t count;    /* so many are folded into it */
  bool named;        /* by `name` alone, not as an operation at that place */
  ttm_str name;      /* may be empty */
  uint32_t runs;     /* of an operation, 0 */
  const char *class; /* of a tensor, NULL */
  uint32_t type;     /* of that; TTM_NONE */
} row;

typedef struct folded {
  const ttm_ui_subject *subject;
  bool alive; /* the live tensors, else the consumers */
  ttm_memory memory;
  bool open[TTM_ALIVE_ROWS]; /* by group */
  row rows[MOST_ROWS];
  ttm_cursor cursor;
} folded;

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static const ttm_statement *said(const folded *v) {
  static const char *const ids[][TTM_MEMORIES] = {
      {"peak.consumers", "peak.consumers-l1", "peak.consumers-l1-small", "peak.consumers-trace"},
      {"alive.dram", "alive.l1", "alive.none", "alive.none"}};
  return ttm_statements_find(&v->subject->findings->statements, ids[v->alive][v->memory], 0);
}

static void add(folded *v, row one) {
  if (v->cursor.n < MOST_ROWS) v->rows[v->cursor.n++] = one;
}

static void add_consumers(folded *v) {
  const ttm_consumers *all = &v->subject->findings->consumers[v->memory];
  for (uint32_t g = 0; g < all->n; g++) {
    const ttm_consumer *c = &all->at[g];
    add(v, (row){.group = g,
                 .opens = c->members > 1,
                 .mb = ttm_mb(c->total),
                 .op = c->most.op,
                 .count = c->places,
                 .name = c->name,
                 .runs = c->runs});
    for (uint32_t i = 0; v->open[g] && i < c->members; i++) {
      const ttm_effect *one = &all->members.at[c->first_member + i];
      add(v, (row){.group = g, .mb = ttm_mb(one->effect), .op = one->op, .count = 1});
    }
  }
}

static row tensor_row(const ttm_profile *p, const ttm_alive_row *r) {
  return (row){.group = r->group,
               .mb = ttm_mib(r->bank_bytes),
               .op = r->op,
               .count = r->tensors,
               .named = r->name || r->op == TTM_NONE,
               .name = ttm_profile_string(p, r->name),
               .class = ttm_words_class(p, r->class),
               .type = r->type};
}

static void add_tensors(folded *v) {
  const ttm_profile *p = v->subject->profile;
  const ttm_alive_set *set = &v->subject->findings->alive_set[v->memory];
  for (uint32_t g = 0; g < set->groups.n; g++) {
    const ttm_alive_group *group = &set->groups.at[g];
    row one = {.named = true, .class = ttm_words_class(p, group->class), .type = TTM_NONE};
    if (group->row < set->rows.n) one = tensor_row(p, &set->rows.at[group->row]);
    one.group = g, one.opens = group->rows > 1, one.op = group->op;
    one.mb = ttm_mib(group->bank_bytes), one.count = group->tensors;
    if (group->name.n) one.name = group->name;
    add(v, one);
    for (size_t i = 0; v->open[g] && i < set->rows.n; i++) {
      if (set->rows.at[i].group == g) add(v, tensor_row(p, &set->rows.at[i]));
    }
  }
}

/* A report without its log has no live set, but what it said about it. */
static void add_points(folded *v) {
  const ttm_findings *f = v->subject->findings;
  const ttm_statement *s = said(v);
  for (uint32_t i = 0; s && i < s->points; i++) {
    const ttm_point *point = &f->statements.points.at[s->first_point + i];
    uint32_t op = point->operation == UINT32_MAX ? TTM_NONE : ttm_findings_op(f, point->operation);
    add(v, (row){.mb = point->mb, .op = op, .named = true, .name = point->text});
  }
}

static void gather(folded *v) {
  v->cursor.n = 0;
  if (!v->alive)
    add_consumers(v);
  else if (v->subject->findings->alive_set[v->memory].known)
    add_tensors(v);
  else
    add_points(v);
}

/* ---- Drawing -------------------------------------------------------------------------------------------------------- */

static void put_tensor(const folded *v, const ttm_screen *s, const row *r, ttm_buf *out) {
  const ttm_profile *p = v->subject->profile;
  char shape[128];
  ttm_buf_printf(out, "%s\x1b[2m%s ", r->name.n || !r->named ? ", " : "", r->class);
  if (r->type < p->types.n && p->types.at[r->type].is_tensor && s->columns >= WIDE) {
    ttm_words_type(out, p, r->type, ttm_screen_form(s));
  } else if (r->type < p->types.n && p->types.at[r->type].is_tensor) {
    ttm_dims_print(&p->types.at[r->type].tensor.shape, shape, sizeof shape);
    ttm_buf_puts(out, shape);
  }
  ttm_buf_puts(out, "\x1b[0m");
}

static void put_row(const void *view, const ttm_screen *s, size_t i, ttm_buf *out) {
  const folded *v = view;
  const row *r = &v->rows[i];
  const char *sign = !r->opens           ? " "
                     : v->open[r->group] ? ttm_sign(s, "\xE2\x96\xBE", "v")
                                         : ttm_sign(s, "\xE2\x96\xB8", ">");
  ttm_buf_printf(out, "%s ", sign);
  ttm_put_figure(out, "", r->mb * ttm_view_banks(v->subject, v->memory));
  if (r->count > 1)
    ttm_buf_printf(out, " %s%-4u \t", ttm_sign(s, "\xC3\x97", "x"), r->count);
  else
    ttm_buf_puts(out, "       \t");
  if (r->named)
    ttm_put_text(out, r->name, SIZE_MAX, ttm_screen_form(s));
  else
    ttm_put_operation(out, s, v->subject->findings, r->op, r->name);
  if (r->runs > 1) ttm_buf_printf(out, ", in %u runs", r->runs);
  if (r->class) put_tensor(v, s, r, out);
}

static void put_headline(ttm_buf *out, const ttm_statement *s, const ttm_screen *screen) {
  if (!s) return;
  ttm_put_text(out, s->headline, SIZE_MAX, ttm_screen_form(screen));
  ttm_buf_puts(out, ".\n");
}

static void draw_folded(void *view, ttm_screen *s) {
  static const char *const peaks[] = {"peak.dram", "peak.l1", "peak.l1-small", "peak.trace"};
  folded *v = view;
  const ttm_statements *all = &v->subject->findings->statements;
  const ttm_statement *about = said(v);
  ttm_buf head = {0};
  if (!about && v->alive && v->memory == TTM_DRAM) about = ttm_statements_first(all, TTM_TOPIC_ALIVE);
  if (v->alive) put_headline(&head, ttm_statements_find(all, peaks[v->memory], 0), s);
  put_headline(&head, about, s);
  if (!head.n) ttm_buf_printf(&head, "Nothing was allocated in %s.\n", ttm_memory_name(v->memory));
  if (v->cursor.n)
    ttm_buf_printf(&head, "\n\x1b[2mMB per %s       %s\x1b[0m", v->subject->per_chip ? "chip" : "bank",
                   v->alive ? "tensor" : "operation");
  int below = ttm_draw_text(s, TTM_VIEW_ROW, &head);
  ttm_list_draw(&v->cursor, s, below, s->rows - 1 - below, put_row, v);
}

/* ---- Keys ----------------------------------------------------------------------------------------------------------- */

static void show(folded *v, ttm_memory memory) {
  v->memory = memory;
  v->cursor = (ttm_cursor){0};
  memset(v->open, 0, sizeof v->open);
  gather(v);
}

/* Opens or closes the row's group; the cursor stays on its head. */
static void turn(folded *v, bool open) {
  v->open[v->rows[v->cursor.at].group] = open;
  while (!v->rows[v->cursor.at].opens) v->cursor.at--;
  gather(v);
}

static bool folded_key(void *view, ttm_ui *ui, int key) {
  folded *v = view;
  if (key == 'm') return show(v, (ttm_memory)((v->memory + 1) % (v->alive ? TTM_L1 + 1 : TTM_MEMORIES))), true;
  if (ttm_cursor_key(&v->cursor, key)) return true;
  if (!v->cursor.n) return false;
  const row *r = &v->rows[v->cursor.at];
  if (key == TTM_KEY_LEFT && v->open[r->group]) return turn(v, false), true;
  if (key == TTM_KEY_RIGHT && r->opens) return turn(v, true), true;
  if (key != TTM_KEY_ENTER) return false;
  if (r->opens)
    turn(v, !v->open[r->group]);
  else if (r->op != TTM_NONE)
    ttm_ui_show_operation(ui, v->subject->findings, r->op);
  else
    ttm_ui_say(ui, "No operation of this log made it.");
  return true;
}

static void *make(const ttm_ui_subject *subject, bool alive) {
  folded *v = ttm_alloc(sizeof *v);
  if (!v) return NULL;
  v->subject = subject;
  v->alive = alive;
  show(v, TTM_DRAM);
  return v;
}

static void *make_top(const ttm_ui_subject *subject) { return make(subject, false); }
static void *make_peak(const ttm_ui_subject *subject) { return make(subject, true); }
static void free_folded(void *view) { ttm_free(view); }

static const ttm_key_help KEYS[] = {{"Enter", "open"}, {"m", "memory"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_top = {
    .name = "Top", .keys = KEYS, .make = make_top, .draw = draw_folded, .key = folded_key, .free = free_folded};
const ttm_view_class ttm_view_live = {
    .name = "Peak", .keys = KEYS, .make = make_peak, .draw = draw_folded, .key = folded_key, .free = free_folded};
