/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "base/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/os.h"

enum { END = 1 << 20 };

static const ttm_fingerprint none = {0};

/* The last stretch begins behind the first one: no byte counts twice. */
static uint64_t tail_from(uint64_t bytes) { return bytes > 2 * (uint64_t)END ? bytes - END : END; }

/* Adds a stretch of the file, at most END bytes long. False when it is not there (any more). */
static bool add(uint64_t *hash, int fd, char *room, uint64_t from, uint64_t to) {
  size_t n = 0, all = to > from ? (size_t)(to - from) : 0;
  while (n < all) {
    ssize_t got = pread(fd, room + n, all - n, (off_t)(from + n));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    n += (size_t)got;
  }
  *hash = ttm_hash(room, n, *hash);
  return true;
}

/* All but the ends. */
static ttm_fingerprint of_status(const struct stat *st) {
  if (!S_ISREG(st->st_mode)) return none;
  struct timespec modified = ttm_os_modified(st);
  return (ttm_fingerprint){.bytes = (uint64_t)st->st_size,
                           .modified = (int64_t)modified.tv_sec * 1000000000 + modified.tv_nsec};
}

static int of_file(ttm_fingerprint *out, int fd) {
  struct stat st;
  *out = fd < 0 || fstat(fd, &st) ? none : of_status(&st);
  if (!out->bytes) return TTM_OK;
  char *room = ttm_realloc(NULL, END);
  if (!room) return *out = none, TTM_ENOMEM;
  bool fine = add(&out->ends, fd, room, 0, out->bytes < END ? out->bytes : END) &&
              add(&out->ends, fd, room, tail_from(out->bytes), out->bytes);
  ttm_free(room);
  if (!fine) *out = none;
  return TTM_OK;
}

int ttm_fingerprint_of(ttm_fingerprint *out, const char *path) {
  int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  int status = of_file(out, fd);
  if (fd >= 0) close(fd);
  return status;
}

int ttm_fingerprint_of_source(ttm_fingerprint *out, const ttm_source *source) {
  return of_file(out, ttm_source_file(source));
}

ttm_fingerprint ttm_fingerprint_of_program(void) {
  char path[PATH_MAX];
  struct stat st;
  return ttm_os_program(path, sizeof path) || stat(path, &st) ? none : of_status(&st);
}

/* `room` holds the last bytes read: all of the first two ends, later at least one. */
static void take(ttm_fingerprint *out, char *room, size_t *held, size_t got) {
  if (out->bytes < END && out->bytes + got >= END) out->ends = ttm_hash(room, END, 0);
  out->bytes += got;
  *held += got;
  if (*held < 3 * (size_t)END) return;
  memmove(room, room + *held - END, END);
  *held = END;
}

ttm_fingerprint ttm_fingerprint_of_text(const char *path) {
  ttm_fingerprint out = {0};
  ttm_source *source = NULL;
  char *room = ttm_realloc(NULL, 3 * (size_t)END);
  size_t held = 0, got = 1;
  bool fine = room && !ttm_source_open(&source, path, NULL);
  while (fine && got) {
    fine = !ttm_source_read(source, room + held, 3 * (size_t)END - held, &got, NULL);
    if (fine) take(&out, room, &held, got);
  }
  fine = fine && !ttm_source_damage(source);
  size_t tail = fine && out.bytes > END ? (size_t)(out.bytes - tail_from(out.bytes)) : 0;
  if (fine && out.bytes < END) out.ends = ttm_hash(room, held, 0);
  if (fine) out.ends = ttm_hash(room + held - tail, tail, out.ends);
  ttm_source_close(source);
  ttm_free(room);
  return fine ? out : none;
}

bool ttm_fingerprint_same_text(const ttm_fingerprint *a, const ttm_fingerprint *b) {
  return a->bytes && a->bytes == b->bytes && a->ends == b->ends;
}

bool ttm_fingerprint_same(const ttm_fingerprint *a, const ttm_fingerprint *b) {
  return ttm_fingerprint_same_text(a, b) && (a->modified == b->modified || a->bytes <= 2 * (uint64_t)END);
}

void ttm_fingerprint_put(ttm_buf *out, const ttm_fingerprint *print) {
  ttm_buf_printf(out, "%" PRIu64 "-%" PRId64 "-%016" PRIx64, print->bytes, print->modified, print->ends);
}

ttm_fingerprint ttm_fingerprint_read(ttm_str text) {
  ttm_fingerprint out = {0};
  uint64_t modified;
  bool fine = ttm_str_take_u64(&text, &out.bytes) && ttm_str_take(&text, TTM_LIT("-"));
  bool before = fine && ttm_str_take(&text, TTM_LIT("-")); /* of 1970 */
  fine = fine && ttm_str_take_u64(&text, &modified) && ttm_str_take(&text, TTM_LIT("-")) && text.n == 16;
  if (fine) out.modified = (int64_t)(before ? 0 - modified : modified);
  for (size_t i = 0; fine && i < text.n; i++) {
    int digit = ttm_hex_digit(text.p[i]);
    fine = digit >= 0;
    out.ends = out.ends << 4 | (uint64_t)(digit & 15);
  }
  return fine ? out : none;
}
