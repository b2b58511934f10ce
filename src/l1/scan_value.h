/* SPDX-License-Identifier: Apache-2.0 */
/* What an expression of a source may be worth: the values it can take as far as the text tells. A plain struct, copied freely;
 * texts are borrowed from the source. */
#ifndef TTM_L1_SCAN_VALUE_H
#define TTM_L1_SCAN_VALUE_H

#include "base/str.h"

enum { TTM_ALTERNATIVES = 8, TTM_NEEDS = 3 };

typedef enum ttm_value_type {
  TTM_VALUE_INT,
  TTM_VALUE_REAL,
  TTM_VALUE_FORMAT, /* a data format: index into ttm_formats */
  TTM_VALUE_STRING,
  TTM_VALUE_ARG,       /* compile-time argument number i of a kernel */
  TTM_VALUE_NAMED_ARG, /* compile-time argument by name */
  TTM_VALUE_ACCESSOR,  /* dfb::name of a kernel */
} ttm_value_type;

typedef struct ttm_alternative {
  int64_t i; /* INT, FORMAT, ARG */
  double r;  /* REAL */
  ttm_str t; /* STRING, NAMED_ARG, ACCESSOR */
} ttm_alternative;

typedef struct ttm_scan_value {
  ttm_value_type type;
  uint8_t n;       /* known alternatives, ascending; 0: not known */
  uint8_t needs_n; /* names that keep it from being known */
  bool open;       /* may be something else too */
  bool many;       /* more alternatives than kept: smallest and largest are right */
  bool varies;     /* depends on the workload: a choice, a parameter, something asked at run time */
  int64_t at_most; /* bound when not all is known; INT64_MAX: none */
  ttm_alternative v[TTM_ALTERNATIVES];
  ttm_str needs[TTM_NEEDS];
} ttm_scan_value;

ttm_scan_value ttm_value_int(int64_t i);
/* A number the user gave for something that varies. */
ttm_scan_value ttm_value_given(int64_t i);
ttm_scan_value ttm_value_real(double r);
ttm_scan_value ttm_value_of(ttm_value_type type, int64_t i, ttm_str text);
/* Not known, for want of `need` (empty: nothing to name). */
ttm_scan_value ttm_value_unknown(ttm_str need);

/* Exactly one value. */
static inline bool ttm_value_is_one(const ttm_scan_value *v) { return v->n == 1 && !v->open; }
/* All values known. */
static inline bool ttm_value_is_known(const ttm_scan_value *v) { return v->n && !v->open; }
/* Smallest and largest known integer; only for n > 0 and INT. */
static inline int64_t ttm_value_min(const ttm_scan_value *v) { return v->v[0].i; }
static inline int64_t ttm_value_max(const ttm_scan_value *v) { return v->v[v->n - 1].i; }
/* Largest it can be, INT64_MAX when nothing bounds it. */
int64_t ttm_value_bound(const ttm_scan_value *v);

/* Either of both. */
ttm_scan_value ttm_value_union(const ttm_scan_value *a, const ttm_scan_value *b);
/* `op` is the C++ operator ("+", "<<", "&&", ...) or "min", "max", "div_up", "round_up", "round_down". Every pair of alternatives. */
ttm_scan_value ttm_value_binary(ttm_str op, const ttm_scan_value *a, const ttm_scan_value *b);
ttm_scan_value ttm_value_unary(ttm_str op, const ttm_scan_value *a);
/* Reals cut to integers ("trunc"), rounded up ("ceil") or down ("floor"), or integers made real ("real"). */
ttm_scan_value ttm_value_convert(const ttm_scan_value *a, const char *how);
/* Adds what keeps `from` from being known to `to`. */
void ttm_value_add_needs(ttm_scan_value *to, const ttm_scan_value *from);
/* 1 true, 0 false, -1 either. */
int ttm_value_truth(const ttm_scan_value *v);

/* ---- Data formats ------------------------------------------------------------------------------------------------- */

/* Their tiles: ttm_format_tile_bytes. */
typedef struct ttm_format {
  const char *name;     /* as in tt::DataFormat */
  const char *dtype;    /* as in ttnn::DataType, or NULL */
  uint32_t datum_bytes; /* one number, 0 for block formats */
} ttm_format;
enum { TTM_FORMATS = 28 };
extern const ttm_format ttm_formats[TTM_FORMATS];
/* By either name; -1 when there is none. */
int ttm_format_find(ttm_str name);

#endif
