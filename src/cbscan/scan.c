/* SPDX-License-Identifier: Apache-2.0 */
/* The scan from paths to result: files are read and parsed by several threads, each into its own arena, and joined in order. */
#include "cbscan/scan.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/checked.h"
#include "base/threads.h"
#include "cbscan/files.h"
#include "cbscan/unit.h"

/* What one file gave, until all are joined. */
typedef struct file_result {
  ttm_str text;
  cbs_unit unit; /* tree and names are gone by then */
  cbs_defines constants;
} file_result;

typedef struct job {
  cbs_scan *scan;
  file_result *results;
  cbs_defines defines, elsewhere;
  atomic_size_t next;
  atomic_int status;
  bool given;  /* texts are there already */
  bool parses; /* second round */
} job;

/* ---- One file ------------------------------------------------------------------------------------------------------- */

static uint32_t count_lines(ttm_str text) {
  uint32_t lines = 0;
  for (const char *at = text.p, *end = text.p + text.n; at < end; lines++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (!newline) return lines + 1;
    at = newline + 1;
  }
  return lines;
}

static int note_failure(cbs_file *file, ttm_arena *arena, const ttm_error *err) {
  file->failure = ttm_arena_copy(arena, (ttm_str){err->message, strlen(err->message) + 1});
  return file->failure ? TTM_OK : TTM_ENOMEM;
}

/* First round: read, see what it is, keep what will be parsed. */
static int read_one(job *j, size_t i) {
  cbs_file *file = &j->scan->files.at[i];
  file_result *result = &j->results[i];
  ttm_arena *arena = &j->scan->arenas[i];
  ttm_error err;
  int status = j->given ? TTM_OK : cbs_read_file(file->path, arena, &result->text, &err);
  if (status == TTM_EIO) return note_failure(file, arena, &err);
  if (status) return status;
  file->bytes = result->text.n;
  file->lines = count_lines(result->text);
  file->role = cbs_role_of(ttm_str_of(file->path), result->text);
  if (cbs_is_cut(result->text, arena, &file->cut)) return TTM_ENOMEM;
  bool header = cbs_is_header(ttm_str_of(file->path));
  if (header && cbs_constants_read(&result->constants, result->text)) return TTM_ENOMEM;
  if (file->role == CBS_FILE_OTHER && !result->constants.n && !j->given) ttm_arena_free(arena);
  return TTM_OK;
}

static int scan_parsed(cbs_unit *unit, const job *j, ttm_error *err) {
  int status = cbs_names_collect(&unit->names, &unit->tree);
  if (status == TTM_EFORMAT) return ttm_error_set(err, status, "its macros stand for too much text");
  if (!status) status = cbs_eval_begin(&unit->eval, &unit->tree, &unit->names, unit->arena);
  if (status) return status;
  unit->eval.defines = j->defines;
  unit->eval.elsewhere = j->elsewhere;
  if (unit->file->role == CBS_FILE_KERNEL) return cbs_scan_kernel(unit);
  status = cbs_scan_host(unit);
  return status ? status : cbs_scan_host_kernels(unit);
}

static int compare(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int by_place(const void *a, const void *b) {
  const cbs_buffer *x = a, *y = b;
  int by_function = compare(x->function, y->function), by_node = compare(x->node, y->node);
  return by_function ? by_function : by_node ? by_node : compare(x->call_line, y->call_line);
}

static int ref_by_place(const void *a, const void *b) {
  const cbs_kernel_ref *x = a, *y = b;
  return x->function != y->function ? compare(x->function, y->function) : compare(x->node, y->node);
}

/* Sorts what was found and finds the functions it belongs to, while the tree is there. */
static int find_functions(cbs_unit *unit) {
  uint32_t cb = 0, ref = 0;
  if (unit->buffers.n) qsort(unit->buffers.at, unit->buffers.n, sizeof *unit->buffers.at, by_place);
  if (unit->refs.n) qsort(unit->refs.at, unit->refs.n, sizeof *unit->refs.at, ref_by_place);
  while (cb < unit->buffers.n || ref < unit->refs.n) {
    cbs_node node = cb < unit->buffers.n ? unit->buffers.at[cb].function : UINT32_MAX;
    if (ref < unit->refs.n && unit->refs.at[ref].function < node) node = unit->refs.at[ref].function;
    cbs_function function = {.file = unit->file_index, .first_buffer = cb, .first_ref = ref};
    function.name = cbs_function_name(&unit->tree, node);
    function.line = node ? cbs_tree_at(&unit->tree, node)->line : 1;
    while (cb < unit->buffers.n && unit->buffers.at[cb].function == node) cb++;
    while (ref < unit->refs.n && unit->refs.at[ref].function == node) ref++;
    function.buffer_count = cb - function.first_buffer;
    function.ref_count = ref - function.first_ref;
    if (ttm_vec_push(&unit->functions, function)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

/* Kernels are C++ with words of their own, and where #if and #else each open the same brace they are none until one is chosen: that is
 * done when a text does not parse otherwise, and only if it helps. */
static int parse_text(cbs_tree_parser *parser, ttm_str text, ttm_arena *arena, cbs_tree *tree, bool *chose,
                      ttm_error *err) {
  char *plain = cbs_simplify(text, false, arena);
  if (plain) text.p = plain;
  plain = cbs_tree_is_too_long(text) ? cbs_without_comments(text, arena) : NULL;
  if (plain) text.p = plain;
  int status = cbs_tree_parse(parser, text, tree, err);
  uint32_t broken = tree->broken;
  char *chosen = !status && broken ? cbs_simplify(text, true, arena) : NULL;
  if (!chosen) return status;
  status = cbs_tree_parse(parser, (ttm_str){chosen, text.n}, tree, err);
  *chose = !status && tree->broken < broken;
  return status || *chose ? status : cbs_tree_parse(parser, text, tree, err);
}

/* Second round: parse and look. */
static int parse_one(job *j, size_t i, cbs_tree_parser *parser, cbs_tree *tree) {
  cbs_file *file = &j->scan->files.at[i];
  cbs_unit *unit = &j->results[i].unit;
  ttm_error err;
  if (file->role == CBS_FILE_OTHER || file->failure) return TTM_OK;
  unit->file = file;
  unit->file_index = (uint32_t)i;
  unit->arena = &j->scan->arenas[i];
  int status = parse_text(parser, j->results[i].text, unit->arena, tree, &file->chosen, &err);
  if (status == TTM_EFORMAT) return note_failure(file, unit->arena, &err);
  if (status) return status;
  unit->tree = *tree;
  status = scan_parsed(unit, j, &err);
  file->parsed = status != TTM_EFORMAT;
  file->broken = tree->broken;
  file->broken_line = tree->broken_line;
  if (!status) status = find_functions(unit);
  if (status == TTM_EFORMAT) status = note_failure(file, unit->arena, &err);
  cbs_names_free(&unit->names);
  unit->tree = (cbs_tree){0};
  return status;
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

static void *work(void *context) {
  job *j = context;
  cbs_tree_parser *parser = NULL;
  cbs_tree tree = {0};
  ttm_error err;
  int none = TTM_OK, status = j->parses ? cbs_tree_parser_new(&parser, &err) : TTM_OK;
  for (size_t i; !status && !j->status && (i = atomic_fetch_add(&j->next, 1)) < j->scan->files.n;) {
    status = j->parses ? parse_one(j, i, parser, &tree) : read_one(j, i);
  }
  if (status) atomic_compare_exchange_strong(&j->status, &none, status);
  cbs_tree_free(&tree);
  cbs_tree_parser_free(parser);
  return NULL;
}

/* One round over all files. */
static int run_threads(job *j, unsigned threads, bool parses) {
  j->next = 0;
  j->parses = parses;
  ttm_threads_run(threads < j->scan->files.n ? threads : (unsigned)j->scan->files.n, work, j);
  return j->status;
}

/* ---- Joining -------------------------------------------------------------------------------------------------------- */

static int join(cbs_scan *scan, const file_result *results) {
  for (size_t i = 0; i < scan->files.n; i++) {
    const cbs_unit *unit = &results[i].unit;
    cbs_file *file = &scan->files.at[i];
    file->first_use = (uint32_t)scan->uses.n;
    file->first_handed = (uint32_t)scan->handed.n;
    file->use_count = (uint32_t)unit->uses.n;
    file->handed_count = (uint32_t)unit->handed.n;
    for (size_t k = 0; k < unit->functions.n; k++) {
      cbs_function function = unit->functions.at[k];
      function.first_buffer += (uint32_t)scan->buffers.n;
      function.first_ref += (uint32_t)scan->refs.n;
      if (ttm_vec_push(&scan->functions, function)) return TTM_ENOMEM;
    }
    for (size_t k = 0; k < unit->buffers.n; k++)
      if (ttm_vec_push(&scan->buffers, unit->buffers.at[k])) return TTM_ENOMEM;
    for (size_t k = 0; k < unit->refs.n; k++)
      if (ttm_vec_push(&scan->refs, unit->refs.at[k])) return TTM_ENOMEM;
    for (size_t k = 0; k < unit->uses.n; k++)
      if (ttm_vec_push(&scan->uses, unit->uses.at[k])) return TTM_ENOMEM;
    for (size_t k = 0; k < unit->handed.n; k++)
      if (ttm_vec_push(&scan->handed, unit->handed.at[k])) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static void free_results(file_result *results, size_t n) {
  for (size_t i = 0; results && i < n; i++) {
    cbs_unit *unit = &results[i].unit;
    ttm_vec_free(&unit->buffers);
    ttm_vec_free(&unit->refs);
    ttm_vec_free(&unit->uses);
    ttm_vec_free(&unit->handed);
    ttm_vec_free(&unit->functions);
    ttm_vec_free(&unit->used_configs);
    ttm_vec_free(&results[i].constants);
  }
  ttm_free(results);
}

/* ---- All of it ------------------------------------------------------------------------------------------------------ */

static int run(cbs_scan *scan, const cbs_options *options, ttm_str given, ttm_error *err) {
  size_t n = scan->files.n;
  job j = {.scan = scan, .given = given.p != NULL};
  unsigned threads = ttm_thread_count(options->threads);
  j.results = ttm_alloc_array(n, sizeof *j.results);
  scan->arenas = ttm_alloc_array(n, sizeof *scan->arenas);
  int status = j.results && scan->arenas ? TTM_OK : TTM_ENOMEM;
  for (size_t i = 0; !status && i < options->define_count; i++) status = ttm_vec_push(&j.defines, options->defines[i]);
  if (!status) {
    if (given.p) j.results[0].text = given;
    status = run_threads(&j, threads, false);
  }
  for (size_t i = 0; !status && i < n; i++) {
    for (size_t c = 0; !status && c < j.results[i].constants.n; c++) {
      status = ttm_vec_push(&j.elsewhere, j.results[i].constants.at[c]);
    }
  }
  if (!status) {
    cbs_constants_settle(&j.defines);
    cbs_constants_settle(&j.elsewhere);
    status = run_threads(&j, threads, true);
  }
  if (!status) status = join(scan, j.results);
  if (!status) status = cbs_judge(scan);
  free_results(j.results, n);
  ttm_vec_free(&j.defines);
  ttm_vec_free(&j.elsewhere);
  if (status == TTM_EFORMAT) {
    return ttm_error_set(err, TTM_EFORMAT,
                         "the tree-sitter library of this machine cannot read the C++ grammar of this build");
  }
  return status ? ttm_error_nomem(err) : TTM_OK;
}

static cbs_scan *start(const cbs_options *options) {
  cbs_scan *scan = ttm_alloc(sizeof *scan);
  if (!scan) return NULL;
  scan->arch = options->arch;
  uint64_t base = options->l1_base ? options->l1_base : ttm_l1_base_newest(scan->arch);
  uint64_t taken = ttm_add_sat(base, options->l1_small);
  uint64_t bytes = ttm_arches[scan->arch].l1_bytes;
  scan->l1_usable = taken < bytes ? bytes - taken : 0;
  return scan;
}

/* Hands the scan over, or frees it when it failed. */
static int finish(cbs_scan **out, cbs_scan *scan, int status) {
  if (status) cbs_scan_free(scan);
  *out = status ? NULL : scan;
  return status;
}

static const cbs_options default_options = {.arch = TTM_ARCH_WORMHOLE};

int cbs_scan_paths(cbs_scan **out, const char *const *paths, size_t n, const cbs_options *options, ttm_error *err) {
  if (!options) options = &default_options;
  int status = TTM_OK;
  cbs_scan *scan = *out = start(options);
  if (!scan) return ttm_error_nomem(err);
  for (size_t i = 0; !status && i < n; i++) status = cbs_find_files(scan, paths[i], err);
  if (!status && !scan->files.n) {
    status = ttm_error_set(err, TTM_ENODATA, "no C++ source (.cpp, .hpp, .cc, .h, ...) below '%s'", n ? paths[0] : "");
  }
  if (!status) status = run(scan, options, (ttm_str){0}, err);
  return finish(out, scan, status);
}

int cbs_scan_text(cbs_scan **out, const char *path, ttm_str text, const cbs_options *options, ttm_error *err) {
  if (!options) options = &default_options;
  cbs_scan *scan = *out = start(options);
  if (!scan) return ttm_error_nomem(err);
  int status = ttm_vec_push(&scan->files, (cbs_file){.path = path}) ? ttm_error_nomem(err) : TTM_OK;
  if (!status) status = run(scan, options, text.p ? text : (ttm_str){"", 0}, err);
  return finish(out, scan, status);
}

void cbs_scan_free(cbs_scan *scan) {
  if (!scan) return;
  for (size_t i = 0; scan->arenas && i < scan->files.n; i++) ttm_arena_free(&scan->arenas[i]);
  ttm_free(scan->arenas);
  ttm_vec_free(&scan->files);
  ttm_vec_free(&scan->buffers);
  ttm_vec_free(&scan->functions);
  ttm_vec_free(&scan->refs);
  ttm_vec_free(&scan->uses);
  ttm_vec_free(&scan->handed);
  ttm_vec_free(&scan->links);
  ttm_vec_free(&scan->findings);
  ttm_arena_free(&scan->arena);
  ttm_free(scan);
}
