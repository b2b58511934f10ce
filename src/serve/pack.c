/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* pread */
#include "serve/pack.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>

enum {
  GZIP_LEVEL = 3,        /* reports shrink to a tenth; more effort would only keep the reader waiting */
  GZIP_WINDOW = 15 + 16, /* zlib's way of asking for a gzip header */
};

/* A file compressed while it is sent: bounded memory whatever its size. */
typedef struct gzip {
  int fd;
  bool read_all, ended;
  z_stream z;
  unsigned char input[32 * 1024];
} gzip;

static void *take(void *opaque, unsigned n, unsigned size) {
  (void)opaque;
  return ttm_alloc((size_t)n * size);
}

static void give_back(void *opaque, void *p) {
  (void)opaque;
  ttm_free(p);
}

static bool begin(z_stream *z) {
  z->zalloc = take;
  z->zfree = give_back;
  return deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

void ttm_pack(ttm_buf *out, ttm_str text) {
  z_stream z = {0};
  if (!begin(&z)) return (void)(out->failed = true);
  size_t most = deflateBound(&z, text.n);
  if (text.n <= UINT_MAX && most <= UINT_MAX && ttm_buf_room(out, most)) {
    z.next_in = (unsigned char *)text.p;
    z.avail_in = (unsigned)text.n;
    z.next_out = (unsigned char *)out->at + out->n;
    z.avail_out = (unsigned)most;
    out->failed |= deflate(&z, Z_FINISH) != Z_STREAM_END;
    out->n += most - z.avail_out;
  } else {
    out->failed = true;
  }
  deflateEnd(&z);
}

/* Takes over `fd`, also when it fails: NULL without memory. */
static gzip *open_gzip(int fd) {
  gzip *g = ttm_alloc(sizeof *g);
  if (g) {
    g->fd = fd;
    if (begin(&g->z)) return g;
  }
  ttm_free(g);
  close(fd);
  return NULL;
}

static bool refill(gzip *g) {
  ssize_t got;
  do got = pread(g->fd, g->input, sizeof g->input, (off_t)g->z.total_in); /* others may read the file too */
  while (got < 0 && errno == EINTR);
  if (got < 0) return false;
  g->z.next_in = g->input;
  g->z.avail_in = (unsigned)got;
  g->read_all = got == 0;
  return true;
}

/* The next bytes of the compressed stream. */
static ssize_t read_gzip(void *context, uint64_t position, char *out, size_t room) {
  gzip *g = context;
  (void)position;
  if (room > INT_MAX) room = INT_MAX;
  g->z.next_out = (unsigned char *)out;
  g->z.avail_out = (unsigned)room;
  while (!g->ended && g->z.avail_out == room) { /* until there is something to send */
    if (!g->z.avail_in && !g->read_all && !refill(g)) return MHD_CONTENT_READER_END_WITH_ERROR;
    int state = deflate(&g->z, g->read_all ? Z_FINISH : Z_NO_FLUSH);
    if (state == Z_STREAM_ERROR) return MHD_CONTENT_READER_END_WITH_ERROR;
    g->ended = state == Z_STREAM_END;
  }
  size_t n = room - g->z.avail_out;
  return n ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void close_gzip(void *context) {
  gzip *g = context;
  deflateEnd(&g->z);
  close(g->fd);
  ttm_free(g);
}

struct MHD_Response *ttm_pack_file(int fd) {
  gzip *g = open_gzip(fd);
  if (!g) return NULL;
  struct MHD_Response *response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 * 1024, read_gzip, g, close_gzip);
  if (!response)
    close_gzip(g);
  else
    MHD_add_response_header(response, "Content-Encoding", "gzip");
  return response;
}
