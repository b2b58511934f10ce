/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON files of a report. Element n of memory.json and of operations.json is one operation; both are read side by side. */
#include <math.h>
#include <stddef.h>

#include "base/error.h"
#include "parse/json_fields.h"
#include "parse/json_text.h"
#include "profile/load/load.h"

/* What the two files say of one operation. Texts are those of report_loader.texts. */
typedef struct element {
  ttm_op_line text;
  ttm_str op_type, location, program, const_eval;
  uint32_t line, run, rank, results;
  bool cache_miss;
  ttm_block block;
  double effect[TTM_MEMORIES]; /* MB; NAN when not told */
} element;

typedef struct report_rank {
  ttm_stream *stream;
  bool runs, ended;            /* a run is open; the findings say that it came to its end */
  uint32_t run;                /* which one */
  uint32_t const_eval;         /* string: program that runs inside it, 0 */
  ttm_block last;              /* the last operation's state ... */
  int64_t after[TTM_MEMORIES]; /* ... and what was allocated when it was done; -1 when not told */
} report_rank;

typedef struct report_loader {
  ttm_field_texts texts; /* first: readers of fields get this */
  ttm_builder *builder;
  ttm_profile *profile;
  TTM_VEC(report_rank) ranks; /* by dense rank */
  ttm_map rank_of_number;
  TTM_VEC(uint32_t) ops;    /* by element */
  uint32_t free_text;       /* of what stands for the frees that the files leave out */
  uint32_t args_of, arg;    /* graph of the registry's last entry, and which argument follows */
  ttm_json_pull operations; /* read beside memory.json */
  ttm_buf scratch;
} report_loader;

/* ---- Elements ------------------------------------------------------------------------------------------------------ */

/* What stands under a memory's name: its figures before the operation, or what the operation did. */
static int read_memory(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {
      {"numBanks", ttm_field_count, offsetof(ttm_level, banks)},
      {"totalBytesPerBank_MB", ttm_field_milli, offsetof(ttm_level, total)},
      {"totalBytesAllocatedPerBank_MB", ttm_field_milli, offsetof(ttm_level, allocated)},
      {"totalBytesFreePerBank_MB", ttm_field_milli, offsetof(ttm_level, free)},
      {"largestContiguousBytesFreePerBank_MB", ttm_field_milli, offsetof(ttm_level, largest)},
      {0}};
  element *e = into;
  int m = 0;
  while (m < TTM_MEMORIES && !ttm_str_eq(texts->key, ttm_str_of(ttm_memory_name((ttm_memory)m)))) m++;
  if (m == TTM_MEMORIES) return ttm_json_skip(j), TTM_OK;
  if (ttm_json_peek(j) != TTM_JSON_OBJECT) return ttm_field_number(texts, j, &e->effect[m]);
  e->block.present |= UINT32_C(1) << m;
  return ttm_fields_read(texts, j, fields, &e->block.levels[m]);
}

static int read_memories(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {{"*", read_memory, 0}, {0}};
  return ttm_fields_read(texts, j, fields, into);
}

static int read_operands(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  while (ttm_json_item(j)) {
    ttm_str operand = {"", 0};
    if (ttm_field_text(texts, j, &operand) || ttm_op_line_operands(into, operand) == TTM_ENOMEM) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static const ttm_field element_fields[] = {{"op_type", ttm_field_text, offsetof(element, op_type)},
                                           {"mlir_op", ttm_field_text, offsetof(element, text.name)},
                                           {"loc", ttm_field_text, offsetof(element, location)},
                                           {"program", ttm_field_text, offsetof(element, program)},
                                           {"const_eval_graph", ttm_field_text, offsetof(element, const_eval)},
                                           {"const_eval_cache_miss", ttm_field_flag, offsetof(element, cache_miss)},
                                           {"line", ttm_field_count, offsetof(element, line)},
                                           {"run", ttm_field_count, offsetof(element, run)},
                                           {"rank", ttm_field_count, offsetof(element, rank)},
                                           {"memory", read_memories, 0},
                                           {"effect_MB", read_memories, 0},
                                           {"result", ttm_field_text, offsetof(element, text.result)},
                                           {"results", ttm_field_count, offsetof(element, results)},
                                           {"inputs", read_operands, offsetof(element, text)},
                                           {"attributes", ttm_field_text, offsetof(element, text.attributes)},
                                           {"input_types", ttm_field_text, offsetof(element, text.input_types)},
                                           {"output_type", ttm_field_text, offsetof(element, text.output_type)},
                                           {0}};

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static int rank_of(report_loader *l, uint32_t number, report_rank **out) {
  if (number > UINT16_MAX) number = 0; /* no log has so many, and each costs memory */
  uint32_t at = ttm_map_get(&l->rank_of_number, number, (uint32_t)l->ranks.n);
  if (at == l->ranks.n) {
    report_rank rank = {.after = {-1, -1, -1, -1}};
    if (ttm_build_rank(l->builder, number, &rank.stream) || ttm_vec_push(&l->ranks, rank) ||
        ttm_map_set(&l->rank_of_number, number, at))
      return TTM_ENOMEM;
  }
  *out = &l->ranks.at[at];
  return TTM_OK;
}

/* The files leave frees out. Where the next operation's state is not what the last one left, some stood in between: one operation stands
 * for them, and the state before it shows what the last one did. How the free blocks lay then is not told. */
static int add_frees(report_loader *l, report_rank *r, const ttm_block *next) {
  ttm_block block = r->last;
  bool differs = !next->present;
  for (int m = 0; m < TTM_MEMORIES; m++)
    differs |= r->after[m] >= 0 && next->present >> m & 1 && next->levels[m].allocated != r->after[m];
  if (!differs || r->after[TTM_DRAM] < 0) return TTM_OK;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    ttm_level *level = &block.levels[m];
    if (r->after[m] < 0) continue;
    int64_t left = (int64_t)level->free + level->allocated - r->after[m];
    level->free = left > 0 && left < TTM_NONE ? (uint32_t)left : 0;
    level->allocated = (uint32_t)r->after[m];
    if (level->largest > level->free) level->largest = level->free;
  }
  r->after[TTM_DRAM] = -1;
  if (ttm_op_begin(l->builder, r->stream, l->free_text, block.line)) return TTM_ENOMEM;
  block.op = r->stream->pending;
  return ttm_build_block(l->builder, r->stream, &block);
}

static int add_state(report_loader *l, report_rank *r, const element *e) {
  r->last = e->block;
  r->last.op = r->stream->pending;
  r->last.line = e->line;
  for (int m = 0; m < TTM_MEMORIES; m++) {
    double after = r->last.levels[m].allocated + round(e->effect[m] * 1000);
    r->after[m] = r->last.present >> m & 1 && after >= 0 && after < TTM_NONE ? (int64_t)after : -1;
  }
  return r->last.present ? ttm_build_block(l->builder, r->stream, &r->last) : TTM_OK;
}

/* Leaves the const-eval program, and, when `whole`, the run around it. */
static int leave_program(report_loader *l, report_rank *r, bool whole, uint32_t line) {
  ttm_str name = ttm_profile_string(l->profile, r->const_eval);
  if (r->const_eval && ttm_program_finish(l->builder, r->stream, name, line)) return TTM_ENOMEM;
  r->const_eval = 0;
  if (!whole || !r->runs) return TTM_OK;
  l->profile->calls.at[r->stream->last_top].finished = true;
  return ttm_program_end_all(l->builder, r->stream);
}

static int enter_program(report_loader *l, report_rank *r, const element *e) {
  ttm_builder *b = l->builder;
  ttm_stream *s = r->stream;
  uint32_t const_eval;
  bool fresh = !r->runs || e->run != r->run;
  if (ttm_build_string(b, e->const_eval, &const_eval)) return TTM_ENOMEM;
  if ((fresh || const_eval != r->const_eval) && leave_program(l, r, fresh, e->line)) return TTM_ENOMEM;
  if (fresh) {
    s->runs = r->run = e->run;
    r->runs = true;
    if (ttm_program_start(b, s, TTM_LIT(""), e->line)) return TTM_ENOMEM;
  }
  /* The const-eval programs of a run come first: its own name is told by what follows. */
  uint32_t *name = &l->profile->calls.at[s->last_top].name;
  if (!const_eval) return *name ? TTM_OK : ttm_build_string(b, e->program, name);
  if (const_eval == r->const_eval) return TTM_OK;
  r->const_eval = const_eval;
  if (e->cache_miss) s->missed = const_eval;
  return ttm_program_start(b, s, e->const_eval, e->line);
}

static int add_text(report_loader *l, element *e, uint32_t *out) {
  ttm_op_line *text = &e->text;
  ttm_op_text row;
  bool told = text->name.n && text->input_types.p && text->output_type.p; /* else there was no operation line */
  *(told ? &l->profile->seen.op_lines : &l->profile->seen.unpaired) += 1;
  if (!text->name.n) text->name = e->op_type;
  if (text->result.n) text->result_count = e->results > 1 ? e->results : 1;
  if (ttm_op_line_types(text) == TTM_ENOMEM || ttm_fill_text(l->builder, text, e->location, &row) ||
      ttm_build_string(l->builder, e->op_type, &row.op_type))
    return TTM_ENOMEM;
  row.synthetic = !told;
  return ttm_build_text_once(l->builder, &row, out);
}

static int add_element(report_loader *l, element *e) {
  report_rank *r;
  uint32_t text;
  if (rank_of(l, e->rank, &r) || add_frees(l, r, &e->block) || enter_program(l, r, e) || add_text(l, e, &text) ||
      ttm_op_begin(l->builder, r->stream, text, e->line) || ttm_vec_push(&l->ops, r->stream->pending))
    return TTM_ENOMEM;
  return add_state(l, r, e);
}

/* The elements of memory.json, each with its twin of operations.json. */
static int read_elements(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  report_loader *l = into;
  element e = {.line = 0};
  bool twins = ttm_json_enter_if(&l->operations, '[');
  int rc = TTM_OK;
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  while (!rc && ttm_json_item(j)) {
    ttm_op_line_clear(&e.text);
    e = (element){.text = e.text, .effect = {NAN, NAN, NAN, NAN}};
    rc = ttm_fields_read(texts, j, element_fields, &e);
    twins = twins && ttm_json_item(&l->operations);
    if (!rc && twins) rc = ttm_fields_read(texts, &l->operations, element_fields, &e);
    if (!rc && !j->error) rc = add_element(l, &e);
  }
  ttm_op_line_free(&e.text);
  return rc;
}

/* ---- Compiled graphs ----------------------------------------------------------------------------------------------- */

static ttm_stream *first_stream(report_loader *l) { return l->ranks.at[0].stream; }

/* Graph number `n`, made when it is the next one. */
static int need_graph(report_loader *l, uint32_t n) {
  ttm_stream *s = first_stream(l);
  s->graph = n < l->profile->graphs.n ? n : TTM_NONE;
  return s->graph == TTM_NONE ? ttm_build_graph(l->builder, s, TTM_LIT("")) : TTM_OK;
}

/* The module text of the stage that the key names. */
static int read_stage(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  struct module {
    ttm_str text;
    ttm_dump row;
  } m = {.row = {.line_count = 0}};
  static const ttm_field fields[] = {{"text", ttm_field_text, offsetof(struct module, text)},
                                     {"line", ttm_field_count, offsetof(struct module, row.first_line)},
                                     {0}};
  report_loader *l = into;
  ttm_stream *s = first_stream(l);
  if (ttm_build_string(l->builder, texts->key, &m.row.stage) || ttm_fields_read(texts, j, fields, &m))
    return TTM_ENOMEM;
  if (!m.text.n) return TTM_OK;
  for (size_t i = 0; i < m.text.n; i++) m.row.line_count += m.text.p[i] == '\n';
  l->profile->seen.dumps++;
  if (ttm_build_graph(l->builder, s, ttm_profile_string(l->profile, m.row.stage))) return TTM_ENOMEM;
  return ttm_build_dump(l->builder, s, m.row, m.text, true);
}

static int read_stages(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {{"*", read_stage, 0}, {0}};
  (void)into;
  return ttm_fields_read(texts, j, fields, texts);
}

/* The rank and the module texts of each graph; those of the first stand at the top of the file. */
static int read_graphs(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  static const ttm_field fields[] = {{"rank", ttm_field_count, 0}, {"stages", read_stages, 0}, {0}};
  report_loader *l = into;
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  for (uint32_t n = 0; ttm_json_item(j); n++) {
    uint32_t rank = 0;
    if (need_graph(l, n) || ttm_fields_read(texts, j, fields, &rank)) return TTM_ENOMEM;
    l->profile->graphs.at[n].rank = ttm_map_get(&l->rank_of_number, rank, 0);
  }
  return TTM_OK;
}

/* ---- Arguments ----------------------------------------------------------------------------------------------------- */

typedef struct entry {
  ttm_str ssa, name, type, shape, local_shape, dtype;
  uint32_t graph;
  bool kv_cache;
} entry;

static const ttm_field entry_fields[] = {{"ssa", ttm_field_text, offsetof(entry, ssa)},
                                         {"name", ttm_field_text, offsetof(entry, name)},
                                         {"type", ttm_field_text, offsetof(entry, type)},
                                         {"shape", ttm_field_text, offsetof(entry, shape)},
                                         {"local_shape", ttm_field_text, offsetof(entry, local_shape)},
                                         {"dtype", ttm_field_text, offsetof(entry, dtype)},
                                         {"graph", ttm_field_count, offsetof(entry, graph)},
                                         {"kv_cache", ttm_field_flag, offsetof(entry, kv_cache)},
                                         {0}};

static void put_type(ttm_buf *out, ttm_str shape, ttm_str dtype) {
  ttm_buf_printf(out, "tensor<%.*s%s%.*s>", (int)shape.n, shape.p, shape.n ? "x" : "", (int)dtype.n, dtype.p);
}

/* The registry says more of an argument than the module texts. */
static int add_entry(report_loader *l, const entry *e) {
  ttm_module_arg arg = {.ssa = e->ssa, .name = e->name, .kind = ttm_arg_kind_of(e->type), .kv_cache = e->kv_cache};
  if (ttm_str_eq(e->name, e->ssa)) arg.name = (ttm_str){"", 0}; /* it has none */
  if (e->graph != l->args_of) l->args_of = e->graph, l->arg = 0;
  if (e->graph > l->profile->graphs.n) return TTM_OK;
  ttm_buf_clear(&l->scratch);
  put_type(&l->scratch, e->shape, e->dtype);
  size_t n = l->scratch.n;
  if (e->local_shape.n) put_type(&l->scratch, e->local_shape, e->dtype);
  if (l->scratch.failed || need_graph(l, e->graph)) return TTM_ENOMEM;
  if (e->dtype.n) arg.type = (ttm_str){l->scratch.at, n};
  if (e->dtype.n) arg.local_type = (ttm_str){l->scratch.at + n, l->scratch.n - n};
  return ttm_build_arg(l->builder, e->graph, l->arg++, &arg, true);
}

static int read_entries(ttm_field_texts *texts, ttm_json_pull *j, void *into) {
  if (!ttm_json_enter_if(j, '[')) return TTM_OK;
  while (ttm_json_item(j)) {
    entry e = {.graph = 0};
    if (ttm_fields_read(texts, j, entry_fields, &e) || add_entry(into, &e)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* ---- Findings ------------------------------------------------------------------------------------------------------ */

/* 0 for what is no count. */
static uint32_t count_of(ttm_str object, const char *key) {
  uint64_t number = ttm_json_get_count(ttm_json_get_member(object, key), 0);
  return number < TTM_NONE ? (uint32_t)number : 0;
}

static int add_incident(report_loader *l, ttm_str row) {
  ttm_profile *p = l->profile;
  ttm_str operation = ttm_json_get_member(row, "operation");
  uint64_t element = ttm_json_get_count(ttm_json_get_member(operation, "index"), UINT64_MAX);
  uint32_t op = element < l->ops.n ? l->ops.at[element] : TTM_NONE, line = count_of(row, "line");
  ttm_incident_text what;
  report_rank *r;
  size_t before = p->incidents.n;
  ttm_buf_clear(&l->scratch);
  ttm_json_get_string(&l->scratch, ttm_json_get_member(row, "text"));
  if (l->scratch.failed || rank_of(l, count_of(row, "rank"), &r)) return TTM_ENOMEM;
  if (!ttm_incident_parse_info(ttm_buf_str(&l->scratch), &what)) return TTM_OK;
  if (ttm_build_incident(l->builder, r->stream, what, op, line, true)) return TTM_ENOMEM;
  if (p->incidents.n == before) return TTM_OK;
  if (count_of(row, "copies")) p->incidents.at[before].copies = count_of(row, "copies");
  if (op == TTM_NONE) return TTM_OK;
  if (p->ops.at[op].state != TTM_NONE) p->incidents.at[before].state = p->ops.at[op].state;
  if (op != r->stream->pending) p->ops.at[op].flags &= ~(uint32_t)TTM_OP_FAILED; /* others followed: it got over it */
  return TTM_OK;
}

/* Whether the last run of a rank was finished: of the others it is clear. */
static void add_run(report_loader *l, ttm_str row) {
  uint32_t at = ttm_map_get(&l->rank_of_number, count_of(row, "rank"), TTM_NONE);
  if (at == TTM_NONE || count_of(row, "run") != l->ranks.at[at].run) return;
  l->ranks.at[at].ended = ttm_str_eq(ttm_json_get_member(row, "finished"), TTM_LIT("true"));
}

/* What the log was. */
static int add_input(report_loader *l, ttm_str input) {
  ttm_seen *seen = &l->profile->seen;
  seen->cut |= ttm_str_eq(ttm_json_get_member(input, "truncated"), TTM_LIT("true"));
  l->profile->filled = ttm_str_eq(ttm_json_get_member(input, "predicted_states"), TTM_LIT("true"));
  seen->bytes = ttm_json_get_count(ttm_json_get_member(input, "bytes"), 0);
  seen->lines = ttm_json_get_count(ttm_json_get_member(input, "lines"), 0);
  seen->deallocations = count_of(input, "deallocations"); /* and not those that stand for them */
  ttm_buf_clear(&l->scratch);
  ttm_json_get_string(&l->scratch, ttm_json_get_member(input, "partial"));
  if (l->scratch.failed || ttm_build_string(l->builder, ttm_buf_str(&l->scratch), &seen->partial)) return TTM_ENOMEM;
  ttm_buf_clear(&l->scratch);
  ttm_json_get_string(&l->scratch, ttm_json_get_member(input, "path"));
  if (l->scratch.failed) return TTM_ENOMEM;
  return l->scratch.n ? ttm_build_string(l->builder, ttm_buf_str(&l->scratch), &l->profile->path) : TTM_OK;
}

/* A findings file without the others names the kind of what was read, and how many ranks it had. */
static int add_kind(report_loader *l, ttm_str input) {
  enum { MOST_RANKS = 1024 };
  report_rank *r;
  uint32_t ranks = count_of(input, "ranks");
  ttm_buf_clear(&l->scratch);
  ttm_json_get_string(&l->scratch, ttm_json_get_member(input, "kind"));
  l->profile->predicted = ttm_str_eq(ttm_buf_str(&l->scratch), TTM_LIT("predicted"));
  l->profile->kind = l->profile->predicted ? TTM_LOG_FULL : ttm_log_kind_named(ttm_buf_str(&l->scratch));
  for (uint32_t i = 0; i < ranks && i < MOST_RANKS; i++)
    if (rank_of(l, i, &r)) return TTM_ENOMEM;
  return l->scratch.failed ? TTM_ENOMEM : TTM_OK;
}

/* ---- The whole ----------------------------------------------------------------------------------------------------- */

/* A file that breaks off is cut; one that could not be read is an error. */
static int close_file(report_loader *l, ttm_json_pull *j, int rc, ttm_error *err) {
  if (j->error && j->status == TTM_EFORMAT) l->profile->seen.cut = true;
  if (!rc && j->error && j->status != TTM_EFORMAT) rc = j->status;
  if (rc == TTM_EIO && err) *err = j->io;
  ttm_json_free(j);
  return rc == TTM_ENOMEM ? ttm_error_nomem(err) : rc;
}

static int read_file(report_loader *l, const ttm_report_part *file, const ttm_field *fields, ttm_error *err) {
  ttm_json_pull j;
  ttm_json_init(&j, file->source, file->text);
  return close_file(l, &j, ttm_fields_read(&l->texts, &j, fields, l), err);
}

static int read_files(report_loader *l, const ttm_report_files *files, ttm_error *err) {
  static const ttm_field memory[] = {{"operations", read_elements, 0}, {0}};
  static const ttm_field ir[] = {{"graphs", read_graphs, 0}, {"*", read_stage, 0}, {0}};
  static const ttm_field registry[] = {{"entries", read_entries, 0}, {0}};
  report_rank *r;
  ttm_json_init(&l->operations, files->operations.source, files->operations.text);
  int rc = read_file(l, &files->memory, memory, err);
  rc = close_file(l, &l->operations, rc, err);
  if (!rc && !l->ranks.n && rank_of(l, 0, &r)) rc = ttm_error_nomem(err);
  if (!rc) rc = read_file(l, &files->ir, ir, err);
  return rc ? rc : read_file(l, &files->registry, registry, err);
}

static int finish(report_loader *l, const ttm_report_files *files) {
  ttm_profile *p = l->profile;
  ttm_str findings = files->findings, input = ttm_json_get_member(findings, "input");
  ttm_str incidents = ttm_json_get_member(findings, "incidents"), runs = ttm_json_get_member(findings, "runs"), row;
  while (ttm_json_get_element(&runs, &row)) add_run(l, row);
  while (ttm_json_get_element(&incidents, &row))
    if (add_incident(l, row)) return TTM_ENOMEM;
  for (size_t i = 0; i < l->ranks.n; i++) {
    report_rank *r = &l->ranks.at[i];
    if (add_frees(l, r, &(ttm_block){0}) || leave_program(l, r, r->ended, r->last.line)) return TTM_ENOMEM;
  }
  if (!files->memory.source && !files->memory.text.p && add_kind(l, input)) return TTM_ENOMEM;
  if (ttm_builder_end(l->builder)) return TTM_ENOMEM;
  if (p->kind != TTM_LOG_FULL) p->seen.unpaired = 0;
  p->seen.from_report = true;
  return add_input(l, input);
}

int ttm_load_report(ttm_builder *b, ttm_input *in, ttm_error *err) {
  report_loader l = {.builder = b, .profile = b->profile};
  ttm_str path = ttm_profile_string(b->profile, b->profile->path);
  int rc = ttm_build_type_text(b, TTM_LIT("ttnn.deallocate"), &l.free_text) ? ttm_error_nomem(err) : TTM_OK;
  if (!rc) rc = read_files(&l, in->report, err);
  if (!rc && finish(&l, in->report)) rc = ttm_error_nomem(err);
  ttm_vec_free(&l.ranks);
  ttm_map_free(&l.rank_of_number);
  ttm_vec_free(&l.ops);
  ttm_intern_free(&l.texts.pool);
  ttm_buf_free(&l.scratch);
  if (rc || b->profile->kind != TTM_LOG_NONE) return rc;
  return ttm_error_set(err, TTM_ENODATA, "'%.*s' holds no operations; analyse the log again: ttmem analyze LOG",
                       (int)path.n, path.p);
}
