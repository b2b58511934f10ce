/* SPDX-License-Identifier: Apache-2.0 */
/* What added most to a memory, and what was live at its peak. The same operation or tensor of every layer is one row, which opens to its
 * members. */
#include "analyze/words.h"
#include "base/alloc.h"
#include "ui/report.h"
#include "ui/text_lines.h"

enum { MOST_ROWS = 2 * TTM_ALIVE_ROWS, FIGURE = 9, WIDE = 100 };
_Static_assert(TTM_TOP *(TTM_CONSUMER_MEMBERS + 1) <= MOST_ROWS, "every member has a row");

/* One row, of either table. */
typedef struct entry {
  double mb;         /* per bank */
  uint32_t op;       /* it leads to, TTM_NONE */
  uint32_t count;    /* so many are folded into it */
  ttm_str name;      /* instead of the operation's place; may be empty */
  bool named;        /* the name alone: a tensor, not an operation */
  ttm_str text;      /* instead of all that: as the report says it */
  const char *class; /* of tensors, NULL */
  uint32_t type, runs;
} entry;

typedef struct folded {
  const ttm_ui_subject *subject;
  bool alive; /* the live tensors, else the consumers */
  ttm_memory memory;
  bool open[TTM_ALIVE_ROWS]; /* by group */
  struct {
    uint32_t group, member; /* TTM_NONE: the group itself */
  } rows[MOST_ROWS];
  ttm_cursor cursor;
} folded;

/* ---- Consumers ------------------------------------------------------------------------------------------------------ */

static entry consumer_at(const folded *v, uint32_t group, uint32_t member) {
  const ttm_consumers *all = &v->subject->findings->consumers[v->memory];
  const ttm_consumer *c = &all->at[group];
  if (member != TTM_NONE) {
    const ttm_effect *one = &all->members.at[c->first_member + member];
    return (entry){.mb = ttm_mb(one->effect), .op = one->op, .count = 1};
  }
  return (entry){.mb = ttm_mb(c->total), .op = c->most.op, .count = c->places, .name = c->name, .runs = c->runs};
}

/* ---- Live tensors --------------------------------------------------------------------------------------------------- */

static const ttm_alive_set *set_of(const folded *v) { return &v->subject->findings->alive_set[v->memory]; }

static entry alive_row(const folded *v, const ttm_alive_row *r) {
  const ttm_profile *p = v->subject->profile;
  return (entry){.mb = ttm_mib(r->bank_bytes),
                 .op = r->op,
                 .count = r->tensors,
                 .name = ttm_profile_string(p, r->name),
                 .named = r->name,
                 .class = ttm_words_class(p, r->class),
                 .type = r->type};
}

static entry alive_at(const folded *v, uint32_t group, uint32_t member) {
  const ttm_alive_set *set = set_of(v);
  if (member != TTM_NONE) return alive_row(v, &set->rows.at[member]);
  const ttm_alive_group *g = &set->groups.at[group];
  entry e = {.type = TTM_NONE, .named = true, .class = ttm_words_class(v->subject->profile, g->class)};
  if (g->row < set->rows.n) e = alive_row(v, &set->rows.at[g->row]);
  e.mb = ttm_mib(g->bank_bytes), e.op = g->op, e.count = g->tensors;
  if (g->name.n) e.name = g->name;
  return e;
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static const ttm_statement *statement_of(const folded *v) {
  static const char *const consumers[] = {"peak.consumers", "peak.consumers-l1", "peak.consumers-l1-small",
                                          "peak.consumers-trace"};
  const char *id = !v->alive ? consumers[v->memory] : v->memory == TTM_L1 ? "alive.l1" : "alive.dram";
  return ttm_statements_find(&v->subject->findings->statements, id, 0);
}

/* A report without its log has no live set, but what it said about it. */
static bool is_said(const folded *v) { return v->alive && !set_of(v)->known; }

static entry point_at(const folded *v, uint32_t i) {
  const ttm_findings *f = v->subject->findings;
  const ttm_point *point = &f->statements.points.at[statement_of(v)->first_point + i];
  return (entry){point->mb, point->operation == UINT32_MAX ? TTM_NONE : ttm_findings_op(f, point->operation),
                 .text = point->text};
}

static entry entry_at(const folded *v, size_t row) {
  uint32_t group = v->rows[row].group, member = v->rows[row].member;
  return is_said(v) ? point_at(v, group) : v->alive ? alive_at(v, group, member) : consumer_at(v, group, member);
}

static size_t groups_of(const folded *v) {
  const ttm_statement *s = statement_of(v);
  if (is_said(v)) return s ? s->points : 0;
  return v->alive ? set_of(v)->groups.n : v->subject->findings->consumers[v->memory].n;
}

static bool opens(const folded *v, uint32_t group) {
  if (is_said(v)) return false;
  return v->alive ? set_of(v)->groups.at[group].rows > 1
                  : v->subject->findings->consumers[v->memory].at[group].members > 1;
}

static void add_row(folded *v, uint32_t group, uint32_t member) {
  if (v->cursor.n == MOST_ROWS) return;
  v->rows[v->cursor.n].group = group;
  v->rows[v->cursor.n++].member = member;
}

static void gather(folded *v) {
  size_t groups = groups_of(v);
  v->cursor.n = 0;
  for (uint32_t g = 0; g < groups && g < TTM_ALIVE_ROWS; g++) {
    add_row(v, g, TTM_NONE);
    if (!v->open[g]) continue;
    size_t n = v->alive ? set_of(v)->rows.n : v->subject->findings->consumers[v->memory].at[g].members;
    for (uint32_t i = 0; i < n; i++) {
      if (!v->alive || set_of(v)->rows.at[i].group == g) add_row(v, g, i);
    }
  }
}

static void put_entry(const folded *v, const ttm_screen *s, const entry *e, ttm_buf *out) {
  const ttm_profile *p = v->subject->profile;
  ttm_text_form form = ttm_screen_form(s);
  char shape[128];
  if (e->text.n) return ttm_put_text(out, e->text, SIZE_MAX, form);
  size_t start = out->n;
  if (!e->named && e->op != TTM_NONE)
    ttm_put_operation(out, s, v->subject->findings, e->op, e->name);
  else
    ttm_put_text(out, e->name, SIZE_MAX, form);
  if (e->runs > 1) ttm_buf_printf(out, ", in %u runs", e->runs);
  if (!e->class) return;
  ttm_buf_printf(out, "%s\x1b[2m%s", out->n > start ? ", " : "", e->class);
  if (e->type < p->types.n && p->types.at[e->type].is_tensor) {
    ttm_dims_print(&p->types.at[e->type].tensor.shape, shape, sizeof shape);
    if (s->columns < WIDE)
      ttm_buf_printf(out, " %s", shape);
    else
      ttm_buf_char(out, ' '), ttm_words_type(out, p, e->type, form);
  }
  ttm_buf_puts(out, "\x1b[0m");
}

static void put_row(const void *view, const ttm_screen *s, size_t i, ttm_buf *out) {
  const folded *v = view;
  entry e = entry_at(v, i);
  bool member = v->rows[i].member != TTM_NONE, open = v->open[v->rows[i].group];
  const char *sign = member || !opens(v, v->rows[i].group) ? " "
                     : open                                ? ttm_sign(s, "\xE2\x96\xBE", "v")
                                                           : ttm_sign(s, "\xE2\x96\xB8", ">");
  ttm_buf figure = {0};
  ttm_put_mb(&figure, e.mb * ttm_view_banks(v->subject, v->memory));
  ttm_buf_printf(out, "%s %*.*s ", sign, FIGURE, (int)figure.n, figure.n ? figure.at : "");
  if (e.count > 1)
    ttm_buf_printf(out, "%s%-4u \t", ttm_sign(s, "\xC3\x97", "x"), e.count);
  else
    ttm_buf_puts(out, "      \t");
  put_entry(v, s, &e, out);
  out->failed |= figure.failed;
  ttm_buf_free(&figure);
}

/* ---- The view ------------------------------------------------------------------------------------------------------- */

static void put_headline(ttm_buf *out, const ttm_statement *s, ttm_text_form form) {
  if (!s) return;
  ttm_put_text(out, s->headline, SIZE_MAX, form);
  ttm_buf_puts(out, ".\n");
}

static void draw_folded(void *view, ttm_screen *s) {
  static const char *const peaks[] = {"peak.dram", "peak.l1", "peak.l1-small", "peak.trace"};
  folded *v = view;
  const ttm_statements *all = &v->subject->findings->statements;
  const ttm_statement *said = statement_of(v);
  ttm_text_form form = ttm_screen_form(s);
  ttm_buf head = {0};
  if (v->alive) put_headline(&head, ttm_statements_find(all, peaks[v->memory], 0), form);
  put_headline(&head, said, form);
  if (!said && v->alive && v->memory == TTM_DRAM) put_headline(&head, ttm_statements_first(all, TTM_TOPIC_ALIVE), form);
  if (!said && !head.n) ttm_buf_printf(&head, "Nothing was allocated in %s.\n", ttm_memory_name(v->memory));
  if (v->cursor.n)
    ttm_buf_printf(&head, "\n\x1b[2mMB per %s       %s\x1b[0m", v->subject->per_chip ? "chip" : "bank",
                   v->alive ? "tensor" : "operation");
  int row = ttm_draw_text(s, TTM_VIEW_ROW, &head);
  ttm_list_draw(&v->cursor, s, row, s->rows - 1 - row, put_row, v);
}

static void show(folded *v, bool alive, ttm_memory memory) {
  v->alive = alive;
  v->memory = memory;
  v->cursor = (ttm_cursor){0};
  memset(v->open, 0, sizeof v->open);
  gather(v);
}

/* Opens or closes the row's group; the cursor stays on its head. */
static void turn(folded *v, bool open) {
  uint32_t group = v->rows[v->cursor.at].group;
  v->open[group] = open;
  while (v->rows[v->cursor.at].member != TTM_NONE) v->cursor.at--;
  gather(v);
}

static bool folded_key(void *view, ttm_ui *ui, int key) {
  folded *v = view;
  if (key == 'm')
    return show(v, v->alive, (ttm_memory)((v->memory + 1) % (v->alive ? TTM_L1 + 1 : TTM_MEMORIES))), true;
  if (ttm_cursor_key(&v->cursor, key)) return true;
  if (!v->cursor.n) return false;
  uint32_t group = v->rows[v->cursor.at].group, op = entry_at(v, v->cursor.at).op;
  bool head = v->rows[v->cursor.at].member == TTM_NONE, open = v->open[group];
  if (key == TTM_KEY_LEFT && open) return turn(v, false), true;
  if (key == TTM_KEY_RIGHT && opens(v, group)) return turn(v, true), true;
  if (key != TTM_KEY_ENTER) return false;
  if (head && opens(v, group))
    turn(v, !open);
  else if (op != TTM_NONE)
    ttm_ui_show_operation(ui, v->subject->findings, op);
  else
    ttm_ui_say(ui, "No operation of this log made it.");
  return true;
}

static void *make(const ttm_ui_subject *subject, bool alive) {
  folded *v = ttm_alloc(sizeof *v);
  if (!v) return NULL;
  v->subject = subject;
  show(v, alive, TTM_DRAM);
  return v;
}

static void *make_top(const ttm_ui_subject *subject) { return make(subject, false); }
static void *make_peak(const ttm_ui_subject *subject) { return make(subject, true); }
static void free_folded(void *view) { ttm_free(view); }

static const ttm_key_help KEYS[] = {{"Enter", "open"}, {"m", "memory"}, {"j/k", "move"}, {NULL, NULL}};
const ttm_view_class ttm_view_top = {"Top", KEYS, make_top, draw_folded, folded_key, free_folded};
const ttm_view_class ttm_view_live = {"Peak", KEYS, make_peak, draw_folded, folded_key, free_folded};
