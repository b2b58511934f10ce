/* SPDX-License-Identifier: Apache-2.0 */
/* JSON read piece by piece, as a stream: no tree is built, so a document of any size takes the memory of its longest string.
 *
 *   ttm_json_enter(j, '{');
 *   while (ttm_json_key(j, &key))          // at the end of the object: false
 *     if (...) ttm_json_value(j, &v); else ttm_json_skip(j);
 *
 * Total: whatever the bytes are, every call returns. After the first error all calls return false and `error` says what is
 * wrong; `line` is then the line of it. Views last until the next call. */
#ifndef TTM_PARSE_JSON_PULL_H
#define TTM_PARSE_JSON_PULL_H

#include "base/source.h"
#include "base/str.h"

enum { TTM_JSON_LONGEST_STRING = 64 * 1024 * 1024 };

typedef struct ttm_json_pull {
  ttm_source *source; /* borrowed; NULL when `rest` is everything */
  ttm_str rest;       /* bytes that come before the source's */
  char *buf;          /* n bytes of input, then zeros that loads of 16 bytes may touch */
  size_t at, n, cap;
  bool ended;        /* nothing is left behind buf */
  bool fresh;        /* nothing was read yet in the container entered last */
  bool unescaped;    /* escapes were undone in buf since this was cleared: it is not the input any more */
  uint32_t depth;    /* containers entered */
  uint64_t line;     /* 1-based, of `at` */
  uint64_t passed;   /* bytes that have left buf */
  char spare[128];   /* a key whose colon does not follow at once */
  const char *error; /* NULL while all is well */
  int status;        /* TTM_EFORMAT, TTM_ENOMEM, or TTM_EIO with `io` filled */
  ttm_error io;
} ttm_json_pull;

typedef enum ttm_json_kind {
  TTM_JSON_NUMBER,
  TTM_JSON_NONE, /* end of input, or an error */
  TTM_JSON_OBJECT,
  TTM_JSON_ARRAY,
  TTM_JSON_STRING,
  TTM_JSON_TRUE,
  TTM_JSON_FALSE,
  TTM_JSON_NULL,
} ttm_json_kind;

/* A value that is no container. */
typedef struct ttm_json_scalar {
  ttm_json_kind kind;
  ttm_str text; /* a string without its quotes and escapes; otherwise as it stands */
} ttm_json_scalar;

/* `source` may be NULL; `first` are bytes already read from it, or the whole document. Both must outlive *j. */
void ttm_json_init(ttm_json_pull *j, ttm_source *source, ttm_str first);
void ttm_json_free(ttm_json_pull *j);

/* What comes next; reads nothing but blanks. */
ttm_json_kind ttm_json_peek(ttm_json_pull *j);
/* Takes the '{' or '[' that comes next; false (an error) when something else does. */
bool ttm_json_enter(ttm_json_pull *j, char bracket);
/* The same; anything else is passed over. */
bool ttm_json_enter_if(ttm_json_pull *j, char bracket);
/* The next key of the object; false behind its last, the object is then left. The value must be read or skipped. */
bool ttm_json_key(ttm_json_pull *j, ttm_str *key);
/* True when the array has another element; false behind its last, the array is then left. */
bool ttm_json_item(ttm_json_pull *j);
/* Reads a scalar; a container is skipped and gives its kind with an empty text. */
bool ttm_json_value(ttm_json_pull *j, ttm_json_scalar *out);
/* Passes over the next value, whatever it is. Inside it only strings and brackets are looked at. */
bool ttm_json_skip(ttm_json_pull *j);

/* The bytes from one value of an object to its next, or to its end. Writers repeat them, so that they can be compared
 * instead of read. */
typedef struct ttm_json_gap {
  uint8_t n, lines;
  bool closes;
  char text[55];
} ttm_json_gap;

/* The gap that the last ttm_json_key has read, which began at the position `from` on `line` with `unescaped` cleared. False when
 * it is too long, not as the input has it, or gone. */
bool ttm_json_gap_since(ttm_json_pull *j, uint64_t from, uint64_t line, bool closes, ttm_json_gap *out);

/* As memcmp tells, without the call: gaps are short. */
static inline bool ttm_json_same(const char *a, const char *b, size_t n) {
  enum { STRIDE = 8, HALF = 4 };
  if (n < HALF) return memcmp(a, b, n) == 0;
  if (n < STRIDE) return memcmp(a, b, HALF) == 0 && memcmp(a + n - HALF, b + n - HALF, HALF) == 0;
  for (size_t i = 0; i + STRIDE < n; i += STRIDE)
    if (memcmp(a + i, b + i, STRIDE) != 0) return false;
  return memcmp(a + n - STRIDE, b + n - STRIDE, STRIDE) == 0;
}

/* True when that gap comes next: it is taken as ttm_json_key takes it. One that was read before the first key of an
 * object is taken only there, any other one only behind a key. */
static inline bool ttm_json_take_gap(ttm_json_pull *j, const ttm_json_gap *gap) {
  if (j->n - j->at < gap->n || !ttm_json_same(j->buf + j->at, gap->text, gap->n)) return false;
  j->at += gap->n;
  j->line += gap->lines;
  j->depth -= gap->closes;
  j->fresh = false;
  return true;
}

/* Takes an empty array, as most are; false when something else comes. Blanks must have been passed. */
static inline bool ttm_json_take_empty(ttm_json_pull *j) {
  if (j->buf[j->at] != '[' || j->buf[j->at + 1] != ']') return false;
  j->at += 2;
  return true;
}

/* Takes a number of at most 18 digits, as most have. */
bool ttm_json_digits(ttm_json_pull *j, int64_t *out);

/* The integer a scalar is: a number without a fraction, or a string that is nothing but one ("24576", "-1"). */
bool ttm_json_integer(const ttm_json_scalar *v, int64_t *out);

/* Undoes the escapes of a string in place, which only makes it shorter; returns its length then. */
size_t ttm_json_unescape(char *p, size_t n);

/* Bytes read so far. */
static inline uint64_t ttm_json_position(const ttm_json_pull *j) { return j->passed + j->at; }

#endif
