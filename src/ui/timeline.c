/* SPDX-License-Identifier: Apache-2.0 */
/* A memory over the states of the log, as columns; every column is the highest state in its part, stacked by the classes of what is held. The
 * state that is looked at can be seen in full: its blocks by address, its live tensors. */
#include "analyze/moment.h"
#include "analyze/parts.h"
#include "analyze/words.h"
#include "base/alloc.h"
#include "base/format.h"
#include "report/run/ask.h"
#include "ui/report.h"
#include "ui/text_lines.h"

enum { AXIS = 11, INFO_ROWS = 4, LEAST_CHART = 5, TALL = 40 };

typedef enum sight { CHART, BLOCKS, ALIVE, SIGHTS } sight;

typedef struct timeline {
  const ttm_ui_subject *subject;
  ttm_memory memory;
  uint32_t rank;
  uint32_t *states, *levels; /* of that memory and rank, in log order */
  size_t n;
  uint32_t capacity;
  size_t from, count;                  /* the part on show */
  size_t at;                           /* the state that is looked at */
  bool whole_scale;                    /* the top is the capacity, not the highest state on show */
  int width;                           /* columns of the last drawing */
  const ttm_occupancy *occupancy;      /* of the rank; NULL when the input does not tell */
  ttm_occupancy own;                   /* of a rank that is not the subject's */
  uint64_t (*sums)[TTM_ALIVE_CLASSES]; /* bytes by class of each column ... */
  size_t sums_from, sums_count;        /* ... of that part, and so many columns */
  int sums_width;
  sight sight;
  ttm_moment moment; /* at state `moment_of` */
  uint32_t moment_of;
  ttm_text_lines alive; /* its live tensors ... */
  bool alive_per_chip;  /* ... in figures of a chip ... */
  int alive_rows;       /* ... on so many rows */
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
  t->sums_width = 0;
  t->moment_of = TTM_NONE;
}

/* What is held in the rank: the subject's, else its own. Without memory the columns are not told apart. */
static void occupy(timeline *t) {
  const ttm_occupancy *shared = &t->subject->occupancy;
  ttm_occupancy_free(&t->own);
  t->own = (ttm_occupancy){0};
  t->occupancy = shared->rows.n && shared->rank == t->rank ? shared : NULL;
  if (t->occupancy || !ttm_occupancy_possible(t->subject->profile)) return;
  if (!ttm_occupancy_make(&t->own, t->subject->findings, t->rank) && t->own.rows.n) t->occupancy = &t->own;
}

static bool is_stacked(const timeline *t) { return t->occupancy && t->memory <= TTM_L1; }

static void free_timeline(void *view) {
  timeline *t = view;
  ttm_occupancy_free(&t->own);
  ttm_moment_free(&t->moment);
  ttm_text_lines_free(&t->alive);
  ttm_free(t->sums);
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
  t->memory = ttm_findings_memory(subject->findings, 0);
  const ttm_peak *peak = &subject->findings->peak[t->memory];
  if (peak->known && peak->state != TTM_NONE) t->rank = ttm_state_rank(subject->profile, peak->state);
  occupy(t);
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

/* ---- Classes ------------------------------------------------------------------------------------------------------- */

/* The first column whose state is not before `state`. */
static size_t column_from(const uint32_t *states, size_t n, uint32_t state) {
  size_t low = 0;
  while (low < n) {
    size_t middle = low + (n - low) / 2;
    if (states[middle] < state)
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

static void add_held(timeline *t, int class, size_t from, size_t until, uint64_t bytes) {
  if (from >= until) return;
  t->sums[from][class] += bytes;
  t->sums[until][class] -= bytes; /* differences, summed up at the end */
}

/* What nothing names is what is missing to the level. */
static void complete(uint64_t sums[TTM_ALIVE_CLASSES], uint64_t level) {
  uint64_t all = 0;
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) all += sums[c];
  if (level > all + TTM_LEVEL_SLACK) sums[TTM_ALIVE_UNACCOUNTED] += level - all;
}

/* Sums up what is held in each column; again only when other columns are shown. */
static bool sum_up(timeline *t) {
  size_t n = (size_t)t->width, from, until;
  if (t->sums_width == t->width && t->sums_from == t->from && t->sums_count == t->count) return true;
  ttm_free(t->sums);
  t->sums = ttm_alloc_array(n + 1, sizeof *t->sums);
  uint32_t *states = ttm_alloc_array(n, sizeof *states);
  bool fine = t->sums && states;
  for (size_t c = 0; c < n && fine; c++)
    column_part(t, (int)c, &from, &until), states[c] = t->states[highest(t, from, until)];
  for (size_t i = 0; i < t->occupancy->rows.n && fine; i++) {
    const ttm_occupant *o = &t->occupancy->rows.at[i];
    if (o->memory != (t->memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM)) continue;
    size_t first = column_from(states, n, o->state_from), end = column_from(states, n, o->state_to);
    size_t kept = o->state_kept == TTM_NONE ? end : column_from(states, n, o->state_kept);
    if (kept > end) kept = end;
    if (kept < first) kept = first;
    add_held(t, o->class, first, kept, o->bytes);
    add_held(t, TTM_ALIVE_KEPT, kept, end, o->bytes);
  }
  for (size_t c = 1; c < n && fine; c++)
    for (int k = 0; k < TTM_ALIVE_CLASSES; k++) t->sums[c][k] += t->sums[c - 1][k];
  for (size_t c = 0; c < n && fine; c++)
    column_part(t, (int)c, &from, &until), complete(t->sums[c], ttm_level_bytes(t->levels[highest(t, from, until)]));
  ttm_free(states);
  t->sums_from = t->from, t->sums_count = t->count, t->sums_width = fine ? t->width : 0;
  return fine;
}

/* The class that the stack has at a height in bytes. */
static int class_at(const uint64_t sums[TTM_ALIVE_CLASSES], double height) {
  double below = 0;
  int last = TTM_ALIVE_UNACCOUNTED;
  for (int c = 0; c < TTM_ALIVE_CLASSES; c++) {
    if (!sums[c]) continue;
    below += (double)sums[c];
    last = c;
    if (height < below) return c;
  }
  return last;
}

/* A letter for each row of the stack; its upper end is finer where the terminal can show it. */
static void draw_stack(const timeline *t, ttm_screen *s, int column, int row, int height, uint32_t top) {
  size_t from, until;
  column_part(t, column, &from, &until);
  uint32_t level = t->levels[highest(t, from, until)];
  bool chosen = t->at >= from && t->at < until;
  double cells = top ? (double)level / top * height : 0, bytes = (double)ttm_level_bytes(top) / height;
  for (int r = 0; r < height; r++) {
    double filled = cells - (height - 1 - r);
    bool least = filled > 0 && r == height - 1, whole = filled >= (s->utf8 ? 1 : 0.5) || (least && !s->utf8);
    int eighths = filled >= 0.125 ? (int)(filled * 8) : least;
    int class = class_at(t->sums[column], (height - 1 - r + (filled < 1 ? filled / 2 : 0.5)) * bytes);
    char letter[2] = {ttm_class_letter(t->subject->profile, (ttm_alive_class) class), '\0'};
    ttm_style style = (ttm_style)((whole ? TTM_STYLE_CLASS : TTM_STYLE_EDGE) + class);
    const char *sign = whole ? letter : filled > 0 && s->utf8 ? ttm_column_eighths[eighths] : " ";
    if (chosen && sign[0] == ' ') sign = ttm_sign(s, "\xE2\x94\x8A", ":");
    if (chosen) style = whole ? TTM_STYLE_SELECTED : TTM_STYLE_ACCENT;
    if (sign[0] != ' ') ttm_screen_words(s, row + r, AXIS + column, style, sign);
  }
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

static void draw_figure(ttm_screen *s, int row, double mb) {
  ttm_buf words = {0};
  ttm_put_figure(&words, "", mb);
  ttm_screen_view(s, row, 0, TTM_STYLE_DIM, ttm_buf_str(&words));
  ttm_buf_free(&words);
}

static void draw_axis(const timeline *t, ttm_screen *s, int row, int height, uint32_t top) {
  for (int r = 0; r < height; r++) {
    bool marked = r == 0 || (height >= 6 && r == height / 2);
    if (marked) draw_figure(s, row + r, shown(t, top) * (height - r) / height);
    ttm_screen_words(s, row + r, AXIS - 1, TTM_STYLE_DIM,
                     marked ? ttm_sign(s, "\xE2\x94\xA4", "+") : ttm_sign(s, "\xE2\x94\x82", "|"));
  }
  draw_figure(s, row + height, 0);
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

static void put_info(const timeline *t, const ttm_screen *s, ttm_buf *out) {
  const ttm_state *state = &t->subject->profile->states.at[t->states[t->at]];
  ttm_level level;
  ttm_state_level(t->subject->profile, t->states[t->at], t->memory, &level);
  put_state(t, state, &level, out);
  put_next(t, s, state->op, out);
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

/* Marks, columns, axis and arrow on `rows` rows. */
static void draw_chart(timeline *t, ttm_screen *s, int row, int rows) {
  int height = rows - 3;
  uint32_t top = t->whole_scale ? t->capacity : t->levels[highest(t, t->from, t->from + t->count)];
  bool stacked = is_stacked(t) && sum_up(t);
  draw_axis(t, s, row + 1, height, top);
  for (int c = 0; c < t->width; c++) (stacked ? draw_stack : draw_column)(t, s, c, row + 1, height, top);
  draw_marks(t, s, row, row + height + 2);
}

/* ---- The state in full --------------------------------------------------------------------------------------------- */

/* What there is at the state that is looked at; false without memory. */
static bool look(timeline *t) {
  const ttm_profile *p = t->subject->profile;
  uint32_t state = t->states[t->at];
  if (t->moment_of == state) return true;
  ttm_moment_free(&t->moment);
  t->moment = (ttm_moment){0};
  t->alive.columns = 0, t->alive.top = 0;
  ttm_buf_free(&t->alive.text);
  ttm_instant at = {p->states.at[state].op < p->ops.n ? p->states.at[state].op : ttm_op_after_state(p, state, 0),
                    state};
  bool fine = !ttm_moment_make(&t->moment, t->occupancy, t->memory, at);
  t->moment_of = fine ? state : TTM_NONE;
  return fine;
}

/* The addresses that are ever in use and a little around them, so that the map keeps its scale from state to state; all of the bank where that is
 * nearly the same. */
static ttm_extent used_part(const timeline *t) {
  int which = t->memory == TTM_L1 ? TTM_REPLAY_L1 : TTM_REPLAY_DRAM;
  uint64_t base = t->occupancy->memories[which].base, top = base + t->moment.total, first = top, end = base;
  for (size_t i = 0; i < t->occupancy->rows.n && !t->whole_scale; i++) {
    const ttm_occupant *o = &t->occupancy->rows.at[i];
    if (o->memory != which || o->at == TTM_UNKNOWN) continue;
    if (o->at < first) first = o->at;
    if (o->at + o->bytes > end) end = o->at + o->bytes;
  }
  if (first >= end || first < base) return (ttm_extent){base, t->moment.total};
  uint64_t around = (end - first) / 4;
  first = first - base > around ? first - around : base;
  end = end + around < top ? end + around : top;
  bool small = first < end && (end - first) / 9 < t->moment.total / 10;
  return small ? (ttm_extent){first, end - first} : (ttm_extent){base, t->moment.total};
}

static void draw_alive(timeline *t, ttm_screen *s, int row, int height) {
  if (t->alive.columns != s->columns || t->alive_per_chip != t->subject->per_chip) {
    t->alive_per_chip = t->subject->per_chip;
    ttm_buf text = {0};
    ttm_doc doc = {.out = &text, .columns = (unsigned)s->columns - 2, .color = true, .utf8 = s->utf8};
    if (ttm_ask_moment(&(ttm_ask){.f = t->subject->findings, .doc = &doc, .per_chip = t->subject->per_chip},
                       &t->moment))
      text.failed = true;
    if (ttm_doc_end(&doc)) text.failed = true;
    ttm_text_lines_take(&t->alive, &text);
  }
  t->alive_rows = height;
  ttm_text_lines_draw(&t->alive, s, row, height);
}

static void draw_sight(timeline *t, ttm_screen *s, int row, int height) {
  const ttm_statement *unknown = ttm_statements_first(&t->subject->findings->statements, TTM_TOPIC_ALIVE);
  ttm_buf why = {0};
  if (is_stacked(t) && look(t)) {
    if (t->sight == BLOCKS) return ttm_draw_blocks(s, row, height, &t->moment, used_part(t));
    return draw_alive(t, s, row, height);
  }
  if (is_stacked(t))
    ttm_buf_puts(&why, "Out of memory on this host.");
  else if (t->memory <= TTM_L1 && unknown)
    ttm_put_text(&why, unknown->headline, SIZE_MAX, ttm_screen_form(s)), ttm_buf_char(&why, '.');
  else
    ttm_buf_printf(&why, "Blocks and live tensors are shown of DRAM and L1, not of %s.", ttm_memory_name(t->memory));
  ttm_draw_text(s, row, &why);
}

static void draw_timeline(void *view, ttm_screen *s) {
  timeline *t = view;
  int row = TTM_VIEW_ROW, height = ttm_view_height(s);
  bool both = s->rows >= TALL && t->sight != CHART;
  ttm_buf words = {0};
  put_head(t, &words);
  ttm_draw_text(s, row - 1, &words);
  if (!t->n || !t->levels[highest(t, 0, t->n)]) return;
  t->width = s->columns - AXIS - 1;
  if (both) draw_chart(t, s, row, height * 2 / 5);
  if (t->sight != CHART) {
    int below = row + (both ? height * 2 / 5 : 0);
    return draw_sight(t, s, below, s->rows - 1 - below);
  }
  if (is_stacked(t) && look(t)) {
    ttm_put_classes(&words, t->subject->profile, t->moment.set.by_class, ttm_view_banks(t->subject, t->memory));
    ttm_buf_char(&words, '\n');
  }
  put_info(t, s, &words);
  int info = ttm_text_rows(s, &words);
  if (info < INFO_ROWS) info = INFO_ROWS; /* so that the chart keeps its height */
  if (height - info < LEAST_CHART) info = height;
  if (info < height) draw_chart(t, s, row, height - info);
  ttm_draw_text(s, row + height - info, &words);
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
  if (key == 'v') return t->sight = (sight)((t->sight + 1) % SIGHTS), true;
  if (key == 'r' && ranks > 1) return t->rank = (t->rank + 1) % ranks, occupy(t), gather(t), true;
  if (!t->n) return false;
  if (t->sight == ALIVE && (key == TTM_KEY_UP || key == TTM_KEY_DOWN || key == 'j' || key == 'k'))
    return ttm_text_lines_key(&t->alive, key, t->alive_rows);
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

static const ttm_key_help KEYS[] = {
    {"h/l", "move"},      {"+/-", "zoom"},      {"v", "blocks/tensors"}, {"m", "memory"},
    {"Enter", "details"}, {"p", "to the peak"}, {"0", "show all"},       {"y", "scale to the capacity and back"},
    {"r", "next rank"},   {NULL, NULL}};
const ttm_view_class ttm_view_timeline = {.name = "Timeline",
                                          .keys = KEYS,
                                          .make = make_timeline,
                                          .draw = draw_timeline,
                                          .key = timeline_key,
                                          .free = free_timeline};
