/* SPDX-License-Identifier: Apache-2.0 */
/* Plays allocator traces of real ttnn (samples/metal, allocator_*.jsonl) through our allocator and compares every
 * block. One JSON object per line: {"event": "alloc", "name": "t0", "memory": "dram", "shape": [1, 3], "dtype": "bf16",
 * "tiled": true, ..., "allocated": 2048, "free": ..., "largest": ..., "blocks": [[at, size, taken], ...]}. */
#define _POSIX_C_SOURCE 200809L /* getline */

#include "gen_log/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

typedef struct placed {
  char name[32];
  uint32_t memory;
  uint64_t at, size;
} placed;

typedef struct player {
  gen_board board;
  gen_bank banks[2]; /* DRAM, L1 */
  gen_types types;
  TTM_VEC(placed) tensors;
  uint64_t states, blocks;
} player;

/* The text right behind "key": , or NULL. */
static const char *value_of(const char *line, const char *key) {
  char quoted[40];
  snprintf(quoted, sizeof quoted, "\"%s\": ", key);
  const char *at = strstr(line, quoted);
  return at ? at + strlen(quoted) : NULL;
}

static bool value_is(const char *line, const char *key, const char *text) {
  const char *at = value_of(line, key);
  return at && !strncmp(at + (*at == '"'), text, strlen(text));
}

static uint64_t number_of(const char *line, const char *key) {
  const char *at = value_of(line, key);
  if (!at) gen_die("the trace lacks %s: %.80s", key, line);
  return strtoull(at, NULL, 10);
}

static void text_of(const char *line, const char *key, char *out, size_t cap) {
  const char *at = value_of(line, key);
  if (!at || *at != '"') gen_die("the trace lacks %s: %.80s", key, line);
  size_t n = strcspn(at + 1, "\"");
  snprintf(out, cap, "%.*s", (int)n, at + 1);
}

static uint32_t dtype_of(const char *name) {
  static const struct {
    const char *name;
    uint32_t dtype;
  } names[] = {{"bf16", GEN_BF16}, {"f32", GEN_F32},  {"bfp8", GEN_BFP8}, {"bfp4", GEN_BFP4},
               {"u32", GEN_UI32},  {"i32", GEN_SI32}, {"u16", GEN_UI16},  {"u8", GEN_UI8}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i].name)) return names[i].dtype;
  gen_die("the trace has a dtype we do not know: %s", name);
}

static const gen_type *type_of(player *p, const char *line, uint32_t memory) {
  uint64_t dims[GEN_MAX_RANK];
  uint32_t rank = 0;
  const char *at = value_of(line, "shape");
  if (!at || *at != '[') gen_die("the trace lacks a shape: %.80s", line);
  for (at++; *at && *at != ']' && rank < GEN_MAX_RANK;) {
    char *end;
    dims[rank++] = strtoull(at, &end, 10);
    at = end + strspn(end, ", ");
  }
  char dtype[16];
  text_of(line, "dtype", dtype, sizeof dtype);
  gen_shape shape = gen_shape_of(rank, dims, dtype_of(dtype), value_is(line, "tiled", "true"), memory);
  return gen_type_of(&p->types, &shape);
}

static void play_event(player *p, const char *line, uint32_t memory) {
  placed new = {.memory = memory};
  if (value_is(line, "event", "start")) {
    gen_bank_free(&p->banks[memory]);
    gen_bank_init(&p->banks[memory], number_of(line, "bank_size"));
    p->board.banks[memory] = (uint32_t)number_of(line, "banks");
    return;
  }
  text_of(line, "name", new.name, sizeof new.name);
  if (value_is(line, "event", "alloc")) {
    new.size = type_of(p, line, memory)->block;
    if (!gen_bank_take(&p->banks[memory], new.size, memory == GEN_L1, &new.at))
      gen_die("we find no room for %s", new.name);
    if (ttm_vec_push(&p->tensors, new)) gen_die("out of memory");
    return;
  }
  for (size_t i = p->tensors.n; i-- > 0;) {
    if (strcmp(p->tensors.at[i].name, new.name)) continue;
    gen_bank_give(&p->banks[p->tensors.at[i].memory], p->tensors.at[i].at, p->tensors.at[i].size);
    p->tensors.at[i] = p->tensors.at[--p->tensors.n];
    return;
  }
  gen_die("%s is freed but was never allocated", new.name);
}

/* Every block of the real state must be one of ours, and the other way round. */
static void compare(player *p, const char *line, uint32_t memory, uint64_t number) {
  gen_bank *bank = &p->banks[memory];
  if (number_of(line, "allocated") != bank->allocated || number_of(line, "free") != bank->size - bank->allocated ||
      number_of(line, "largest") != gen_bank_largest(bank))
    gen_die("line %llu: sums differ: ours allocated %llu, largest %llu", (unsigned long long)number,
            (unsigned long long)bank->allocated, (unsigned long long)gen_bank_largest(bank));
  size_t free_seen = 0, taken_seen = 0, taken = 0;
  for (size_t i = 0; i < p->tensors.n; i++) taken += p->tensors.at[i].memory == memory;
  const char *at = value_of(line, "blocks");
  if (!at) gen_die("the trace lacks blocks: %.80s", line);
  for (at++; *at == '['; p->blocks++) {
    char *end;
    uint64_t start = strtoull(at + 1, &end, 10), size = strtoull(end + 2, &end, 10);
    bool used = end[2] == 't', found = false;
    if (!used) {
      found = free_seen < bank->free.n && bank->free.at[free_seen].at == start && bank->free.at[free_seen].size == size;
      free_seen++;
    } else {
      for (size_t i = 0; i < p->tensors.n && !found; i++)
        found = p->tensors.at[i].memory == memory && p->tensors.at[i].at == start && p->tensors.at[i].size == size;
      taken_seen++;
    }
    if (!found)
      gen_die("line %llu: we have no %s block at %llu of %llu bytes", (unsigned long long)number,
              used ? "taken" : "free", (unsigned long long)start, (unsigned long long)size);
    at = end + strcspn(end, "]") + 1;
    at += strspn(at, ", ");
  }
  if (free_seen != bank->free.n || taken_seen != taken)
    gen_die("line %llu: we have blocks that the trace has not", (unsigned long long)number);
  p->states++;
}

int gen_replay(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) gen_die("cannot read %s", path);
  player p = {0};
  gen_options o = {.p150 = strstr(path, "p150") || strstr(path, "p100")};
  gen_board_of(&o, &p.board);
  gen_types_init(&p.types, &p.board, false);
  char *line = NULL;
  size_t cap = 0;
  for (uint64_t number = 1; getline(&line, &cap, file) > 0; number++) {
    uint32_t memory = value_is(line, "memory", "dram") ? GEN_DRAM : GEN_L1;
    char event[8];
    text_of(line, "event", event, sizeof event);
    if (strcmp(event, "start") && strcmp(event, "alloc") && strcmp(event, "free")) continue; /* others move no memory */
    play_event(&p, line, memory);
    compare(&p, line, memory, number);
  }
  printf("%llu states, %llu blocks: all the same\n", (unsigned long long)p.states, (unsigned long long)p.blocks);
  free(line);
  fclose(file);
  ttm_vec_free(&p.tensors);
  gen_bank_free(&p.banks[0]);
  gen_bank_free(&p.banks[1]);
  gen_types_free(&p.types);
  return p.states ? 0 : 2;
}
