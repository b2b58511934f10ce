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

static int add_arg(ttm_graph *to, size_t index, const ttm_graph_arg *arg, bool better) {
  if (index >= to->args.n) return ttm_vec_push(&to->args, *arg);
  merge_arg(&to->args.at[index], arg, better);
  return TTM_OK;
}

int ttm_build_arg(ttm_builder *b, uint32_t graph, size_t index, const ttm_module_arg *arg, bool better) {
  ttm_graph_arg row;
  return to_graph_arg(b, arg, &row) ? TTM_ENOMEM : add_arg(&b->profile->graphs.at[graph], index, &row, better);
}

/* ---- What a dump says ------------------------------------------------------------------------------------------------ */

/* The types of the executed stage say where each argument lies when the program starts. */
static int read_device_types(ttm_builder *b, const ttm_module_args *args, ttm_known_dump *out) {
  ttm_module_types types = {0};
  ttm_buf full = {0};
  int rc = ttm_module_types_read(&types, out->text);
  for (size_t i = 0; i < out->args.n && !rc; i++) {
    ttm_buf_clear(&full);
    ttm_module_types_expand(&types, args->at[i].type, &full);
    rc = full.failed ? TTM_ENOMEM : ttm_build_type(b, ttm_buf_str(&full), &out->args.at[i].device_type);
  }
  ttm_module_types_free(&types);
  ttm_buf_free(&full);
  return rc;
}

static int read_args(ttm_builder *b, bool executed, ttm_known_dump *out) {
  ttm_arena arena = {0};
  ttm_module_args args = {0};
  ttm_graph_arg row;
  int rc = ttm_module_args_parse(out->text, &arena, &args);
  size_t most = out->most ? out->most : args.n; /* the first stage says how many there are */
  for (size_t i = 0; i < args.n && i < most && !rc; i++) {
    rc = to_graph_arg(b, &args.at[i], &row);
    if (!rc) rc = ttm_vec_push(&out->args, row);
  }
  if (!rc && executed) rc = read_device_types(b, &args, out);
  ttm_vec_free(&args);
  ttm_arena_free(&arena);
  return rc;
}

static int read_locations(ttm_builder *b, ttm_known_dump *out) {
  ttm_arena arena = {0};
  ttm_loc_lines lines = {0};
  uint32_t string;
  int rc = ttm_module_loc_lines(out->text, &arena, &lines);
  for (size_t i = 0; i < lines.n && !rc; i++) {
    rc = ttm_build_string(b, lines.at[i].name, &string);
    if (!rc) rc = ttm_vec_push(&out->locations, string);
  }
  ttm_vec_free(&lines);
  ttm_arena_free(&arena);
  return rc;
}

static int read_dump(ttm_builder *b, const struct stage *stage, ttm_known_dump *out) {
  ttm_module_facts facts = ttm_module_facts_read(out->text);
  out->dram_alignment = facts.dram_alignment;
  out->devices = facts.devices;
  if (facts.name.n && ttm_build_string(b, facts.name, &out->name)) return TTM_ENOMEM;
  if (stage && stage->args_priority > 0 && read_args(b, stage->executed, out)) return TTM_ENOMEM;
  return stage && stage->executed ? read_locations(b, out) : TTM_OK;
}

static int apply_dump(ttm_graph *graph, ttm_stream *s, const struct stage *stage, const ttm_known_dump *dump) {
  bool better = stage && stage->args_priority > s->args_priority;
  if (!graph->name) graph->name = dump->name;
  if (dump->dram_alignment) graph->dram_alignment = dump->dram_alignment;
  if (dump->devices) graph->devices = dump->devices;
  for (size_t i = 0; i < dump->args.n; i++) {
    ttm_graph_arg arg = dump->args.at[i];
    arg.device_type = TTM_NONE;
    if (add_arg(graph, i, &arg, better)) return TTM_ENOMEM;
    if (stage && stage->executed) graph->args.at[i].device_type = dump->args.at[i].device_type;
  }
  if (dump->args.n && better) s->args_priority = stage->args_priority;
  if (!stage || !stage->executed) return TTM_OK;
  ttm_map_clear(&graph->locations);
  for (size_t i = 0; i < dump->locations.n; i++)
    if (ttm_map_set(&graph->locations, dump->locations.at[i], 1)) return TTM_ENOMEM;
  return TTM_OK;
}

/* ---- Dumps seen before ----------------------------------------------------------------------------------------------- */

enum { MOST_DUMP_BYTES = 16 * 1024 * 1024 };

static void free_known(ttm_known_dump *dump) {
  ttm_vec_free(&dump->args);
  ttm_vec_free(&dump->locations);
}

void ttm_builder_forget_dumps(ttm_builder *b) {
  for (size_t i = 0; i < b->known_dumps.n; i++) free_known(&b->known_dumps.at[i]);
  b->known_dumps.n = b->dump_bytes = 0;
  ttm_arena_free(&b->dump_texts);
  ttm_map_clear(&b->dump_of_hash);
}

static const ttm_known_dump *find_dump(const ttm_builder *b, uint64_t hash, const ttm_known_dump *wanted) {
  uint32_t i = ttm_map_get(&b->dump_of_hash, hash, TTM_NONE);
  const ttm_known_dump *known = i == TTM_NONE ? NULL : &b->known_dumps.at[i];
  bool same = known && known->stage == wanted->stage && known->most == wanted->most;
  return same && ttm_str_eq(known->text, wanted->text) ? known : NULL;
}

/* Takes over what the dump owns. */
static int remember_dump(ttm_builder *b, uint64_t hash, ttm_known_dump *dump) {
  if (dump->text.n > MOST_DUMP_BYTES) return free_known(dump), TTM_OK;
  if (b->dump_bytes + dump->text.n > MOST_DUMP_BYTES) ttm_builder_forget_dumps(b);
  const char *copy = ttm_arena_copy(&b->dump_texts, dump->text);
  dump->text.p = copy;
  b->dump_bytes += dump->text.n;
  if (!copy || ttm_vec_push(&b->known_dumps, *dump)) return free_known(dump), TTM_ENOMEM;
  return ttm_map_set(&b->dump_of_hash, hash, (uint32_t)(b->known_dumps.n - 1));
}

/* ---- Dumps ----------------------------------------------------------------------------------------------------------- */

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

static int pack_again(ttm_dump *dump, const ttm_dump *same) {
  dump->packed = ttm_realloc(NULL, same->packed_bytes);
  if (!dump->packed) return TTM_ENOMEM;
  memcpy(dump->packed, same->packed, same->packed_bytes);
  dump->packed_bytes = same->packed_bytes;
  return TTM_OK;
}

int ttm_build_dump(ttm_builder *b, ttm_stream *s, ttm_dump dump, ttm_str text, bool keep) {
  ttm_graph *graph = &b->profile->graphs.at[s->graph];
  const struct stage *stage = find_stage(ttm_profile_string(b->profile, dump.stage));
  uint64_t hash = ttm_hash(text.p, text.n, ttm_hash_seed() + dump.stage);
  ttm_known_dump fresh = {.text = text,
                          .stage = dump.stage,
                          .most = (uint32_t)graph->args.n,
                          .graph = s->graph,
                          .dump = (uint32_t)graph->dumps.n};
  const ttm_known_dump *known = find_dump(b, hash, &fresh);
  const ttm_dump *same = known ? &b->profile->graphs.at[known->graph].dumps.at[known->dump] : NULL;
  dump.bytes = text.n;
  int rc = TTM_OK;
  /* What was executed tells what the rest of a run needs, too. */
  bool wanted = stage && (stage->executed || (b->keep_ir && stage->keep));
  if (keep && wanted && text.n) rc = same && same->packed ? pack_again(&dump, same) : pack(&dump, text);
  if (!rc) rc = ttm_vec_push(&graph->dumps, dump);
  if (rc) {
    ttm_free(dump.packed);
    return rc;
  }
  if (known) return apply_dump(graph, s, stage, known);
  rc = read_dump(b, stage, &fresh);
  if (!rc) rc = apply_dump(graph, s, stage, &fresh);
  return rc ? free_known(&fresh), rc : remember_dump(b, hash, &fresh);
}

const ttm_dump *ttm_graph_program(const ttm_profile *p, const ttm_graph *graph) {
  for (size_t i = graph->dumps.n; i-- > 0;) {
    const struct stage *stage = find_stage(ttm_profile_string(p, graph->dumps.at[i].stage));
    if (stage && stage->executed && graph->dumps.at[i].packed) return &graph->dumps.at[i];
  }
  return NULL;
}
