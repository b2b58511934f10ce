/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an input, sees what it is and hands it to its loader. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <time.h>

#include "base/error.h"
#include "base/sized.h"
#include "parse/capture.h"
#include "parse/live_record.h"
#include "parse/memory_report.h"
#include "parse/module.h"
#include "parse/visualizer.h"
#include "profile/diagnose.h"
#include "profile/feed.h"
#include "profile/load/load.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int ttm_input_progress(ttm_input *in, uint64_t position, uint64_t operations, ttm_error *err) {
  if (!in->options.on_progress || !in->chunker.source) return TTM_OK;
  double t = now();
  if (t - in->reported_at < 0.1) return TTM_OK;
  in->reported_at = t;
  uint64_t total = ttm_source_size(in->chunker.source);
  ttm_progress progress = {
      .read_bytes = total && position > total ? total : position, .total_bytes = total, .operations = operations};
  if (!in->options.on_progress(in->options.context, &progress)) return TTM_OK;
  return ttm_error_set(err, TTM_ECANCELED, "reading was canceled by the caller");
}

/* The loader of an input that begins so; a log is what nothing else is. */
static ttm_loader *loader_of(ttm_str first) {
  if (ttm_visualizer_detect(first)) return ttm_load_visualizer;
  if (first.n && ttm_live_record_detect(first)) return ttm_load_live;
  if (first.n && ttm_module_detect(first)) return ttm_load_module;
  if (first.n && ttm_memory_report_detect(first)) return ttm_load_memory_report;
  return first.n && ttm_capture_detect(first) ? ttm_load_graph : ttm_load_log;
}

static int load(ttm_profile **out, ttm_loader *loader, const char *path, ttm_input *in, ttm_error *err) {
  ttm_builder builder;
  int rc = ttm_builder_begin(&builder, path, in->options.keep_ir) ? ttm_error_nomem(err) : loader(&builder, in, err);
  if (!rc) *out = ttm_builder_take(&builder);
  ttm_builder_free(&builder);
  return rc;
}

/* The first bytes, enough to tell what the input is; they wait in the chunker. */
static int look_ahead(ttm_chunker *chunker, ttm_error *err) {
  enum { LOOK = 4096 };
  ttm_buf *carry = &chunker->carry;
  size_t got = 1;
  while (carry->n < LOOK && got) {
    if (!ttm_buf_room(carry, LOOK)) return ttm_error_nomem(err);
    int rc = ttm_source_read(chunker->source, carry->at + carry->n, LOOK - carry->n, &got, err);
    if (rc) return rc;
    carry->n += got;
  }
  return TTM_OK;
}

int ttm_profile_read_opts(ttm_profile **out, const char *path, const ttm_read_options *options, ttm_error *err) {
  ttm_input in = {.path = path, .options = TTM_READ_OPTIONS_INIT};
  int rc = ttm_sized_take(&in.options, sizeof in.options, options, err);
  if (!rc) rc = ttm_source_open(&in.chunker.source, path, err);
  if (rc) return rc;
  ttm_fingerprint file;
  if (ttm_fingerprint_of_source(&file, in.chunker.source)) rc = ttm_error_nomem(err);
  if (!rc) rc = look_ahead(&in.chunker, err);
  in.first = ttm_buf_str(&in.chunker.carry);
  if (!rc) rc = ttm_profile_diagnose_packed(in.first, path, err);
  if (!rc) rc = load(out, loader_of(in.first), path, &in, err);
  const char *damage = ttm_source_damage(in.chunker.source);
  if (!rc) (*out)->file = file, (*out)->seen.damage = damage, (*out)->seen.cut |= damage != NULL;
  if (damage &&
      (rc == TTM_ENODATA || rc == TTM_EFORMAT)) /* more to the point than what there is in what is left of it */
    rc = ttm_error_set(err, TTM_EFORMAT, "Cannot read %s: %s.", path, damage);
  ttm_chunker_free(&in.chunker);
  ttm_source_close(in.chunker.source);
  return rc;
}

int ttm_profile_read(ttm_profile **out, const char *path, ttm_error *err) {
  return ttm_profile_read_opts(out, path, NULL, err);
}

int ttm_profile_read_bytes(ttm_profile **out, const char *bytes, size_t n, const ttm_read_options *options,
                           ttm_error *err) {
  ttm_input in = {.first = {bytes, n}, .options = TTM_READ_OPTIONS_INIT};
  ttm_loader *loader = loader_of(in.first);
  int rc = ttm_sized_take(&in.options, sizeof in.options, options, err);
  if (rc) return rc;
  if (loader != ttm_load_log) return load(out, loader, "-", &in, err);
  ttm_feed *feed;
  rc = ttm_feed_begin(&feed, "-", &in.options, err);
  if (rc) return rc;
  rc = ttm_feed_put(feed, bytes, n, err);
  if (!rc) return ttm_feed_end(feed, out, err);
  ttm_feed_free(feed);
  return rc;
}

int ttm_profile_read_report(ttm_profile **out, const ttm_report_files *files, const char *path, ttm_error *err) {
  ttm_input in = {.report = files, .options = TTM_READ_OPTIONS_INIT};
  return load(out, ttm_load_report, path, &in, err);
}
