/* SPDX-License-Identifier: Apache-2.0 */
#include "base/zip.h"

#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
  END = 22, /* bytes of the records */
  LOCATOR = 20,
  END64 = 56,
  ENTRY = 46,
  LOCAL = 30,
  COMMENT = 65535,
  DIRECTORY = 64 << 20, /* of the largest directory that is read */
  PIECE = 65536,
  STORED = 0,
  DEFLATED = 8,
};

static uint64_t number(const char *p, int bytes) {
  uint64_t n = 0;
  for (int i = bytes; i--;) n = n << 8 | (unsigned char)p[i];
  return n;
}

static bool has_mark(const char *p, const char mark[2]) {
  return p[0] == 'P' && p[1] == 'K' && !memcmp(p + 2, mark, 2);
}

/* ---- The directory ------------------------------------------------------------------------------------------------- */

typedef struct directory {
  uint64_t at, bytes;
  uint64_t shift; /* bytes before the archive, which its places do not count */
} directory;

static int refuse(const ttm_zip *zip, const char *why, ttm_error *err) {
  ttm_error_set(err, TTM_EFORMAT, "'%s' %s", zip->path, why);
  return TTM_EFORMAT;
}

/* Exactly `n` bytes. */
static int read_at(const ttm_zip *zip, uint64_t at, char *out, size_t n, ttm_error *err) {
  for (size_t got; n; at += got, out += got, n -= got) {
    int status = ttm_source_read_at(zip->source, at, out, n, &got, err);
    if (status) return status;
    if (!got) return refuse(zip, "is cut", err);
  }
  return TTM_OK;
}

/* Where the last record begins, which its own comment follows to the end of the file; UINT64_MAX. */
static uint64_t find_end(const char *tail, size_t n) {
  for (size_t i = n < END ? 0 : n - END + 1; i--;)
    if (has_mark(tail + i, "\5\6") && number(tail + i + 20, 2) == n - i - END) return i;
  return UINT64_MAX;
}

/* What a 32-bit field cannot hold stands in the record of zip64, to which a locator before the last record leads. */
static int read_end64(const ttm_zip *zip, uint64_t end, directory *out, uint64_t *until, ttm_error *err) {
  char locator[LOCATOR], record[END64];
  int status =
      end < LOCATOR ? refuse(zip, "is a damaged zip archive", err) : read_at(zip, end - LOCATOR, locator, LOCATOR, err);
  if (status) return status;
  uint64_t at = number(locator + 8, 8);
  if (!has_mark(locator, "\6\7") || end < LOCATOR + END64 || at > end - LOCATOR - END64)
    return refuse(zip, "is a damaged zip archive", err);
  status = read_at(zip, at, record, END64, err);
  if (!status && !has_mark(record, "\6\6")) status = refuse(zip, "is a damaged zip archive", err);
  *out = (directory){.at = number(record + 48, 8), .bytes = number(record + 40, 8)};
  *until = at;
  return status;
}

static int find_directory(const ttm_zip *zip, directory *out, ttm_error *err) {
  uint64_t size = ttm_source_size(zip->source), from = size > END + COMMENT ? size - END - COMMENT : 0;
  size_t n = (size_t)(size - from);
  if (n < END) return refuse(zip, "is no zip archive, or it is cut", err);
  char *tail = ttm_alloc(n);
  if (!tail) return ttm_error_nomem(err);
  int status = read_at(zip, from, tail, n, err);
  uint64_t end = status ? 0 : find_end(tail, n), until = from + end;
  if (!status && end == UINT64_MAX) status = refuse(zip, "is no zip archive, or it is cut", err);
  if (!status) {
    *out = (directory){.at = number(tail + end + 16, 4), .bytes = number(tail + end + 12, 4)};
    bool large = out->at == UINT32_MAX || out->bytes == UINT32_MAX || number(tail + end + 10, 2) == UINT16_MAX;
    if (large) status = read_end64(zip, from + end, out, &until, err);
  }
  ttm_free(tail);
  if (status) return status;
  if (out->bytes > until || out->at > until - out->bytes) return refuse(zip, "is a damaged zip archive", err);
  out->shift = until - out->bytes - out->at;
  out->at += out->shift;
  return out->bytes > DIRECTORY ? refuse(zip, "has too many members", err) : TTM_OK;
}

/* The fields of zip64, of those that are full in the entry and in this order. */
static void read_large(ttm_zip_member *m, const char *extra, size_t n) {
  uint64_t *const fields[] = {&m->size, &m->stored, &m->at};
  while (n >= 4) {
    size_t bytes = (size_t)number(extra + 2, 2), at = 4;
    if (bytes > n - 4) return;
    for (size_t f = 0; f < 3 && number(extra, 2) == 1; f++)
      if (*fields[f] == UINT32_MAX && at + 8 <= bytes + 4) *fields[f] = number(extra + at, 8), at += 8;
    extra += bytes + 4;
    n -= bytes + 4;
  }
}

/* One entry of `left` bytes; *used are its own. */
static int read_entry(ttm_zip *zip, const directory *d, const char *p, size_t left, size_t *used, ttm_error *err) {
  if (left < ENTRY || !has_mark(p, "\1\2")) return refuse(zip, "is a damaged zip archive", err);
  size_t name = (size_t)number(p + 28, 2), extra = (size_t)number(p + 30, 2), comment = (size_t)number(p + 32, 2);
  *used = ENTRY + name + extra + comment;
  if (*used > left) return refuse(zip, "is a damaged zip archive", err);
  ttm_zip_member m = {.at = number(p + 42, 4),
                      .stored = number(p + 20, 4),
                      .size = number(p + 24, 4),
                      .crc = (uint32_t)number(p + 16, 4),
                      .method = (uint16_t)number(p + 10, 2),
                      .encrypted = number(p + 8, 2) & 1};
  read_large(&m, p + ENTRY + name, extra);
  if (m.at > d->at - d->shift || m.stored > d->at) return refuse(zip, "is a damaged zip archive", err);
  m.at += d->shift;
  m.name = ttm_str_copy((ttm_str){p + ENTRY, name});
  if (m.name && !ttm_vec_push(&zip->members, m)) return TTM_OK;
  ttm_free(m.name);
  return ttm_error_nomem(err);
}

static int read_directory(ttm_zip *zip, const directory *d, ttm_error *err) {
  char *text = ttm_alloc((size_t)d->bytes + 1);
  uint64_t stored = 0;
  if (!text) return ttm_error_nomem(err);
  int status = read_at(zip, d->at, text, (size_t)d->bytes, err);
  for (size_t at = 0, used = 0; at < d->bytes && !status; at += used) {
    status = read_entry(zip, d, text + at, (size_t)d->bytes - at, &used, err);
    if (!status) stored += zip->members.at[zip->members.n - 1].stored;
    if (!status && stored > d->at) status = refuse(zip, "has members that overlap", err);
  }
  ttm_free(text);
  return status;
}

int ttm_zip_open(ttm_zip *out, const char *path, ttm_error *err) {
  directory d = {0};
  *out = (ttm_zip){.path = path};
  int status = ttm_source_open(&out->source, path, err);
  if (!status && !ttm_source_is_seekable(out->source))
    status = refuse(out, "is no zip archive: it must be a plain file", err);
  if (!status) status = find_directory(out, &d, err);
  out->end = d.at;
  return status ? status : read_directory(out, &d, err);
}

void ttm_zip_close(ttm_zip *zip) {
  for (size_t i = 0; i < zip->members.n; i++) ttm_free(zip->members.at[i].name);
  ttm_vec_free(&zip->members);
  ttm_source_close(zip->source);
  zip->source = NULL;
}

/* ---- A member ------------------------------------------------------------------------------------------------------ */

typedef struct unpacking {
  const ttm_zip *zip;
  const ttm_zip_member *m;
  ttm_zip_take *take;
  void *context;
  uint64_t given; /* bytes of the member so far */
  uint32_t crc;
  bool ended; /* the packed data say so */
  z_stream z;
  char in[PIECE], out[PIECE];
} unpacking;

static int refuse_member(const unpacking *u, const char *why, ttm_error *err) {
  ttm_error_set(err, TTM_EFORMAT, "'%s': %.200s %s", u->zip->path, u->m->name, why);
  return TTM_EFORMAT;
}

static int give(unpacking *u, const char *bytes, size_t n, ttm_error *err) {
  if (n > u->m->size - u->given) return refuse_member(u, "is damaged: there is more of it than it says", err);
  u->given += n;
  u->crc = (uint32_t)crc32(u->crc, (const unsigned char *)bytes, (unsigned)n);
  return n ? u->take(u->context, bytes, n, err) : TTM_OK;
}

static int inflate_piece(unpacking *u, size_t n, ttm_error *err) {
  int status = TTM_OK, state = Z_OK;
  u->z.next_in = (unsigned char *)u->in;
  u->z.avail_in = (unsigned)n;
  while (!status && state == Z_OK) {
    u->z.next_out = (unsigned char *)u->out;
    u->z.avail_out = PIECE;
    state = inflate(&u->z, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) return refuse_member(u, "is damaged", err);
    status = give(u, u->out, PIECE - u->z.avail_out, err);
    if (!u->z.avail_in && u->z.avail_out) break;
  }
  u->ended = state == Z_STREAM_END;
  return status;
}

static int unpack(unpacking *u, uint64_t at, ttm_error *err) {
  int status = TTM_OK;
  for (uint64_t left = u->m->stored; left && !status && !u->ended;) {
    size_t n = left < PIECE ? (size_t)left : PIECE;
    status = read_at(u->zip, at, u->in, n, err);
    if (!status) status = u->m->method == STORED ? give(u, u->in, n, err) : inflate_piece(u, n, err);
    at += n;
    left -= n;
  }
  if (status) return status;
  bool whole = u->given == u->m->size && u->crc == u->m->crc && (u->m->method == STORED || u->ended);
  return whole ? TTM_OK : refuse_member(u, "is damaged", err);
}

/* Where its bytes begin. */
static int find_data(const unpacking *u, uint64_t *at, ttm_error *err) {
  char head[LOCAL];
  uint64_t end = u->zip->end;
  int status =
      u->m->at + LOCAL > end ? refuse_member(u, "is damaged", err) : read_at(u->zip, u->m->at, head, LOCAL, err);
  if (status) return status;
  *at = u->m->at + LOCAL + number(head + 26, 2) + number(head + 28, 2);
  if (!has_mark(head, "\3\4") || *at > end || u->m->stored > end - *at) return refuse_member(u, "is damaged", err);
  return TTM_OK;
}

int ttm_zip_read(const ttm_zip *zip, size_t member, ttm_zip_take *take, void *context, ttm_error *err) {
  unpacking *u = ttm_alloc(sizeof *u);
  uint64_t at;
  if (!u) return ttm_error_nomem(err);
  u->zip = zip, u->m = &zip->members.at[member], u->take = take, u->context = context;
  int status = TTM_OK;
  if (u->m->encrypted) status = refuse_member(u, "is encrypted", err);
  if (!status && u->m->method != STORED && u->m->method != DEFLATED)
    status = refuse_member(u, "is packed in a way that only other programs know: zip -Z deflate", err);
  if (!status) status = find_data(u, &at, err);
  if (!status && inflateInit2(&u->z, -15) != Z_OK) status = ttm_error_nomem(err);
  if (!status) {
    status = unpack(u, at, err);
    inflateEnd(&u->z);
  }
  ttm_free(u);
  return status;
}
