/* SPDX-License-Identifier: Apache-2.0 */
/* Module dumps: what they say of the graph that was compiled. */
#include "profile/builder.h"

#include <zstd.h>

/* What a stage is good for. Stages come in this order for each compiled graph; arguments are best read where they carry
 * their attributes and plain tensor types. */
static const struct stage {
  const char *name;
  int order, args_priority;
  bool keep, executed;
} stages[] = {
    {"vhlo", 0, 0, false, false},
    {"shlo", 1, 3, false, false},
    {"shlo_frontend", 2, 6, false, false},
    {"shlo_compiler", 3, 5, false, false},
    {"shlo_set_mesh_attr", 4, 4, false, false},
    {"shlo_compiler_cleaned", 5, 1, false, false},
    {"ttir", 6, 3, true, false},
    {"ttnn", 7, 2, true, true},
    {"ttnn_runtime", 8, 2, true, true},
};

/* Before October 2025 they were written in capitals. */
static const struct stage *find_stage(ttm_str name) {
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (ttm_str_eq_nocase(name, ttm_str_of(stages[i].name))) return &stages[i];
  return NULL;
}

int ttm_build_graph(ttm_builder *b, ttm_stream *s, ttm_str stage_name) {
  ttm_profile *p = b->profile;
  const struct stage *stage = find_stage(stage_name);
  if (s->graph == TTM_NONE || (stage && stage->order <= s->graph_stage)) {
    if (ttm_vec_push(&p->graphs, (ttm_graph){.rank = s->rank})) return TTM_ENOMEM;
    s->graph = (uint32_t)(p->graphs.n - 1);
    s->graph_stage = s->args_priority = -1;
  }
  if (stage) s->graph_stage = stage->order;
  return TTM_OK;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------- */

static int to_graph_arg(ttm_builder *b, const ttm_module_arg *from, ttm_graph_arg *out) {
  *out = (ttm_graph_arg){.kind = (uint8_t)from->kind, .kv_cache = from->kv_cache, .device_type = TTM_NONE};
  if (ttm_build_string(b, from->ssa, &out->ssa) || ttm_build_string(b, from->name, &out->name) ||
      ttm_build_type(b, from->type, &out->type))
    return TTM_ENOMEM;
  out->local_type = out->type;
  return from->local_type.n ? ttm_build_type(b, from->local_type, &out->local_type) : TTM_OK;
}

/* Fills what the stage before left open, or takes the arguments over from a better stage. */
static void merge_arg(ttm_graph_arg *into, const ttm_graph_arg *from, bool better) {
  ttm_graph_arg old = *into;
  if (better) *into = *from;
  const ttm_graph_arg *other = better ? &old : from;
  if (!into->name) into->name = other->name;
  if (into->kind == TTM_ARG_UNKNOWN) into->kind = other->kind;
  if (into->local_type == into->type && other->local_type != other->type) into->local_type = other->local_type;
  into->kv_cache = into->kv_cache || other->kv_cache;
  if (into->device_type == TTM_NONE) into->device_type = other->device_type;
}

/* The types of the executed stage say where each argument lies when the program starts. */
static int read_device_types(ttm_builder *b, const ttm_graph *graph, const ttm_module_args *args, ttm_str text) {
  ttm_module_types types = {0};
  ttm_buf full = {0};
  int rc = ttm_module_types_read(&types, text);
  for (size_t i = 0; i < args->n && i < graph->args.n && !rc; i++) {
    ttm_buf_clear(&full);
    ttm_module_types_expand(&types, args->at[i].type, &full);
    rc = full.failed ? TTM_ENOMEM : ttm_build_type(b, ttm_buf_str(&full), &graph->args.at[i].device_type);
  }
  ttm_module_types_free(&types);
  ttm_buf_free(&full);
  return rc;
}

int ttm_build_arg(ttm_builder *b, uint32_t graph, size_t index, const ttm_module_arg *arg, bool better) {
  ttm_graph *to = &b->profile->graphs.at[graph];
  ttm_graph_arg row;
  if (to_graph_arg(b, arg, &row)) return TTM_ENOMEM;
  if (index >= to->args.n) return ttm_vec_push(&to->args, row);
  merge_arg(&to->args.at[index], &row, better);
  return TTM_OK;
}

static int read_args(ttm_builder *b, ttm_stream *s, ttm_str text, int priority, bool executed) {
  ttm_graph *graph = &b->profile->graphs.at[s->graph];
  ttm_arena arena = {0};
  ttm_module_args args = {0};
  int rc = ttm_module_args_parse(text, &arena, &args);
  bool better = priority > s->args_priority;
  size_t most = graph->args.n ? graph->args.n : args.n; /* the first stage says how many there are */
  for (size_t i = 0; i < args.n && i < most && !rc; i++) rc = ttm_build_arg(b, s->graph, i, &args.at[i], better);
  if (args.n && better) s->args_priority = priority;
  if (!rc && executed) rc = read_device_types(b, graph, &args, text);
  ttm_vec_free(&args);
  ttm_arena_free(&arena);
  return rc;
}

/* ---- Dumps ----------------------------------------------------------------------------------------------------------- */

static int read_locations(ttm_profile *p, ttm_graph *graph, ttm_str text) {
  ttm_arena arena = {0};
  ttm_loc_lines lines = {0};
  int rc = ttm_module_loc_lines(text, &arena, &lines);
  ttm_map_clear(&graph->locations);
  for (size_t i = 0; i < lines.n && !rc; i++) {
    uint32_t string;
    rc = ttm_intern_add(&p->strings, lines.at[i].name, &string);
    if (!rc) rc = ttm_map_set(&graph->locations, string, 1);
  }
  ttm_vec_free(&lines);
  ttm_arena_free(&arena);
  return rc;
}

/* Kept compressed until a report asks for it (ttm_profile_dump_text). */
static int pack(ttm_dump *dump, ttm_str text) {
  size_t bound = ZSTD_compressBound(text.n);
  void *packed = ttm_realloc(NULL, bound);
  if (!packed) return TTM_ENOMEM;
  size_t n = ZSTD_compress(packed, bound, text.p, text.n, 1);
  void *shrunk = ZSTD_isError(n) ? NULL : ttm_realloc(packed, n);
  dump->packed = shrunk ? shrunk : packed; /* who asked for it frees it */
  dump->packed_bytes = n;
  return ZSTD_isError(n) ? TTM_ENOMEM : TTM_OK;
}

int ttm_build_dump(ttm_builder *b, ttm_stream *s, ttm_dump dump, ttm_str text, bool keep) {
  ttm_graph *graph = &b->profile->graphs.at[s->graph];
  const struct stage *stage = find_stage(ttm_profile_string(b->profile, dump.stage));
  dump.bytes = text.n;
  int rc = TTM_OK;
  /* What was executed tells what the rest of a run needs, too. */
  bool wanted = stage && (stage->executed || (b->keep_ir && stage->keep));
  if (keep && wanted && text.n) rc = pack(&dump, text);
  if (!rc) rc = ttm_vec_push(&graph->dumps, dump);
  if (rc) {
    ttm_free(dump.packed);
    return rc;
  }
  ttm_module_facts facts = ttm_module_facts_read(text);
  if (facts.name.n && !graph->name) rc = ttm_build_string(b, facts.name, &graph->name);
  if (facts.dram_alignment) graph->dram_alignment = facts.dram_alignment;
  if (facts.devices) graph->devices = facts.devices;
  if (!rc && stage && stage->args_priority > 0) rc = read_args(b, s, text, stage->args_priority, stage->executed);
  return rc || !stage || !stage->executed ? rc : read_locations(b->profile, graph, text);
}

const ttm_dump *ttm_graph_program(const ttm_profile *p, const ttm_graph *graph) {
  for (size_t i = graph->dumps.n; i-- > 0;) {
    const struct stage *stage = find_stage(ttm_profile_string(p, graph->dumps.at[i].stage));
    if (stage && stage->executed && graph->dumps.at[i].packed) return &graph->dumps.at[i];
  }
  return NULL;
}
