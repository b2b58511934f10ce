/* SPDX-License-Identifier: Apache-2.0 */
/* The trace as Chrome's JSON, which chrome://tracing and Tracy's import-chrome read. */
#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"
#include "report/export/export.h"
#include "report/export/trace.h"
#include "report/write/json.h"

typedef struct chrome {
  ttm_trace_sink sink;
  ttm_json json;
  ttm_buf name, shown;
} chrome;

/* Counters and programs are threads of their rank; a tensor is an asynchronous slice, named by its lane. */
static void begin_event(chrome *w, const char *phase, ttm_track track, uint64_t ns) {
  ttm_json *j = &w->json;
  ttm_json_put_object(j, NULL);
  ttm_json_put_str(j, "ph", ttm_str_of(phase));
  ttm_json_put_u64(j, "pid", track.rank + 1);
  ttm_json_put_u64(j, "tid", track.kind == TTM_TRACK_PROGRAMS ? 1 : 2 + (unsigned)track.memory);
  if (ns % 1000)
    ttm_json_put_milli(j, "ts", (int64_t)ns);
  else
    ttm_json_put_u64(j, "ts", ns / 1000);
}

static void end_event(chrome *w) {
  ttm_json_end(&w->json);
  ttm_out_flow(w->sink.out);
}

static void put_metadata(chrome *w, ttm_track track, const char *what) {
  begin_event(w, "M", track, 0);
  ttm_json_put_str(&w->json, "name", ttm_str_of(what));
  ttm_json_put_object(&w->json, "args");
  ttm_json_put_str(&w->json, "name", ttm_buf_str(&w->name));
  ttm_json_end(&w->json);
  end_event(w);
  ttm_buf_clear(&w->name);
}

static void put_track(ttm_trace_sink *sink, ttm_track track) {
  chrome *w = (chrome *)sink;
  if (track.kind != TTM_TRACK_PROGRAMS && (track.kind != TTM_TRACK_TENSORS || track.lane)) return;
  if (track.kind == TTM_TRACK_PROGRAMS) {
    ttm_track_process(&w->name, sink, track.rank);
    put_metadata(w, track, "process_name");
  }
  ttm_track_name(&w->name, sink->profile, track);
  put_metadata(w, track, "thread_name");
}

/* Viewers would show what JSON escapes as it was. */
static void put_foreign(chrome *w, const char *key, ttm_str text) {
  ttm_buf_clear(&w->shown);
  ttm_put_text(&w->shown, text, SIZE_MAX, TTM_FORM_UTF8);
  ttm_json_put_str(&w->json, key, ttm_buf_str(&w->shown));
}

static void put_facts(chrome *w, const ttm_trace_facts *facts) {
  ttm_json *j = &w->json;
  ttm_json_put_object(j, "args");
  if (facts->place.n) put_foreign(w, "place", facts->place);
  if (facts->line) ttm_json_put_u64(j, "log line", facts->line);
  if (facts->index != TTM_NONE) ttm_json_put_u64(j, "operation", facts->index);
  if (facts->bytes) ttm_json_put_u64(j, "bytes per bank", facts->bytes);
  ttm_json_end(j);
}

static void put_id(chrome *w, ttm_track track) {
  char id[24];
  snprintf(id, sizeof id, "%" PRIx64, ttm_track_id(track));
  ttm_json_put_str(&w->json, "cat", TTM_LIT("tensor"));
  ttm_json_put_object(&w->json, "id2"); /* of its process */
  ttm_json_put_str(&w->json, "local", ttm_str_of(id));
  ttm_json_end(&w->json);
}

static void put_begin(ttm_trace_sink *sink, ttm_track track, uint64_t ns, ttm_str name, const ttm_trace_facts *facts) {
  chrome *w = (chrome *)sink;
  bool tensor = track.kind == TTM_TRACK_TENSORS;
  begin_event(w, tensor ? "b" : "B", track, ns);
  put_foreign(w, "name", name);
  if (tensor) put_id(w, track);
  put_facts(w, facts);
  end_event(w);
}

static void put_end(ttm_trace_sink *sink, ttm_track track, uint64_t ns) {
  chrome *w = (chrome *)sink;
  bool tensor = track.kind == TTM_TRACK_TENSORS;
  begin_event(w, tensor ? "e" : "E", track, ns);
  if (tensor) {
    ttm_json_put_str(&w->json, "name", TTM_LIT("")); /* the id tells which */
    put_id(w, track);
  }
  end_event(w);
}

static void put_counter(ttm_trace_sink *sink, ttm_track track, uint64_t ns, uint64_t bytes) {
  chrome *w = (chrome *)sink;
  ttm_track_name(&w->name, sink->profile, track);
  begin_event(w, "C", track, ns);
  ttm_json_put_str(&w->json, "name", ttm_buf_str(&w->name));
  ttm_json_put_object(&w->json, "args");
  ttm_json_put_u64(&w->json, "bytes", bytes);
  ttm_json_end(&w->json);
  end_event(w);
  ttm_buf_clear(&w->name);
}

static void put_instant(ttm_trace_sink *sink, ttm_track track, uint64_t ns, ttm_str name,
                        const ttm_trace_facts *facts) {
  chrome *w = (chrome *)sink;
  begin_event(w, "i", track, ns);
  put_foreign(w, "name", name);
  ttm_json_put_str(&w->json, "s", TTM_LIT("p"));
  put_facts(w, facts);
  end_event(w);
}

int ttm_export_chrome(const ttm_findings *f, const ttm_times *times, ttm_out *out, ttm_error *err) {
  chrome w = {.sink = {out, f->profile, times, put_track, put_begin, put_end, put_counter, put_instant},
              .json = {.out = &out->buf}};
  ttm_json_put_object(&w.json, NULL);
  ttm_json_put_str(&w.json, "displayTimeUnit", TTM_LIT("ns"));
  ttm_json_put_rows(&w.json, "traceEvents");
  int status = ttm_trace(&w.sink, f);
  ttm_json_end(&w.json);
  ttm_json_end(&w.json);
  if (ttm_json_finish(&w.json) || status || w.name.failed || w.shown.failed) status = ttm_error_nomem(err);
  ttm_buf_free(&w.name);
  ttm_buf_free(&w.shown);
  return status;
}
