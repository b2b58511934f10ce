/* SPDX-License-Identifier: Apache-2.0 */
/* The trace in Perfetto's own form (protos/perfetto/trace/trace.proto): packets of one sequence; names and places are told once and then named by
 * number. */
#include "base/format.h"
#include "base/intern.h"
#include "report/export/export.h"
#include "report/export/protobuf.h"
#include "report/export/trace.h"

/* Numbers of the fields, as in the .proto files. */
enum { TRACE_PACKET = 1 };
enum {
  PACKET_CLOCKS = 6,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE = 10,
  PACKET_EVENT = 11,
  PACKET_INTERNED = 12,
  PACKET_FLAGS = 13,
  PACKET_TRACK = 60
};
enum { CLOCKS_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_REAL = 1, CLOCK_BOOT = 6 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_INTERNED = 2, SEQUENCE = 1 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME = 10, EVENT_TRACK = 11, EVENT_COUNTER = 30 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { ANNOTATION_KEY = 1, ANNOTATION_UINT = 3, ANNOTATION_TEXT = 17 };
enum { INTERNED_NAMES = 2, INTERNED_KEYS = 3, INTERNED_TEXTS = 29, INTERNED_ID = 1, INTERNED_VALUE = 2 };
enum { KEY_PLACE = 1, KEY_LINE, KEY_INDEX, KEY_BYTES, KEYS };

typedef struct perfetto {
  ttm_trace_sink sink;
  ttm_intern names, texts;
  ttm_buf packet, event, inner, interned, clean;
  bool begun, failed;
  TTM_VEC(bool) processes; /* by rank: told */
} perfetto;

static void put_packet(perfetto *w) {
  if (w->interned.n) ttm_proto_message(&w->packet, PACKET_INTERNED, &w->interned);
  ttm_proto_number(&w->packet, PACKET_SEQUENCE, SEQUENCE);
  ttm_proto_number(&w->packet, PACKET_FLAGS, w->begun ? FLAG_NEEDS_INTERNED : FLAG_CLEARED);
  w->begun = true;
  ttm_proto_message(&w->sink.out->buf, TRACE_PACKET, &w->packet);
}

static void intern_entry(perfetto *w, uint32_t field, uint64_t id, ttm_str text) {
  ttm_proto_number(&w->inner, INTERNED_ID, id);
  ttm_proto_bytes(&w->inner, INTERNED_VALUE, text);
  ttm_proto_message(&w->interned, field, &w->inner);
}

/* The number of a text; a new one is told with the packet that needs it first. */
static uint64_t number_of(perfetto *w, ttm_intern *all, uint32_t field, ttm_str text) {
  size_t known = all->strings.n;
  uint32_t id = 0;
  if (ttm_intern_add(all, text, &id)) w->failed = true;
  if (all->strings.n > known) {
    ttm_buf_clear(&w->clean);
    ttm_put_text(&w->clean, text, SIZE_MAX, TTM_FORM_UTF8);
    intern_entry(w, field, (uint64_t)id + 1, ttm_buf_str(&w->clean));
  }
  return (uint64_t)id + 1;
}

static void begin_sequence(perfetto *w) {
  static const char *const keys[KEYS] = {
      [KEY_PLACE] = "place", [KEY_LINE] = "log line", [KEY_INDEX] = "operation", [KEY_BYTES] = "bytes per bank"};
  for (uint32_t k = KEY_PLACE; k < KEYS; k++) intern_entry(w, INTERNED_KEYS, k, ttm_str_of(keys[k]));
  put_packet(w);
}

static void put_clock(perfetto *w, uint32_t id, uint64_t ns) {
  ttm_proto_number(&w->inner, CLOCK_ID, id);
  ttm_proto_number(&w->inner, CLOCK_TIMESTAMP, ns);
  ttm_proto_message(&w->event, CLOCKS_CLOCK, &w->inner);
}

/* What time of day the start of the trace is: the UI shows it when asked for. */
static void put_clocks(perfetto *w) {
  if (!w->sink.times->start) return;
  put_clock(w, CLOCK_BOOT, 0);
  put_clock(w, CLOCK_REAL, w->sink.times->start);
  ttm_proto_message(&w->packet, PACKET_CLOCKS, &w->event);
  put_packet(w);
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------------------ */

static uint64_t process_id(uint32_t rank) { return UINT64_C(1) << 63 | rank; }

static void put_process(perfetto *w, uint32_t rank) {
  while (w->processes.n <= rank && !w->failed) w->failed = ttm_vec_push(&w->processes, false);
  if (w->failed || w->processes.at[rank]) return;
  w->processes.at[rank] = true;
  ttm_buf_clear(&w->clean);
  ttm_track_process(&w->clean, &w->sink, rank);
  ttm_proto_number(&w->inner, PROCESS_PID, rank + 1);
  ttm_proto_bytes(&w->inner, PROCESS_NAME, ttm_buf_str(&w->clean));
  ttm_proto_number(&w->event, TRACK_UUID, process_id(rank));
  ttm_proto_message(&w->event, TRACK_PROCESS, &w->inner);
  ttm_proto_message(&w->packet, PACKET_TRACK, &w->event);
  put_packet(w);
}

static void put_track(ttm_trace_sink *sink, ttm_track track) {
  perfetto *w = (perfetto *)sink;
  put_process(w, track.rank);
  ttm_buf_clear(&w->clean);
  ttm_track_name(&w->clean, sink->profile, track);
  ttm_proto_number(&w->event, TRACK_UUID, ttm_track_id(track));
  ttm_proto_bytes(&w->event, TRACK_NAME, ttm_buf_str(&w->clean));
  ttm_proto_number(&w->event, TRACK_PARENT, process_id(track.rank));
  if (track.kind == TTM_TRACK_ALLOCATED || track.kind == TTM_TRACK_LARGEST) {
    ttm_proto_number(&w->inner, COUNTER_UNIT, UNIT_BYTES);
    ttm_proto_message(&w->event, TRACK_COUNTER, &w->inner);
  }
  ttm_proto_message(&w->packet, PACKET_TRACK, &w->event);
  put_packet(w);
}

/* ---- Events ------------------------------------------------------------------------------------------------------------------ */

static void annotate(perfetto *w, uint32_t key, uint32_t kind, uint64_t value) {
  ttm_proto_number(&w->clean, ANNOTATION_KEY, key);
  ttm_proto_number(&w->clean, kind, value);
  ttm_proto_message(&w->event, EVENT_ANNOTATION, &w->clean);
}

static void put_facts(perfetto *w, const ttm_trace_facts *facts) {
  uint64_t place = facts->place.n ? number_of(w, &w->texts, INTERNED_TEXTS, facts->place) : 0;
  ttm_buf_clear(&w->clean);
  if (place) annotate(w, KEY_PLACE, ANNOTATION_TEXT, place);
  if (facts->line) annotate(w, KEY_LINE, ANNOTATION_UINT, facts->line);
  if (facts->index != TTM_NONE) annotate(w, KEY_INDEX, ANNOTATION_UINT, facts->index);
  if (facts->bytes) annotate(w, KEY_BYTES, ANNOTATION_UINT, facts->bytes);
}

static void end_event(perfetto *w, ttm_track track, uint64_t ns, uint32_t type) {
  ttm_proto_number(&w->event, EVENT_TYPE, type);
  ttm_proto_number(&w->event, EVENT_TRACK, ttm_track_id(track));
  ttm_proto_number(&w->packet, PACKET_TIMESTAMP, ns);
  ttm_proto_message(&w->packet, PACKET_EVENT, &w->event);
  put_packet(w);
}

static void put_named(perfetto *w, ttm_track track, uint64_t ns, ttm_str name, const ttm_trace_facts *facts,
                      uint32_t type) {
  ttm_proto_number(&w->event, EVENT_NAME, number_of(w, &w->names, INTERNED_NAMES, name));
  put_facts(w, facts);
  end_event(w, track, ns, type);
}

static void put_begin(ttm_trace_sink *sink, ttm_track track, uint64_t ns, ttm_str name, const ttm_trace_facts *facts) {
  put_named((perfetto *)sink, track, ns, name, facts, TYPE_BEGIN);
}

static void put_instant(ttm_trace_sink *sink, ttm_track track, uint64_t ns, ttm_str name,
                        const ttm_trace_facts *facts) {
  put_named((perfetto *)sink, track, ns, name, facts, TYPE_INSTANT);
}

static void put_end(ttm_trace_sink *sink, ttm_track track, uint64_t ns) {
  end_event((perfetto *)sink, track, ns, TYPE_END);
}

static void put_counter(ttm_trace_sink *sink, ttm_track track, uint64_t ns, uint64_t bytes) {
  ttm_proto_number(&((perfetto *)sink)->event, EVENT_COUNTER, bytes);
  end_event((perfetto *)sink, track, ns, TYPE_COUNTER);
}

int ttm_export_perfetto(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err) {
  perfetto w = {.sink = {out, f->profile, times, put_track, put_begin, put_end, put_counter, put_instant}};
  begin_sequence(&w);
  put_clocks(&w);
  int status = ttm_trace(&w.sink, f);
  w.failed |= w.packet.failed || w.event.failed || w.inner.failed || w.interned.failed || w.clean.failed;
  if (status || w.failed) status = ttm_error_nomem(err);
  ttm_buf *buffers[] = {&w.packet, &w.event, &w.inner, &w.interned, &w.clean};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) ttm_buf_free(buffers[i]);
  ttm_intern_free(&w.names);
  ttm_intern_free(&w.texts);
  ttm_vec_free(&w.processes);
  return status;
}
