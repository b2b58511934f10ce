/* SPDX-License-Identifier: Apache-2.0 */
/* A report written once and shown in five ways: on a terminal, as markdown, as a page of HTML that needs nothing else, and for programs as JSON and as
 * CSV (doc_data.h). Headings, sentences, points, tables and pictures of L1. Texts may come from logs and sources: each way makes them harmless. */
#ifndef TTM_REPORT_DOC_H
#define TTM_REPORT_DOC_H

#include "base/buf.h"
#include "l1/core_range.h"
#include "l1/map.h"

typedef enum ttm_doc_form {
  TTM_DOC_TERMINAL,
  TTM_DOC_MARKDOWN,
  TTM_DOC_HTML,
  TTM_DOC_JSON, /* this and the next: no pictures, no charts, plain numbers, every row */
  TTM_DOC_CSV
} ttm_doc_form;

enum { TTM_DOC_COLUMNS = 16 }; /* of a table, at most */

/* How a text looks where there is colour. */
typedef enum ttm_doc_tone { TTM_DOC_PLAIN, TTM_DOC_BAD, TTM_DOC_WARN, TTM_DOC_DIM, TTM_DOC_GOOD } ttm_doc_tone;

/* Of each line on a terminal: the operation it is about, and whether it only goes on with what the line above began. */
typedef struct ttm_doc_line_about {
  uint32_t operation; /* report index; UINT32_MAX */
  bool text, goes_on; /* a heading and a blank line are no text */
} ttm_doc_line_about;
typedef TTM_VEC(ttm_doc_line_about) ttm_doc_lines;

/* Begun with ttm_doc_begin, ended with ttm_doc_end. A failed allocation shows at the end. */
typedef struct ttm_doc {
  ttm_buf *out;
  ttm_doc_form form;
  unsigned columns; /* of the terminal */
  bool color, utf8;
  bool comment;         /* markdown: for a comment, where nothing foreign may be a link or mention anybody */
  ttm_doc_lines *lines; /* terminal: filled line by line unless NULL */
  uint32_t about;       /* operation + 1 that the next text is about; 0 */
  bool started;         /* something was written: the next heading wants a blank line */
  bool in_list;
  size_t parts; /* written so far: sentences, rows and tables */
  struct {      /* JSON and CSV: what waits for the end of its section */
    ttm_buf section, texts, tables, head;
    ttm_buf more; /* JSON: members to stand behind the sections, each with its comma before it */
    const char *label;
    size_t sections;
    bool begun;
  } data;
  /* the table being filled */
  const char *heads[TTM_DOC_COLUMNS];
  size_t head_count;
  TTM_VEC(ttm_buf) cells;
} ttm_doc;

static inline bool ttm_doc_is_data(const ttm_doc *doc) { return doc->form >= TTM_DOC_JSON; }
/* How many of `n` rows a reader bears; programs get all. */
static inline size_t ttm_doc_most(const ttm_doc *doc, size_t n) { return ttm_doc_is_data(doc) ? SIZE_MAX : n; }

void ttm_doc_begin(ttm_doc *doc, const char *title);
/* 0 or TTM_ENOMEM. */
int ttm_doc_end(ttm_doc *doc);

void ttm_doc_heading(ttm_doc *doc, const char *text);
/* A sentence; a point of a list. The text may be foreign. Points that follow each other are one list. */
void ttm_doc_line(ttm_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ttm_doc_point(ttm_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the next text is about: the report index of an operation, or UINT32_MAX. */
void ttm_doc_about(ttm_doc *doc, uint32_t operation);
/* A text below a heading; a figure in MB per bank and what it is of; a row of a screen with a label in its margin ("": the label above holds). */
void ttm_doc_text(ttm_doc *doc, ttm_doc_tone tone, ttm_str text);
void ttm_doc_figure(ttm_doc *doc, double mb, ttm_str text);
void ttm_doc_labelled(ttm_doc *doc, const char *label, ttm_doc_tone tone, ttm_str text);
/* Lines of code below a point, which keep their shape. */
void ttm_doc_code(ttm_doc *doc, ttm_str lines);

/* A table: the heads ("Buffer", ">Bytes": numbers, to the right; "<Failure", only the last: below its row on a narrow terminal; ">Capacity\tL1 capacity":
 * what programs call it), then all cells row by row, then the end. */
void ttm_doc_table(ttm_doc *doc, const char *const *heads, size_t n);
void ttm_doc_cell(ttm_doc *doc, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ttm_doc_cell_count(ttm_doc *doc, uint64_t n);     /* "1,234" */
void ttm_doc_cell_mb(ttm_doc *doc, double mb);         /* "1,234.5"; "-" for NAN */
void ttm_doc_cell_change(ttm_doc *doc, double mb);     /* "+1,234.5" */
void ttm_doc_cell_bytes(ttm_doc *doc, uint64_t bytes); /* "1.95 MB" */
void ttm_doc_cell_text(ttm_doc *doc, ttm_str text);
void ttm_doc_table_end(ttm_doc *doc);

/* Lines that keep their shape: a chart made of characters. Ours, or made harmless by the caller. */
void ttm_doc_block(ttm_doc *doc, ttm_str lines);

/* One core's L1. */
void ttm_doc_picture(ttm_doc *doc, const ttm_l1_map *map);
/* Every core; in characters only when they do not all look the same. */
void ttm_doc_cores(ttm_doc *doc, const ttm_core_grid *grid);

#endif
