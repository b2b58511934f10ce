/* SPDX-License-Identifier: Apache-2.0 */
/* A change to try, as text and as a value: "dtype=bfp8:model.layers.*.weight". A change is NAME=VALUE:PATTERN,...; batch and board take no pattern.
 *   dtype=bf16|f32|bfp8|bfp4   stored in that dtype
 *   free=last-use              freed after the last operation that takes it
 *   free=run-end               freed when the run that made it ends
 *   free=now                   freed before the failing operation, else before the one that raises the peak
 *   move=dram|l1|host          in that memory
 *   layout=tile|row_major
 *   reshape=98304x1            in that shape, of as many values
 *   shard=height,64|width,8|block,8x8   in L1 on so many cores
 *   divide=4                   a quarter of it at a time
 *   order=first                allocated before everything else of its run
 *   batch=4|1/2                activations, inputs and caches that many times as large
 *   board=p150
 * A pattern is a name with '*' for any characters: of the weight or input the tensor comes from, of the operation that made it ("ttnn.matmul"), of
 * that operation's location ("layers.0|dot.3", "model.py:17") or its number ("#12"), of both ("ttnn.add@model.py:17"), or of a class ("weights", "activations"). A pattern behind '!'
 * takes tensors out again; a comma inside a name is written "\,". */
#ifndef TTM_ANALYZE_CHANGE_H
#define TTM_ANALYZE_CHANGE_H

#include "analyze/ledger.h"

typedef enum ttm_change_kind {
  TTM_CHANGE_DTYPE,
  TTM_CHANGE_FREE,
  TTM_CHANGE_MOVE,
  TTM_CHANGE_LAYOUT,
  TTM_CHANGE_RESHAPE,
  TTM_CHANGE_SHARD,
  TTM_CHANGE_DIVIDE,
  TTM_CHANGE_ORDER,
  TTM_CHANGE_BATCH,
  TTM_CHANGE_BOARD,
  TTM_CHANGE_KINDS,
  TTM_CHANGE_BLOCKS, /* has no text: KV caches of another size, see analyze/deployment.h */
} ttm_change_kind;

typedef enum ttm_free_when { TTM_FREE_LAST_USE, TTM_FREE_RUN_END, TTM_FREE_NOW } ttm_free_when;

enum { TTM_CHANGES = 24 }; /* in one trial */

typedef struct ttm_change {
  ttm_change_kind kind;
  ttm_str text;            /* all of it; borrowed */
  ttm_str pattern;         /* empty: batch and board */
  ttm_str storage;         /* DTYPE, as MLIR types have it */
  ttm_free_when when;      /* FREE */
  ttm_buffer_kind buffer;  /* MOVE */
  bool tiled;              /* LAYOUT */
  ttm_dims shape;          /* RESHAPE */
  ttm_placement placement; /* SHARD */
  uint32_t across, down;   /* SHARD: cores; DIVIDE: parts are `across`; BATCH: the factor is down / across */
  const ttm_board *board;  /* BOARD */
  /* BLOCKS: caches and page tables by tensor (TTM_CACHE_*); blocks, or without pages tokens; of the recorded ones; DRAM of a bank then. */
  const uint8_t *roles;
  uint64_t blocks, blocks_before, bank;
  bool paged;
} ttm_change;

/* 0, or TTM_EUSAGE with what is wrong. */
int ttm_change_parse(ttm_change *out, ttm_str text, ttm_error *err);

/* Whether the pattern means a holding with this label, made by the operation with report index `index` (UINT32_MAX: none).
 * *by_class: only its class was named. */
bool ttm_change_means(const ttm_change *change, const ttm_label *label, uint32_t index, bool *by_class);

/* Makes the type what the change wants it to be. False when it cannot be: *why says so, a part of a sentence. `by_class`: only what is usually
 * changed: of weights the matrices. */
bool ttm_change_type(const ttm_change *change, ttm_tensor_type *type, bool by_class, const char **why);

/* Appends a name as a pattern that means just this name. */
void ttm_change_quote(ttm_buf *out, ttm_str name);

#endif
