/* SPDX-License-Identifier: Apache-2.0 */
/* What an expression of a source may be worth: the values it can take as far as the text tells. A plain struct, copied freely;
 * texts are borrowed from the source. */
#ifndef CBS_VALUE_H
#define CBS_VALUE_H

#include "base/str.h"

enum { CBS_ALTERNATIVES = 8, CBS_NEEDS = 3 };

typedef enum cbs_value_type {
  CBS_VALUE_INT,
  CBS_VALUE_REAL,
  CBS_VALUE_FORMAT, /* a data format: index into cbs_formats */
  CBS_VALUE_STRING,
  CBS_VALUE_ARG,       /* compile-time argument number i of a kernel */
  CBS_VALUE_NAMED_ARG, /* compile-time argument by name */
  CBS_VALUE_ACCESSOR,  /* dfb::name of a kernel */
} cbs_value_type;

typedef struct cbs_alternative {
  int64_t i; /* INT, FORMAT, ARG */
  double r;  /* REAL */
  ttm_str t; /* STRING, NAMED_ARG, ACCESSOR */
} cbs_alternative;

typedef struct cbs_value {
  cbs_value_type type;
  uint8_t n;       /* known alternatives, ascending; 0: not known */
  uint8_t needs_n; /* names that keep it from being known */
  bool open;       /* may be something else too */
  bool many;       /* more alternatives than kept: smallest and largest are right */
  bool varies;     /* depends on the workload: a choice, a parameter, something asked at run time */
  int64_t at_most; /* bound when not all is known; INT64_MAX: none */
  cbs_alternative v[CBS_ALTERNATIVES];
  ttm_str needs[CBS_NEEDS];
} cbs_value;

cbs_value cbs_value_int(int64_t i);
/* A number the user gave for something that varies. */
cbs_value cbs_value_given(int64_t i);
cbs_value cbs_value_real(double r);
cbs_value cbs_value_of(cbs_value_type type, int64_t i, ttm_str text);
/* Not known, for want of `need` (empty: nothing to name). */
cbs_value cbs_value_unknown(ttm_str need);

/* Exactly one value. */
static inline bool cbs_value_is_one(const cbs_value *v) { return v->n == 1 && !v->open; }
/* All values known. */
static inline bool cbs_value_is_known(const cbs_value *v) { return v->n && !v->open; }
/* Smallest and largest known integer; only for n > 0 and INT. */
static inline int64_t cbs_value_min(const cbs_value *v) { return v->v[0].i; }
static inline int64_t cbs_value_max(const cbs_value *v) { return v->v[v->n - 1].i; }
/* Largest it can be, INT64_MAX when nothing bounds it. */
int64_t cbs_value_bound(const cbs_value *v);

/* Either of both. */
cbs_value cbs_value_union(const cbs_value *a, const cbs_value *b);
/* `op` is the C++ operator ("+", "<<", "&&", ...) or "min", "max", "div_up", "round_up", "round_down". Every pair of alternatives. */
cbs_value cbs_value_binary(ttm_str op, const cbs_value *a, const cbs_value *b);
cbs_value cbs_value_unary(ttm_str op, const cbs_value *a);
/* Reals cut to integers ("trunc"), rounded up ("ceil") or down ("floor"), or integers made real ("real"). */
cbs_value cbs_value_convert(const cbs_value *a, const char *how);
/* Adds what keeps `from` from being known to `to`. */
void cbs_value_add_needs(cbs_value *to, const cbs_value *from);
/* 1 true, 0 false, -1 either. */
int cbs_value_truth(const cbs_value *v);

/* ---- Data formats ------------------------------------------------------------------------------------------------- */

/* Their tiles: ttm_format_tile_bytes. */
typedef struct cbs_format {
  const char *name;     /* as in tt::DataFormat */
  const char *dtype;    /* as in ttnn::DataType, or NULL */
  uint32_t datum_bytes; /* one number, 0 for block formats */
} cbs_format;
enum { CBS_FORMATS = 28 };
extern const cbs_format cbs_formats[CBS_FORMATS];
/* By either name; -1 when there is none. */
int cbs_format_find(ttm_str name);

#endif
