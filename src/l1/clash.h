/* SPDX-License-Identifier: Apache-2.0 */
/* A clash in L1 explained from the numbers of its error message: what lies where and how many bytes and tiles overlap. Numbers in,
 * picture out (src/report/write/l1_picture.h): no log, no device. */
#ifndef TTM_L1_CLASH_H
#define TTM_L1_CLASH_H

#include "l1/core_range.h"
#include "l1/map.h"
#include "l1/words.h"
#include "parse/incident_text.h"

/* What the caller knows beyond the message; zero is "nothing". ttm_incident_arch finds the architecture of a log. */
typedef struct ttm_clash_hints {
  ttm_str arch;         /* "blackhole"; empty: from the message, or assumed */
  ttm_str version;      /* of tt-metal or ttnn, for the base; empty: the newest */
  bool version_guessed; /* the caller is not sure of it */
  uint64_t base;        /* the base itself, which beats the version */
  uint64_t l1_small;    /* l1_small_size of the device */
  uint64_t tile_bytes;  /* of the tiles in the buffers; 0: 2048 (bfloat16) */
} ttm_clash_hints;

typedef struct ttm_clash {
  ttm_l1_map map;
  ttm_l1_overlap overlap; /* ttm_words_overlap says it */
  uint64_t bytes, tiles;  /* of the overlap per core; tiles rounded up */
  uint64_t buffer_bytes;  /* base to end of the buffers, gaps included */
  uint64_t cores;         /* in the core range of the message; 0 when it gives none */
  uint64_t program;       /* TTM_UNKNOWN when the message names none */
  /* What L1_SMALL could spare: 0 when it is smaller than the overlap, TTM_UNKNOWN when the message does not say. */
  uint64_t spare_small;
} ttm_clash;

/* True for incidents that ttm_clash_explain understands: clashes and overflows with their addresses. */
bool ttm_clash_possible(const ttm_incident_text *incident);

/* Freed with ttm_clash_free. 0, TTM_EUSAGE (not such an incident, or an unknown architecture) or TTM_ENOMEM. */
int ttm_clash_explain(ttm_clash *out, const ttm_incident_text *incident, const ttm_clash_hints *hints);
void ttm_clash_free(ttm_clash *clash);

/* The cores of the message on the grid of the chip; what others hold is unknown. False when the message names no cores. 0 or TTM_ENOMEM. */
int ttm_clash_grid(ttm_core_grid *out, const ttm_clash *clash, bool *known);

#endif
