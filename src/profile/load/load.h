/* SPDX-License-Identifier: Apache-2.0 */
/* The loaders: each fills a profile from one kind of input, through the builder. Private to src/profile.
 *
 * 0; TTM_ENODATA or TTM_EFORMAT with the reason why there is nothing to report on; TTM_EIO; TTM_ECANCELED;
 * TTM_ENOMEM. */
#ifndef TTM_PROFILE_LOAD_LOAD_H
#define TTM_PROFILE_LOAD_LOAD_H

#include "base/chunks.h"
#include "profile/builder.h"
#include "profile/read_report.h"

typedef struct ttm_input {
  ttm_str first;    /* bytes; all of them when the chunker has no source, else they wait in its `carry` */
  const char *path; /* of the file; NULL without one */
  ttm_chunker chunker;
  ttm_read_options options;
  const ttm_report_files *report; /* for ttm_load_report, which reads nothing else */
  double reported_at;             /* when the caller was last told of the progress */
} ttm_input;

typedef int ttm_loader(ttm_builder *b, ttm_input *in, ttm_error *err);

ttm_loader ttm_load_log;           /* what a runtime printed; a source is needed */
ttm_loader ttm_load_graph;         /* a ttnn graph capture, or what `ttmem run` recorded */
ttm_loader ttm_load_visualizer;    /* a database of ttnn-visualizer */
ttm_loader ttm_load_live;          /* what `ttmem live --record` wrote */
ttm_loader ttm_load_memory_report; /* of tt-mlir's builder or of ttrt */
ttm_loader ttm_load_module;        /* a TTNN module: what its run would be */
ttm_loader ttm_load_report;        /* the JSON files of a report */

/* Tells the caller, if he wants to know and some time has passed. `position` is the source's. 0, or TTM_ECANCELED when he has had enough. */
int ttm_input_progress(ttm_input *in, uint64_t position, uint64_t operations, ttm_error *err);

#endif
