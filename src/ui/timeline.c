/* SPDX-License-Identifier: Apache-2.0 */
/* A memory over the states of the log, as columns; every column is the highest state in its part. */
#include "analyze/words.h"
#include "base/alloc.h"
#include "base/format.h"
#include "ui/report.h"
#include "ui/text_lines.h"

enum { AXIS = 11, INFO_ROWS = 4 };

typedef struct timeline {
  const ttm_ui_subject *subject;
  ttm_memory memory;
  uint32_t rank;
  uint32_t *states, *levels; /* of that memory and rank, in log order */
  size_t n;
  uint32_t capacity;
  size_t from, count; /* the part on show */
  size_t at;          /* the state that is looked at */
  bool whole_scale;   /* the top is the capacity, not the highest state on show */
  int width;          /* columns of the last drawing */
} timeline;

/* ---- The states ---------------------------------------------------------------------------------------------------- */

static size_t highest(const timeline *t, size_t from, size_t until) {
  size_t best = from;
  for (size_t i = from; i < until; i++) {
    if (t->levels[i] > t->levels[best]) best = i;
  }
  return best;
}

static void show_all(timeline *t) {
  t->from = 0;
  t->count = t->n;
}

/* Gathers the states of the chosen memory and rank; stands on the highest one. */
static void gather(timeline *t) {
  const ttm_profile *p = t->subject->profile;
  t->n = 0;
  t->capacity = 0;
  for (uint32_t s = 0; s < p->states.n; s++) {
    ttm_level level;
    if (ttm_state_rank(p, s) != t->rank || !ttm_state_level(p, s, t->memory, &level)) continue;
    t->states[t->n] = s;
    t->levels[t->n++] = level.allocated;
    if (level.total > t->capacity) t->capacity = level.total;
  }
  show_all(t);
  t->at = t->n ? highest(t, 0, t->n) : 0;
}

static void free_timeline(void *view) {
  timeline *t = view;
  ttm_free(t->states);
  ttm_free(t->levels);
  ttm_free(t);
}

static void *make_timeline(const ttm_ui_subject *subject) {
  timeline *t = ttm_alloc(sizeof *t);
  size_t n = subject->profile->states.n;
  if (!t) return NULL;
  t->subject = subject;
  t->width = 1;
  t->states = ttm_alloc_array(n, sizeof *t->states);
  t->levels = ttm_alloc_array(n, sizeof *t->levels);
  if (!t->states || !t->levels) {
    free_timeline(t);
    return NULL;
  }
  const ttm_peak *dram = &subject->findings->peak[TTM_DRAM];
  if (dram->known && dram->state != TTM_NONE) t->rank = ttm_state_rank(subject->profile, dram->state);
  gather(t);
  return t;
}

/* ---- Drawing ------------------------------------------------------------------------------------------------------- */

/* The states of a column. Fewer states than columns: one state takes several. */
static void column_part(const timeline *t, int column, size_t *from, size_t *until) {
  *from = t->from + (size_t)((double)column * (double)t->count / t->width);
  *until = t->from + (size_t)((double)(column + 1) * (double)t->count / t->width);
  if (*until <= *from) *until = *from + 1;
  if (*until > t->n) *until = t->n;
}

static int column_of(const timeline *t, size_t state) {
  if (state < t->from || state >= t->from + t->count) return -1;
  for (int guess = (int)((double)(state - t->from) * t->width / (double)t->count), c = guess > 0 ? guess - 1 : 0;
       c < t->width; c++) {
    size_t from, until;
    column_part(t, c, &from, &until);
    if (state >= from && state < until) return c;
  }
  return t->width - 1;
}

static void draw_column(const timeline *t, ttm_screen *s, int column, int row, int height, uint32_t top) {
  size_t from, until;
  column_part(t, column, &from, &until);
  uint32_t level = t->levels[highest(t, from, until)];
  bool chosen = t->at >= from && t->at < until;
  ttm_style style = chosen ? TTM_STYLE_ACCENT : ttm_style_of(ttm_percent(level, t->capacity));
  double cells = top ? (double)level / top * height : 0;
  if (level && cells < 0.125) cells = 0.125;
  for (int r = 0; r < height; r++) {
    double filled = cells - (height - 1 - r);
    int eighths = filled >= 1 ? 8 : filled > 0 ? (int)(filled * 8) : 0;
    bool whole = filled >= 0.5 || (filled > 0 && r == height - 1);
    const char *sign = s->utf8 ? ttm_column_eighths[eighths] : !whole ? " " : chosen ? "@" : "#";
    if (chosen && sign[0] == ' ') sign = ttm_sign(s, "\xE2\x94\x8A", ":");
    if (sign[0] != ' ') ttm_screen_words(s, row + r, AXIS + column, style, sign);
  }
}

static double shown(const timeline *t, int64_t level) { return ttm_mb(level) * ttm_view_banks(t->subject, t->memory); }

static void draw_axis(const timeline *t, ttm_screen *s, int row, int height, uint32_t top) {
  for (int r = 0; r < height; r++) {
    bool marked = r == 0 || (height >= 6 && r == height / 2);
    if (marked) ttm_screen_print(s, row + r, 0, TTM_STYLE_DIM, "%9.2f", shown(t, top) * (height - r) / height);
    ttm_screen_words(s, row + r, AXIS - 1, TTM_STYLE_DIM,
                     marked ? ttm_sign(s, "\xE2\x94\xA4", "+") : ttm_sign(s, "\xE2\x94\x82", "|"));
  }
  ttm_screen_words(s, row + height, 0, TTM_STYLE_DIM, "     0.00");
  ttm_screen_words(s, row + height, AXIS - 1, TTM_STYLE_DIM, ttm_sign(s, "\xE2\x94\x94", "+"));
  for (int c = 0; c < t->width; c++) {
    ttm_screen_words(s, row + height, AXIS + c, TTM_STYLE_DIM, ttm_sign(s, "\xE2\x94\x80", "-"));
  }
}

/* "P" where the highest state of all is, "!" where something went wrong, an arrow under the state that is looked at. */
static void draw_marks(const timeline *t, ttm_screen *s, int above, int below) {
  const ttm_profile *p = t->subject->profile;
  int peak = column_of(t, highest(t, 0, t->n)), at = column_of(t, t->at);
  for (size_t i = 0; i < p->incidents.n; i++) {
    uint32_t state = p->incidents.at[i].state;
    if (state == TTM_NONE || ttm_state_rank(p, state) != t->rank) continue;
    size_t low = 0, high = t->n; /* the last gathered state up to it */
    while (low < high) {
      size_t middle = (low + high) / 2;
      if (t->states[middle] <= state)
        low = middle + 1;
      else
        high = middle;
    }
    int column = low ? column_of(t, low - 1) : -1;
    if (column >= 0) ttm_screen_words(s, above, AXIS + column, TTM_STYLE_BAD, "!");
    if (column == peak && column > 0) peak--; /* both can be seen */
  }
  if (peak >= 0) ttm_screen_words(s, above, AXIS + peak, TTM_STYLE_BOLD, "P");
  if (at >= 0) ttm_screen_words(s, below, AXIS + at, TTM_STYLE_ACCENT, ttm_sign(s, "\xE2\x96\xB2", "^"));
}

static void put_state(const timeline *t, const ttm_state *state, const ttm_level *level, ttm_buf *out) {
  double pct = ttm_percent(level->allocated, level->total);
  ttm_buf_puts(out, "\x1b[1m");
  ttm_put_mb(out, shown(t, level->allocated));
  ttm_buf_printf(out, " MB per %s\x1b[0m (\x1b[%sm%.1f %%\x1b[0m), headroom ", t->subject->per_chip ? "chip" : "bank",
                 ttm_level_color(pct), pct);
  ttm_put_mb(out, shown(t, level->free));
  if (ttm_blocks_known(t->subject->profile) && !t->subject->per_chip)
    ttm_buf_puts(out, ", largest free block "), ttm_put_mb(out, ttm_mb(level->largest));
  ttm_buf_printf(out, "\nlog line %u, ", state->line);
}

static void put_next(const timeline *t, const ttm_screen *s, uint32_t op, ttm_buf *out) {
  const ttm_profile *p = t->subject->profile;
  int64_t effect;
  if (op >= p->ops.n) return ttm_buf_puts(out, "around a program, not before an operation");
  ttm_buf_puts(out, ttm_state_is_predicted(p, p->ops.at[op].state) ? "predicted before " : "before ");
  ttm_put_operation(out, s, t->subject->findings, op, (ttm_str){0});
  if (p->ops.at[op].flags & TTM_OP_FAILED) ttm_buf_puts(out, ", \x1b[31mwhich failed\x1b[0m");
  if (!ttm_op_effect_whole(p, op, t->memory, &effect)) return;
  ttm_buf_puts(out, effect < 0 ? ", delta -" : effect ? ", delta +" : ", delta ");
  ttm_put_mb(out, shown(t, effect < 0 ? -effect : effect));
}

static void draw_info(const timeline *t, ttm_screen *s, int row) {
  const ttm_state *state = &t->subject->profile->states.at[t->states[t->at]];
  ttm_level level;
  ttm_buf text = {0};
  ttm_state_level(t->subject->profile, t->states[t->at], t->memory, &level);
  put_state(t, state, &level, &text);
  put_next(t, s, state->op, &text);
  ttm_draw_text(s, row, &text);
}

static void put_head(const timeline *t, ttm_buf *out) {
  const ttm_profile *p = t->subject->profile;
  ttm_buf_printf(out, "\x1b[1m%s\x1b[0m", ttm_memory_name(t->memory));
  if (p->ranks.n > 1) ttm_buf_printf(out, " rank %u", p->ranks.at[t->rank]);
  if (!t->n) return ttm_buf_puts(out, ": no state of it is in this log.");
  if (!t->levels[highest(t, 0, t->n)]) return ttm_buf_puts(out, ": nothing was ever allocated in it.");
  ttm_buf_printf(out, "\x1b[2m, MB per %s, capacity ", t->subject->per_chip ? "chip" : "bank");
  ttm_put_mb(out, shown(t, t->capacity));
  ttm_buf_printf(out, "; states %s to ", TTM_COUNT_TEXT(t->from + 1));
  ttm_buf_printf(out, "%s of ", TTM_COUNT_TEXT(t->from + t->count));
  ttm_buf_puts(out, TTM_COUNT_TEXT(t->n));
}

static void draw_timeline(void *view, ttm_screen *s) {
  timeline *t = view;
  int row = TTM_VIEW_ROW, height = ttm_view_height(s) - INFO_ROWS - 4;
  ttm_buf head = {0};
  put_head(t, &head);
  ttm_draw_text(s, row - 1, &head);
  if (!t->n || !t->levels[highest(t, 0, t->n)]) return;
  t->width = s->columns - AXIS - 1;
  uint32_t top = t->whole_scale ? t->capacity : t->levels[highest(t, t->from, t->from + t->count)];
  draw_axis(t, s, row + 1, height, top);
  for (int c = 0; c < t->width; c++) draw_column(t, s, c, row + 1, height, top);
  draw_marks(t, s, row, row + height + 2);
  draw_info(t, s, row + height + 3);
}

/* ---- Keys ---------------------------------------------------------------------------------------------------------- */

/* Keeps the chosen state on show. */
static void follow(timeline *t) {
  if (t->at < t->from) t->from = t->at;
  if (t->at >= t->from + t->count) t->from = t->at - t->count + 1;
  if (t->from + t->count > t->n) t->from = t->n - t->count;
}

static void zoom(timeline *t, bool in) {
  size_t count = in ? t->count / 2 : t->count * 2;
  if (count < 8) count = t->n < 8 ? t->n : 8;
  if (count > t->n) count = t->n;
  size_t before = t->count ? (size_t)((double)(t->at - t->from) * (double)count / (double)t->count) : 0;
  t->from = t->at > before ? t->at - before : 0;
  t->count = count;
  follow(t);
}

static void move_states(timeline *t, bool right, size_t step) {
  size_t room = right ? t->n - 1 - t->at : t->at;
  if (step > room) step = room;
  t->at = right ? t->at + step : t->at - step;
  follow(t);
}

/* So many columns on, to the state that is drawn there; the part on show moves along. Where a state takes several columns, that
 * many of the states they show, at least one. */
static void move(timeline *t, bool right, int columns) {
  double per_column = (double)t->count / t->width;
  size_t before = t->at, from, until;
  if (per_column <= 1) {
    size_t step = (size_t)(per_column * columns);
    return move_states(t, right, step ? step : 1);
  }
  int column = column_of(t, t->at) + (right ? columns : -columns);
  int over = column < 0 ? -column : column >= t->width ? column - t->width + 1 : 0;
  size_t shift = (size_t)((double)over * per_column) + (over > 0), room = right ? t->n - t->count - t->from : t->from;
  if (shift > room) shift = room;
  t->from = right ? t->from + shift : t->from - shift;
  column_part(t, column < 0 ? 0 : column >= t->width ? t->width - 1 : column, &from, &until);
  t->at = highest(t, from, until);
  if (right ? t->at > before : t->at < before) return;
  t->at = before; /* at the end: what is left, one by one */
  move_states(t, right, 1);
}

static void next_memory(timeline *t) {
  t->memory = (ttm_memory)((t->memory + 1) % TTM_MEMORIES);
  gather(t);
}

static bool timeline_key(void *view, ttm_ui *ui, int key) {
  timeline *t = view;
  uint32_t ranks = (uint32_t)t->subject->profile->ranks.n;
  if (key == 'm') return next_memory(t), true;
  if (key == 'r' && ranks > 1) return t->rank = (t->rank + 1) % ranks, gather(t), true;
  if (!t->n) return false;
  switch (key) {
    case TTM_KEY_LEFT:
    case 'h':
      return move(t, false, 1), true;
    case TTM_KEY_RIGHT:
    case 'l':
      return move(t, true, 1), true;
    case TTM_KEY_PAGE_UP:
      return move(t, false, t->width / 2), true;
    case TTM_KEY_PAGE_DOWN:
      return move(t, true, t->width / 2), true;
    case TTM_KEY_HOME:
    case 'g':
      return t->at = 0, follow(t), true;
    case TTM_KEY_END:
    case 'G':
      return t->at = t->n - 1, follow(t), true;
    case '+':
    case '=':
    case 'k':
    case TTM_KEY_UP:
      return zoom(t, true), true;
    case '-':
    case 'j':
    case TTM_KEY_DOWN:
      return zoom(t, false), true;
    case '0':
      return show_all(t), true;
    case 'p':
      return t->at = highest(t, 0, t->n), follow(t), true;
    case 'y':
      return t->whole_scale = !t->whole_scale, true;
    case TTM_KEY_ENTER:
      ttm_ui_show_operation(ui, t->subject->findings, t->subject->profile->states.at[t->states[t->at]].op);
      return true;
    default:
      return false;
  }
}

static const ttm_key_help KEYS[] = {{"h/l", "move"},
                                    {"+/-", "zoom"},
                                    {"m", "memory"},
                                    {"Enter", "details"},
                                    {"p", "to the peak"},
                                    {"0", "show all"},
                                    {"y", "scale to the capacity and back"},
                                    {"r", "next rank"},
                                    {NULL, NULL}};
const ttm_view_class ttm_view_timeline = {.name = "Timeline",
                                          .keys = KEYS,
                                          .make = make_timeline,
                                          .draw = draw_timeline,
                                          .key = timeline_key,
                                          .free = free_timeline};
