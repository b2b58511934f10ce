/* SPDX-License-Identifier: Apache-2.0 */
/* What memory is held by, as a profile of pprof (proto/profile.proto of google/pprof, gzipped): a sample per tensor of the program, its stack the
 * module path with the operation below it, under its class. */
#include <zlib.h>

#include "analyze/occupancy.h"
#include "analyze/words.h"
#include "base/format.h"
#include "base/intern.h"
#include "report/export/export.h"
#include "report/export/protobuf.h"

enum {
  PROFILE_TYPE = 1,
  PROFILE_SAMPLE = 2,
  PROFILE_LOCATION = 4,
  PROFILE_FUNCTION = 5,
  PROFILE_STRING = 6,
  PROFILE_DEFAULT = 14
};
enum { TYPE_NAME = 1, TYPE_UNIT = 2, SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, FUNCTION_ID = 1, FUNCTION_NAME = 2 };
enum { AT_PEAK, ALLOCATED, HELD, VALUES };

/* Tensors of one class, name and maker. */
typedef struct sample {
  uint64_t value[TTM_REPLAY_MEMORIES][VALUES]; /* bytes of a chip; HELD: times operations */
  uint32_t row;                                /* the first of them */
} sample;

typedef struct pprof {
  const ttm_findings *f;
  const ttm_profile *p;
  ttm_intern strings;       /* id 0 is "", as the form asks */
  TTM_VEC(uint32_t) frames; /* strings that have a location and a function: numbered by their string */
  ttm_map framed;
  ttm_map by_key; /* sample + 1 */
  TTM_VEC(sample) samples;
  ttm_buf body, message, inner, clean;
  bool failed;
} pprof;

static uint32_t string_of(pprof *w, ttm_str text) {
  uint32_t id = 0;
  ttm_buf_clear(&w->clean);
  ttm_put_text(&w->clean, text, SIZE_MAX, TTM_FORM_UTF8);
  if (ttm_intern_add(&w->strings, ttm_buf_str(&w->clean), &id)) w->failed = true;
  return id;
}

/* ---- Gathering --------------------------------------------------------------------------------------------------------------- */

static bool is_at_peak(const pprof *w, const ttm_occupant *o, uint32_t rank) {
  ttm_memory memory = o->memory == TTM_REPLAY_L1 ? TTM_L1 : TTM_DRAM;
  const ttm_peak *peak = &w->f->peak[memory];
  if (!peak->known || ttm_state_rank(w->p, peak->state) != rank) return false;
  if (peak->before < w->p->ops.n) return ttm_occupant_is_there(o, peak->before);
  return o->state_from <= peak->state && peak->state < o->state_to;
}

static void add_row(pprof *w, const ttm_occupancy *held, uint32_t i) {
  const ttm_occupant *o = &held->rows.at[i];
  uint64_t text = o->op < w->p->ops.n ? w->p->ops.at[o->op].text + UINT64_C(1) : 0;
  uint64_t key = (text << 28 ^ o->name) * TTM_ALIVE_CLASSES + o->class;
  uint32_t at = ttm_map_get(&w->by_key, key, 0);
  if (!at) {
    if (ttm_vec_push(&w->samples, (sample){.row = i})) w->failed = true;
    at = (uint32_t)w->samples.n;
    if (w->failed || ttm_map_set(&w->by_key, key, at)) w->failed = true;
  }
  if (w->failed) return;
  uint64_t *value = w->samples.at[at - 1].value[o->memory];
  uint64_t bytes = o->bytes * held->memories[o->memory].banks;
  uint32_t end = o->to == TTM_NONE ? (uint32_t)w->p->ops.n : o->to;
  value[ALLOCATED] += bytes;
  value[HELD] += end > o->from ? bytes * (end - o->from) : 0;
  value[AT_PEAK] += is_at_peak(w, o, held->rank) ? bytes : 0;
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------------------ */

static uint64_t frame_of(pprof *w, ttm_str name) {
  uint32_t string = string_of(w, name);
  if (!w->failed && !ttm_map_get(&w->framed, string, 0)) {
    if (ttm_map_set(&w->framed, string, 1) || ttm_vec_push(&w->frames, string)) w->failed = true;
  }
  return string;
}

/* "layers.0|MLP|dot.1" at its bars; "model.layers.0.weight" at its dots; a file with its line is one frame. */
static char separator_of(ttm_str path) {
  if (memchr(path.p, '|', path.n)) return '|';
  return memchr(path.p, '/', path.n) || memchr(path.p, ':', path.n) ? '\0' : '.';
}

static bool is_number(ttm_str text) {
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i] < '0' || text.p[i] > '9') return false;
  return text.n > 0;
}

/* Innermost first, as pprof has it. A number goes with the word before it: "layers.0". */
static void put_path(pprof *w, ttm_str path) {
  char separator = path.n ? separator_of(path) : '\0';
  for (size_t end = path.n; end > 0;) {
    size_t start = end;
    while (start > 0 && path.p[start - 1] != separator) start--;
    if (start > 1 && is_number((ttm_str){path.p + start, end - start}))
      for (start--; start > 0 && path.p[start - 1] != separator;) start--;
    if (end > start) ttm_proto_varint(&w->inner, frame_of(w, (ttm_str){path.p + start, end - start}));
    end = start ? start - 1 : 0;
  }
}

static void put_sample(pprof *w, const ttm_occupancy *held, const sample *s) {
  const ttm_occupant *o = &held->rows.at[s->row];
  bool made = o->op < w->p->ops.n;
  ttm_str name = o->name ? ttm_profile_string(w->p, o->name) : made ? ttm_words_location(w->p, o->op) : TTM_LIT("");
  if (made) ttm_proto_varint(&w->inner, frame_of(w, ttm_words_name(w->p, o->op)));
  put_path(w, name);
  ttm_proto_varint(&w->inner, frame_of(w, ttm_str_of(ttm_words_class(w->p, (ttm_alive_class)o->class))));
  ttm_proto_message(&w->message, SAMPLE_LOCATIONS, &w->inner);
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++)
    for (int v = 0; v < VALUES; v++) ttm_proto_varint(&w->inner, s->value[m][v]);
  ttm_proto_message(&w->message, SAMPLE_VALUES, &w->inner);
  ttm_proto_message(&w->body, PROFILE_SAMPLE, &w->message);
}

/* ---- The tables -------------------------------------------------------------------------------------------------------------- */

static void put_types(pprof *w) {
  static const char *const names[TTM_REPLAY_MEMORIES][VALUES] = {{"dram_at_peak", "dram_allocated", "dram_held"},
                                                                 {"l1_at_peak", "l1_allocated", "l1_held"}};
  for (int m = 0; m < TTM_REPLAY_MEMORIES; m++) {
    for (int v = 0; v < VALUES; v++) {
      ttm_proto_number(&w->message, TYPE_NAME, string_of(w, ttm_str_of(names[m][v])));
      ttm_proto_number(&w->message, TYPE_UNIT, string_of(w, v == HELD ? TTM_LIT("byte_operations") : TTM_LIT("bytes")));
      ttm_proto_message(&w->body, PROFILE_TYPE, &w->message);
    }
  }
  ttm_proto_number(&w->body, PROFILE_DEFAULT, string_of(w, TTM_LIT("dram_at_peak")));
}

static void put_frames(pprof *w) {
  for (size_t i = 0; i < w->frames.n; i++) {
    ttm_proto_number(&w->inner, LINE_FUNCTION, w->frames.at[i]);
    ttm_proto_number(&w->message, LOCATION_ID, w->frames.at[i]);
    ttm_proto_message(&w->message, LOCATION_LINE, &w->inner);
    ttm_proto_message(&w->body, PROFILE_LOCATION, &w->message);
    ttm_proto_number(&w->message, FUNCTION_ID, w->frames.at[i]);
    ttm_proto_number(&w->message, FUNCTION_NAME, w->frames.at[i]);
    ttm_proto_message(&w->body, PROFILE_FUNCTION, &w->message);
  }
  for (size_t i = 0; i < w->strings.strings.n; i++)
    ttm_proto_bytes(&w->body, PROFILE_STRING, ttm_intern_get(&w->strings, (uint32_t)i));
}

static int put_packed(const pprof *w, ttm_out *out) {
  z_stream z = {.next_in = (Bytef *)w->body.at, .avail_in = (uInt)w->body.n};
  enum { GZIP = 16 + MAX_WBITS };
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) return TTM_ENOMEM;
  uLong bound = deflateBound(&z, (uLong)w->body.n);
  bool room = ttm_buf_room(&out->buf, bound);
  if (room) {
    z.next_out = (Bytef *)out->buf.at + out->buf.n;
    z.avail_out = (uInt)bound;
    room = deflate(&z, Z_FINISH) == Z_STREAM_END;
    out->buf.n += z.total_out;
  }
  deflateEnd(&z);
  return room ? TTM_OK : TTM_ENOMEM;
}

static int put_profile(pprof *w, const ttm_occupancy *held) {
  string_of(w, TTM_LIT(""));
  put_types(w);
  for (uint32_t i = 0; i < held->rows.n && !w->failed; i++) add_row(w, held, i);
  for (size_t i = 0; i < w->samples.n && !w->failed; i++) put_sample(w, held, &w->samples.at[i]);
  put_frames(w);
  return w->failed || w->body.failed || w->message.failed || w->inner.failed || w->clean.failed ? TTM_ENOMEM : TTM_OK;
}

int ttm_export_pprof(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err) {
  (void)times;
  pprof w = {.f = f, .p = f->profile};
  ttm_occupancy held = {.findings = f};
  const ttm_peak *peak = &f->peak[TTM_DRAM];
  uint32_t rank = peak->known ? ttm_state_rank(w.p, peak->state) : 0;
  if (!ttm_occupancy_possible(w.p))
    return ttm_error_set(err, TTM_ENODATA, "Who holds the memory is unknown: %s", ttm_words_lives_unknown(f));
  int status = ttm_occupancy_make(&held, f, rank);
  if (!status) status = put_profile(&w, &held);
  if (!status) status = put_packed(&w, out);
  if (status) status = ttm_error_nomem(err);
  ttm_buf *buffers[] = {&w.body, &w.message, &w.inner, &w.clean};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) ttm_buf_free(buffers[i]);
  ttm_intern_free(&w.strings);
  ttm_map_free(&w.framed);
  ttm_map_free(&w.by_key);
  ttm_vec_free(&w.frames);
  ttm_vec_free(&w.samples);
  ttm_occupancy_free(&held);
  return status;
}
