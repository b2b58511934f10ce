/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vec.h"

enum { STORED_BYTES = 256 * 1024 };

typedef enum form { FORM_PLAIN, FORM_GZIP, FORM_ZSTD } form;

struct ttm_source {
  int fd;
  const char *path; /* borrowed from the caller of open, used in messages */
  form form;
  uint64_t position, size;
  const char *damage;
  bool seekable;   /* a regular file; not standard input, which may stand anywhere in its file */
  bool ended;      /* the stored bytes are used up */
  bool frame_open; /* inside a compressed frame: an end here is a cut */
  char *stored;    /* compressed bytes, or the first plain ones */
  size_t stored_at, stored_n, stored_cap;
  size_t largest_frame; /* that is taken as a whole */
  z_stream gzip;
  ttm_zstd zstd;
};

static int cannot_read(const ttm_source *s, ttm_error *err) {
  return ttm_error_set(err, TTM_EIO, "Cannot read %s: %s.", s->path, strerror(errno));
}

/* read(2) until something comes, the end, or a real error. */
static int read_some(ttm_source *s, char *buf, size_t cap, size_t *got, ttm_error *err) {
  ssize_t n;
  do n = read(s->fd, buf, cap);
  while (n < 0 && errno == EINTR);
  if (n < 0) return cannot_read(s, err);
  *got = (size_t)n;
  s->position += (uint64_t)n;
  s->ended = n == 0;
  return TTM_OK;
}

static int refill(ttm_source *s, ttm_error *err) {
  s->stored_at = 0;
  return read_some(s, s->stored, STORED_BYTES, &s->stored_n, err);
}

/* A frame, or one that is skipped, such as those that pzstd puts before each. */
static bool is_zstd(const char *p, size_t n) {
  return n >= 4 && (!memcmp(p, "\x28\xb5\x2f\xfd", 4) || ((p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3)));
}

/* Reads the first bytes and tells the form by its magic number. */
static int detect(ttm_source *s, ttm_error *err) {
  while (s->stored_n < 4 && !s->ended) {
    size_t got = 0;
    int rc = read_some(s, s->stored + s->stored_n, STORED_BYTES - s->stored_n, &got, err);
    if (rc) return rc;
    s->stored_n += got;
  }
  if (s->stored_n >= 2 && memcmp(s->stored, "\x1f\x8b", 2) == 0) {
    s->form = FORM_GZIP;
    if (inflateInit2(&s->gzip, 15 + 16) != Z_OK) return ttm_error_nomem(err);
  } else if (is_zstd(s->stored, s->stored_n)) {
    s->form = FORM_ZSTD;
    s->zstd.decoder = ZSTD_createDCtx();
    if (!s->zstd.decoder) return ttm_error_nomem(err);
    /* Logs packed with --long; the window is the decoder's memory, so it stays bounded. */
    ZSTD_DCtx_setParameter(s->zstd.decoder, ZSTD_d_windowLogMax, 27);
  }
  return TTM_OK;
}

int ttm_source_open(ttm_source **out, const char *path, ttm_error *err) {
  int rc;
  ttm_source *s = ttm_alloc(sizeof *s);
  if (!s) return ttm_error_nomem(err);
  bool standard_input = strcmp(path, "-") == 0;
  s->path = standard_input ? "standard input" : path;
  s->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (s->fd < 0 || fstat(s->fd, &info) != 0) {
    rc = ttm_error_set(err, TTM_EIO, "Cannot open %s: %s.", s->path, strerror(errno));
    goto fail;
  }
  if (S_ISDIR(info.st_mode)) {
    rc = ttm_error_set(err, TTM_EIO, "%s is a directory; give a file.", s->path);
    goto fail;
  }
  if (S_ISREG(info.st_mode)) {
    s->size = (uint64_t)info.st_size;
    s->seekable = !standard_input;
    ttm_os_read_ahead(s->fd);
  }
  s->stored = ttm_realloc(NULL, s->stored_cap = STORED_BYTES);
  if (!s->stored) {
    rc = ttm_error_nomem(err);
    goto fail;
  }
  rc = detect(s, err);
  if (rc) goto fail;
  *out = s;
  return TTM_OK;
fail:
  ttm_source_close(s);
  return rc;
}

int ttm_source_read_small(ttm_buf *out, const char *path, size_t most, ttm_error *err) {
  ttm_source *source = NULL;
  size_t got = 1;
  int status = ttm_source_open(&source, path, err);
  if (!source) return status;
  while (!status && got && out->n <= most) {
    if (!ttm_buf_room(out, 4096)) status = ttm_error_nomem(err);
    if (!status) status = ttm_source_read(source, out->at + out->n, 4096, &got, err);
    if (!status) out->n += got;
  }
  if (!status && source->damage) status = ttm_error_set(err, TTM_EFORMAT, "%s: %s.", path, source->damage);
  ttm_source_close(source);
  return status;
}

int ttm_source_file(const ttm_source *s) { return s->fd > STDIN_FILENO ? s->fd : -1; }

bool ttm_source_is_seekable(const ttm_source *s) { return s->seekable && s->form == FORM_PLAIN; }

int ttm_source_read_at(const ttm_source *s, uint64_t offset, char *buf, size_t cap, size_t *got, ttm_error *err) {
  ssize_t n;
  do n = pread(s->fd, buf, cap, (off_t)offset);
  while (n < 0 && errno == EINTR);
  if (n < 0) return cannot_read(s, err);
  *got = (size_t)n;
  return TTM_OK;
}

void ttm_source_close(ttm_source *s) {
  if (!s) return;
  if (s->fd > STDIN_FILENO) close(s->fd);
  if (s->form == FORM_GZIP) inflateEnd(&s->gzip);
  ZSTD_freeDCtx(s->zstd.decoder);
  ttm_free(s->stored);
  ttm_free(s);
}

static int read_plain(ttm_source *s, char *buf, size_t cap, size_t *got, ttm_error *err) {
  if (s->stored_at < s->stored_n) {
    size_t n = s->stored_n - s->stored_at;
    if (n > cap) n = cap;
    memcpy(buf, s->stored + s->stored_at, n);
    s->stored_at += n;
    *got = n;
    return TTM_OK;
  }
  if (s->ended) return *got = 0, TTM_OK;
  return read_some(s, buf, cap, got, err);
}

/* One decoder step: from the stored bytes into buf. Sets *got; may give 0 although there is more to come. */
static void step_gzip(ttm_source *s, char *buf, size_t cap, size_t *got) {
  s->gzip.next_in = (unsigned char *)s->stored + s->stored_at;
  s->gzip.avail_in = (unsigned)(s->stored_n - s->stored_at);
  s->gzip.next_out = (unsigned char *)buf;
  s->gzip.avail_out = cap > UINT32_MAX ? UINT32_MAX : (unsigned)cap;
  unsigned room = s->gzip.avail_out;
  int rc = inflate(&s->gzip, Z_NO_FLUSH);
  s->stored_at = s->stored_n - s->gzip.avail_in;
  *got = room - s->gzip.avail_out;
  s->frame_open = rc != Z_STREAM_END;
  if (rc == Z_STREAM_END) {
    inflateReset(&s->gzip); /* gzip files may be concatenated */
  } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
    s->damage = "the gzip data is damaged";
  }
}

static void step_zstd(ttm_source *s, char *buf, size_t cap, size_t *got) {
  ZSTD_inBuffer in = {s->stored + s->stored_at, s->stored_n - s->stored_at, 0};
  ZSTD_outBuffer out = {buf, cap, 0};
  size_t rc = ttm_zstd_step(&s->zstd, &in, &out);
  s->stored_at += in.pos;
  *got = out.pos;
  s->frame_open = rc != 0;
  if (ZSTD_isError(rc)) s->damage = ttm_zstd_damage(rc);
}

int ttm_source_read(ttm_source *s, char *buf, size_t cap, size_t *got, ttm_error *err) {
  *got = 0;
  if (s->form == FORM_PLAIN) return read_plain(s, buf, cap, got, err);
  bool drained = false;
  while (*got == 0 && !s->damage) {
    if (s->stored_at == s->stored_n && !s->ended) {
      int rc = refill(s, err);
      if (rc) return rc;
    }
    /* The decoder may still hold output after the last input byte: ask it once more before believing the end. */
    if (s->stored_at == s->stored_n && s->ended) {
      if (!s->frame_open) return TTM_OK;
      if (drained) {
        s->damage = "the compressed data ends early";
        return TTM_OK;
      }
      drained = true;
    }
    if (s->form == FORM_GZIP)
      step_gzip(s, buf, cap, got);
    else
      step_zstd(s, buf, cap, got);
  }
  return TTM_OK;
}

/* ---- Frames ----------------------------------------------------------------------------------------------------------- */

/* Reads on behind the stored bytes that are still to be used. */
static int read_more(ttm_source *s, ttm_error *err) {
  size_t got = 0;
  memmove(s->stored, s->stored + s->stored_at, s->stored_n -= s->stored_at);
  s->stored_at = 0;
  if (s->stored_n == s->stored_cap && ttm_vec_grow_((void **)&s->stored, &s->stored_cap, s->stored_n + 1, 1))
    return ttm_error_nomem(err);
  int rc = read_some(s, s->stored + s->stored_n, s->stored_cap - s->stored_n, &got, err);
  s->stored_n += got;
  return rc;
}

/* The frame that begins `at` bytes behind what was used. *whole when it can be taken. */
static int find_frame(ttm_source *s, size_t at, ttm_frame *out, bool *whole, ttm_error *err) {
  for (;;) {
    ttm_str bytes = {s->stored + s->stored_at + at, s->stored_n - s->stored_at - at};
    ttm_frame_state state = ttm_frame_measure(bytes, s->largest_frame, out);
    *whole = state == TTM_FRAME_WHOLE;
    if (state != TTM_FRAME_PART || s->ended) return TTM_OK;
    int rc = read_more(s, err);
    if (rc) return rc;
  }
}

/* Whether two frames with text, and all before them, can be taken. The first begins with the stored bytes. */
static int is_divided(ttm_source *s, bool *out, ttm_error *err) {
  unsigned with_text = 0;
  bool whole = true;
  for (size_t at = 0; whole && with_text < 2 && at < s->largest_frame;) {
    ttm_frame frame;
    int rc = find_frame(s, at, &frame, &whole, err);
    if (rc) return rc;
    with_text += whole && frame.text;
    at += frame.stored;
  }
  *out = with_text == 2;
  return TTM_OK;
}

int ttm_source_split(ttm_source *s, size_t most, bool *split, ttm_error *err) {
  size_t used = s->stored_at;
  *split = false;
  if (s->form != FORM_ZSTD || s->damage || s->position != s->stored_n) return TTM_OK; /* its start is no longer there */
  s->stored_at = 0;
  s->largest_frame = most;
  int rc = is_divided(s, split, err);
  if (!*split) return s->stored_at = used, rc;
  ZSTD_DCtx_reset(s->zstd.decoder, ZSTD_reset_session_only);
  s->zstd.wanted = s->zstd.head = s->zstd.full = s->frame_open = false;
  return TTM_OK;
}

int ttm_source_take_frames(ttm_source *s, ttm_frames *out, ttm_error *err) {
  enum { ENOUGH = 1024 * 1024 };
  size_t n = 0;
  bool whole = true;
  out->text = 0;
  while (whole && out->text < ENOUGH && n < ENOUGH) {
    ttm_frame frame;
    int rc = find_frame(s, n, &frame, &whole, err);
    if (rc) return rc;
    whole = whole && out->text + frame.text <= s->largest_frame;
    if (whole) n += frame.stored, out->text += frame.text;
  }
  ttm_buf_clear(&out->stored);
  ttm_buf_put(&out->stored, (ttm_str){s->stored + s->stored_at, n});
  s->stored_at += n;
  return out->stored.failed ? ttm_error_nomem(err) : TTM_OK;
}

uint64_t ttm_source_position(const ttm_source *s) { return s->position; }
uint64_t ttm_source_size(const ttm_source *s) { return s->size; }
const char *ttm_source_damage(const ttm_source *s) { return s->damage; }
void ttm_source_set_damage(ttm_source *s, const char *damage) {
  if (damage) s->damage = damage;
}
