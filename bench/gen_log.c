/* SPDX-License-Identifier: Apache-2.0 */
/* gen_log: the generator's main. See gen_log/gen.h for how it works and gen_log/options.c for what it can be asked. */
#include "gen_log/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void gen_die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("gen_log: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

typedef struct job {
  const gen_options *o;
  gen_board board;
  gen_types types;
  gen_writer writer;
  gen_truth truth;
  gen_graph *graphs;
  gen_rank *ranks;
  gen_values **cached; /* per rank and graph: per argument what its const-eval program left */
} job;

static void start(job *j, const gen_options *o) {
  *j = (job){.o = o};
  gen_board_of(o, &j->board);
  gen_types_init(&j->types, &j->board, o->old_tile);
  gen_writer_open(&j->writer, o);
  gen_truth_init(&j->truth, o->ranks);
  j->graphs = gen_alloc(o->graphs * sizeof *j->graphs);
  j->ranks = gen_alloc(o->ranks * sizeof *j->ranks);
  j->cached = gen_alloc((size_t)o->ranks * o->graphs * sizeof *j->cached);
  for (uint32_t g = 0; g < o->graphs; g++) gen_graph_init(&j->graphs[g], o, &j->types, g);
  for (uint32_t r = 0; r < o->ranks; r++) {
    gen_rank_init(&j->ranks[r], o, &j->board, &j->writer, &j->truth, &j->types, r);
    for (uint32_t g = 0; g < o->graphs; g++)
      j->cached[r * o->graphs + g] = gen_alloc((j->graphs[g].args.n + 1) * sizeof(gen_values));
    uint64_t at; /* what the host keeps there besides: ranks differ by it */
    gen_bank_take(&j->ranks[r].banks[GEN_DRAM], r * 3 << 20, false, &at);
  }
}

static void finish(job *j) {
  gen_truth_write(&j->truth, j->o, &j->board, &j->writer);
  for (uint32_t r = 0; r < j->o->ranks; r++) {
    gen_rank_free(&j->ranks[r]);
    for (uint32_t g = 0; g < j->o->graphs; g++) {
      gen_values *lists = j->cached[r * j->o->graphs + g];
      for (uint32_t a = 0; a <= j->graphs[g].args.n; a++) {
        for (size_t i = 0; i < lists[a].n; i++) free(lists[a].at[i]);
        ttm_vec_free(&lists[a]);
      }
      free(lists);
    }
  }
  for (uint32_t g = 0; g < j->o->graphs; g++) gen_graph_free(&j->graphs[g]);
  gen_writer_close(&j->writer);
  gen_truth_free(&j->truth);
  gen_types_free(&j->types);
  free(j->graphs);
  free(j->ranks);
  free(j->cached);
}

/* Without const-eval the host puts the weights onto the device in their final form, once per graph; a KV cache always. */
static void preload(job *j, gen_rank *x, const gen_graph *g) {
  for (uint32_t i = 0; i < g->args.n; i++) {
    uint64_t at;
    bool weight = g->args.at[i].kind != GEN_INPUT && !j->o->const_eval;
    if (g->args.at[i].type->shape.memory == GEN_DRAM)
      gen_bank_take(&x->banks[GEN_DRAM], g->args.at[i].type->block, false, &at);
    if (weight || g->args.at[i].kv_cache) gen_bank_take(&x->banks[GEN_DRAM], g->args.at[i].ready->block, false, &at);
  }
}

static bool enough(const job *j, uint64_t runs) {
  const gen_options *o = j->o;
  if (j->ranks[0].stopped || (j->truth.incidents.n && !o->go_on)) return true;
  return (o->runs && runs >= o->runs) || (o->operations && j->truth.op_lines >= o->operations) ||
         (o->bytes && gen_written(&j->writer) >= o->bytes);
}

/* The graph of the next run, after `left` more of the current one. */
static uint32_t next_graph(const gen_options *o, gen_random *random, uint32_t now, uint32_t *left) {
  if (*left) return --*left, now;
  now = (now + 1) % o->graphs;
  *left = !o->requests ? o->repeat - 1 : now ? (uint32_t)gen_below(random, o->requests) : 0;
  return now;
}

static void play(job *j) {
  const gen_options *o = j->o;
  gen_random random = {o->seed * 40503 + 7};
  uint32_t now = o->graphs - 1, left = 0, seen = 0;
  for (uint64_t run = 0; run == 0 || !enough(j, run); run++) {
    now = next_graph(o, &random, now, &left);
    gen_graph *g = &j->graphs[now];
    bool first = now == seen;
    seen += first;
    bool last = o->runs && run + 1 == o->runs;
    for (uint32_t r = 0; r < o->ranks; r++) {
      gen_rank *x = &j->ranks[r];
      if (first && r == 0) gen_graph_tell(g, &j->truth);
      if (first) preload(j, x, g);
      if (first && o->dumps && !x->stopped) gen_graph_dump(g, x);
      x->cut_at = last && o->cut ? 20 + (uint32_t)(o->seed % 30) : 0;
    }
    /* The rank whose log is cut comes last, so that the others have spoken. */
    for (uint32_t r = o->ranks; r-- > 0;) gen_graph_run(g, &j->ranks[r], j->cached[r * o->graphs + g->index]);
    gen_weave(&j->writer);
  }
}

int main(int argc, char **argv) {
  gen_options options;
  gen_options_read(&options, argc, argv);
  if (options.replay) return gen_replay(options.replay);
  job j;
  start(&j, &options);
  play(&j);
  finish(&j);
  return 0;
}
