/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded operations played through the bank allocator again, operation by operation, on one rank: which tensor holds which block when.
 * The log prints no addresses and no frees by the host, so the replay keeps to what is measured: at every state its sum is brought to the
 * state's. What the operations did not say goes into anonymous blocks ("extras"), a result that added nothing is a view, and what a run
 * leaves behind goes when the level falls. A device that is opened anew, with other banks or without anything in them, begins empty. Everything here is therefore derived; `agree` tells how often the replay's largest free block
 * was the measured one, which it only is when the placement is right too. */
#ifndef TTM_ANALYZE_REPLAY_H
#define TTM_ANALYZE_REPLAY_H

#include "analyze/findings.h"
#include "base/bank.h"

enum { TTM_REPLAY_DRAM, TTM_REPLAY_L1, TTM_REPLAY_MEMORIES };

/* A block that no tensor of the log explains. */
typedef struct ttm_extra {
  uint64_t at, size;
  uint32_t op;     /* after which it appeared; TTM_NONE: between runs, or before the first state */
  bool from_start; /* there before the first operation */
} ttm_extra;

typedef struct ttm_replay_memory {
  ttm_bank bank;
  uint32_t banks;
  uint32_t total;    /* of a bank as the log prints it; 0 before the first state */
  uint64_t unplaced; /* held by tensors for which the replay found no block */
  TTM_VEC(ttm_extra) extras;
  TTM_VEC(uint32_t) leftovers; /* tensors of ended runs, or deallocated without effect: they go when the level falls */
  uint64_t states, agree;      /* states compared, and those whose largest free block was as measured */
  uint64_t shift;              /* bytes of tensors freed early: the replay stands that much below the log */
} ttm_replay_memory;

/* What happens in the replay, for who wants to play it elsewhere. */
typedef enum ttm_replay_act {
  TTM_REPLAY_TAKE,
  TTM_REPLAY_GIVE,
  TTM_REPLAY_EXTRA,
  TTM_REPLAY_EXTRA_GONE
} ttm_replay_act;
typedef struct ttm_replay_event {
  ttm_replay_act act;
  int memory;
  uint32_t tensor; /* TAKE, GIVE */
  uint32_t type;   /* TAKE, GIVE: profile type */
  uint32_t op;     /* that did it, TTM_NONE */
  uint64_t at;     /* extras: their address in this replay, by which they are known */
  uint64_t bytes;  /* per bank here */
} ttm_replay_event;
typedef int ttm_replay_watcher(void *context, const ttm_replay_event *event);

typedef struct ttm_replay {
  const ttm_profile *profile;
  uint32_t rank;
  uint32_t next;       /* operation to take next */
  uint32_t next_state; /* state to compare next */
  ttm_alignment align;
  ttm_replay_memory memories[TTM_REPLAY_MEMORIES];
  uint32_t *blocks;                  /* per tensor: its address / 32 + 1; 0 when it holds none */
  struct ttm_replay_cost *costs;     /* per type, of the device that is open */
  uint32_t device;                   /* devices opened so far */
  uint32_t first_tensor, end_tensor; /* those born since the device was empty, or since a process was cut off */
  TTM_VEC(uint32_t) passing;         /* tensors born in the current run */
  uint32_t run;
  bool started, seen_state;
  uint32_t last_state; /* of its rank, compared last; TTM_NONE */
  uint32_t last_op;    /* operation after which the next state stands */
  uint32_t blamed;     /* the same; TTM_NONE between runs, when the host may have been at work */
  /* To be set after ttm_replay_init: */
  const uint32_t *early; /* tensors to free right after their last use rather than when the log does, by last use */
  size_t early_count;
  size_t early_next;         /* its own: the first of them that is still to come */
  ttm_replay_watcher *watch; /* NULL; a non-zero return ends the replay with that code */
  void *context;
} ttm_replay;

/* 0 or TTM_ENOMEM. Freed with ttm_replay_free in any case. */
int ttm_replay_init(ttm_replay *replay, const ttm_profile *profile, uint32_t rank);
void ttm_replay_free(ttm_replay *replay);

/* Takes states and operations up to, not including, operation `op` (of any rank); p->ops.n plays all of it. The state printed before `op` has
 * been compared then. 0, TTM_ENOMEM or what the watcher said. */
int ttm_replay_to_op(ttm_replay *replay, uint32_t op);
/* The same, up to and including the comparison with a state. */
int ttm_replay_to_state(ttm_replay *replay, uint32_t state);

/* Bytes per bank of a type in a memory; 0 when it does not live there. */
uint64_t ttm_replay_cost_of(const ttm_replay *replay, uint32_t type, int memory);
/* The type of a tensor, TTM_NONE when unknown. */
uint32_t ttm_tensor_type_id(const ttm_profile *p, uint32_t tensor);

/* Where a tensor's block begins; false when it holds none. Unplaced tensors hold TTM_UNKNOWN. */
bool ttm_replay_block(const ttm_replay *replay, uint32_t tensor, uint64_t *at);

/* Held by tensors and extras together, per bank. */
static inline uint64_t ttm_replay_held(const ttm_replay_memory *m) { return m->bank.allocated + m->unplaced; }

#endif
