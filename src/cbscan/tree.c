/* SPDX-License-Identifier: Apache-2.0 */
#include "cbscan/tree.h"

#include <tree_sitter/api.h>

#include "cbscan/names.h"

/* From the grammar, which is linked in. */
const TSLanguage *tree_sitter_cpp(void);

/* Up to 0.20.7, which Debian 12 has, libtree-sitter counts the children of a node in 16 bits and frees what it did not allocate when they are more
 * (its issue 2134). Where a text is broken all that is open becomes one node, so no text may have as many tokens, with room for those that
 * it adds itself. No version can be asked for. Of tt-metal's own sources the longest has 52,405. */
enum { MAX_SYMBOLS = 2048, MAX_FIELDS = 128, MAX_TEXT = 64 << 20, MAX_TOKENS = 60000, MAX_NODES = 1 << 25 };

struct cbs_tree_parser {
  TSParser *parser;
  uint8_t kind[MAX_SYMBOLS];
  uint8_t field[MAX_FIELDS];
  TSTreeCursor cursor;
  bool has_cursor;
};

static const char *const kind_names[CBS_NODE_KIND_COUNT] = {
#define X(name, text) [CBS_N_##name] = text,
    CBS_NODE_KINDS(X)
#undef X
};

static const char *const field_names[CBS_NODE_FIELD_COUNT] = {
#define X(name, text) [CBS_F_##name] = text,
    CBS_NODE_FIELDS(X)
#undef X
};

/* Several symbols of a grammar may carry one name (aliases): the table is by symbol, filled by name. */
static void learn_language(cbs_tree_parser *parser, const TSLanguage *language) {
  uint32_t symbols = ts_language_symbol_count(language);
  for (uint32_t s = 0; s < symbols && s < MAX_SYMBOLS; s++) {
    if (ts_language_symbol_type(language, (TSSymbol)s) != TSSymbolTypeRegular) continue;
    const char *name = ts_language_symbol_name(language, (TSSymbol)s);
    for (int k = CBS_N_OPERATOR + 1; k < CBS_NODE_KIND_COUNT; k++) {
      if (name[0] == kind_names[k][0] && !strcmp(name, kind_names[k])) parser->kind[s] = (uint8_t)k;
    }
  }
  for (int f = 1; f < CBS_NODE_FIELD_COUNT; f++) {
    TSFieldId id = ts_language_field_id_for_name(language, field_names[f], (uint32_t)strlen(field_names[f]));
    if (id && id < MAX_FIELDS) parser->field[id] = (uint8_t)f;
  }
}

int cbs_tree_parser_new(cbs_tree_parser **out, ttm_error *err) {
  const TSLanguage *language = tree_sitter_cpp();
  cbs_tree_parser *parser = ttm_alloc(sizeof *parser);
  *out = NULL;
  if (!parser) return ttm_error_nomem(err);
  parser->parser = ts_parser_new();
  if (!parser->parser || !ts_parser_set_language(parser->parser, language)) {
    cbs_tree_parser_free(parser);
    return ttm_error_set(err, TTM_EFORMAT,
                         "the tree-sitter library of this machine cannot read the C++ grammar (ABI %u)",
                         ts_language_version(language));
  }
  learn_language(parser, language);
  *out = parser;
  return TTM_OK;
}

void cbs_tree_parser_free(cbs_tree_parser *parser) {
  if (!parser) return;
  if (parser->has_cursor) ts_tree_cursor_delete(&parser->cursor);
  if (parser->parser) ts_parser_delete(parser->parser);
  ttm_free(parser);
}

/* ---- Flattening --------------------------------------------------------------------------------------------------- */

static void note_broken(cbs_tree *out, uint32_t line) {
  if (!out->broken++ || line < out->broken_line) out->broken_line = line;
}

/* Appends the node under the cursor as a child of `parent`; 0 when it is of no interest, else its index. */
static cbs_node append(cbs_tree_parser *parser, cbs_tree *out, cbs_node parent, cbs_node last, bool *failed) {
  TSNode node = ts_tree_cursor_current_node(&parser->cursor);
  TSFieldId field_id = ts_tree_cursor_current_field_id(&parser->cursor);
  uint8_t field = field_id < MAX_FIELDS ? parser->field[field_id] : 0;
  uint32_t line = ts_node_start_point(node).row + 1;
  uint8_t kind;
  if (ts_node_is_missing(node)) note_broken(out, line);
  if (!ts_node_is_named(node)) {
    if (field != CBS_F_OPERATOR) return 0;
    kind = CBS_N_OPERATOR;
  } else if (ts_node_is_extra(node) && !ts_node_has_error(node)) {
    return 0; /* comments */
  } else {
    TSSymbol symbol = ts_node_symbol(node);
    kind = symbol == (TSSymbol)-1 ? CBS_N_ERROR : symbol < MAX_SYMBOLS ? parser->kind[symbol] : CBS_N_OTHER;
    if (kind == CBS_N_ERROR) note_broken(out, line);
  }
  cbs_node n = (cbs_node)out->nodes.n;
  if (n >= MAX_NODES || ttm_vec_push(&out->nodes, (cbs_tree_node){.kind = kind,
                                                                  .field = field,
                                                                  .start = ts_node_start_byte(node),
                                                                  .end = ts_node_end_byte(node),
                                                                  .line = line,
                                                                  .parent = parent})) {
    *failed = true;
    return 0;
  }
  if (last)
    out->nodes.at[last].next = n;
  else
    out->nodes.at[parent].child = n;
  return n;
}

/* Walks the tree without recursion: hostile text nests deeper than a stack is. The last child of each open node is found by
 * keeping `after` as its scratch until the node is closed. */
static int flatten(cbs_tree_parser *parser, cbs_tree *out) {
  bool failed = false;
  cbs_node parent = 0;
  uint32_t skipped = 0; /* depth below a node that was left out */
  for (;;) {
    cbs_node n = skipped ? 0 : append(parser, out, parent, out->nodes.at[parent].after, &failed);
    if (failed) return TTM_ENOMEM;
    if (n) out->nodes.at[parent].after = n;
    if (ts_tree_cursor_goto_first_child(&parser->cursor)) {
      if (n)
        parent = n;
      else
        skipped++;
      continue;
    }
    if (n) out->nodes.at[n].after = n + 1;
    while (!ts_tree_cursor_goto_next_sibling(&parser->cursor)) {
      if (!ts_tree_cursor_goto_parent(&parser->cursor)) return TTM_OK;
      if (skipped) {
        skipped--;
      } else {
        out->nodes.at[parent].after = (cbs_node)out->nodes.n;
        parent = out->nodes.at[parent].parent;
      }
    }
  }
}

/* No fewer than there are: a number may end in letters of their own, each character between ' and ' is one, and so is the end of a line with #. */
bool cbs_tree_is_too_long(ttm_str text) {
  size_t tokens = 0;
  bool directive = false, quoted = false;
  for (size_t i = 0; i < text.n && tokens <= MAX_TOKENS; i++) {
    char c = text.p[i], before = i ? text.p[i - 1] : ' ';
    bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    bool goes_on = cbs_is_word(c) && cbs_is_word(before) && (ttm_is_digit(c) || !ttm_is_digit(before));
    quoted = c == '\'' ? !quoted : quoted && c != '\n';
    directive |= c == '#';
    tokens += quoted || !(blank || goes_on) || (c == '\n' && directive);
    directive &= c != '\n';
  }
  return tokens > MAX_TOKENS;
}

int cbs_tree_parse(cbs_tree_parser *parser, ttm_str text, cbs_tree *out, ttm_error *err) {
  out->text = text;
  out->nodes.n = 0;
  out->broken = out->broken_line = 0;
  if (text.n > MAX_TEXT) return ttm_error_set(err, TTM_EFORMAT, "larger than %d MB", MAX_TEXT >> 20);
  if (cbs_tree_is_too_long(text))
    return ttm_error_set(err, TTM_EFORMAT, "more than %d,000 words and signs beside comments", MAX_TOKENS / 1000);
  ts_parser_reset(parser->parser);
  TSTree *tree = ts_parser_parse_string(parser->parser, NULL, text.n ? text.p : "", (uint32_t)text.n);
  if (!tree) return ttm_error_set(err, TTM_EFORMAT, "could not be parsed");
  TSNode root = ts_tree_root_node(tree);
  if (parser->has_cursor)
    ts_tree_cursor_reset(&parser->cursor, root);
  else
    parser->cursor = ts_tree_cursor_new(root);
  parser->has_cursor = true;
  int status = ttm_vec_push(&out->nodes, (cbs_tree_node){0}); /* node 0: none */
  if (!status) status = flatten(parser, out);
  if (!status) out->nodes.at[0] = (cbs_tree_node){0};
  ts_tree_delete(tree);
  return status ? ttm_error_nomem(err) : TTM_OK;
}

void cbs_tree_free(cbs_tree *tree) { ttm_vec_free(&tree->nodes); }

/* ---- Looking around ----------------------------------------------------------------------------------------------- */

cbs_node cbs_tree_field(const cbs_tree *tree, cbs_node n, cbs_node_field field) {
  for (cbs_node c = tree->nodes.at[n].child; c; c = tree->nodes.at[c].next) {
    if (tree->nodes.at[c].field == field) return c;
  }
  return 0;
}

cbs_node cbs_tree_child(const cbs_tree *tree, cbs_node n, size_t i) {
  for (cbs_node c = tree->nodes.at[n].child; c; c = tree->nodes.at[c].next) {
    if (tree->nodes.at[c].kind == CBS_N_OPERATOR) continue;
    if (!i--) return c;
  }
  return 0;
}

size_t cbs_tree_children(const cbs_tree *tree, cbs_node n) {
  size_t count = 0;
  for (cbs_node c = tree->nodes.at[n].child; c; c = tree->nodes.at[c].next) {
    count += tree->nodes.at[c].kind != CBS_N_OPERATOR;
  }
  return count;
}
