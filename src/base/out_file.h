/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered output that is all there or not there at all: a file is written under a temporary name beside its target
 * and renamed when it is whole. Standard output and other descriptors work the same way, without the renaming.
 * Writers append to `buf` with the ttm_buf calls and call ttm_out_flow between pieces; only the last call reports
 * errors. */
#ifndef TTM_BASE_OUT_FILE_H
#define TTM_BASE_OUT_FILE_H

#include "base/buf.h"
#include "base/error.h"

typedef struct ttm_out {
  ttm_buf buf; /* not written yet */
  int fd;
  int failed; /* errno of the first write that failed; later ones do nothing */
  char *path; /* target, or what to call it in messages */
  char *temp; /* NULL when the bytes go straight to `fd` */
  bool close; /* `fd` is ours */
  bool sync;  /* closed only when it is on the disk, with its name */
  bool keep;  /* nothing is written: all of it stays in `buf` */
  uint64_t written;
  uint64_t begun; /* so far the disk was told to begin */
} ttm_out;

/* How much is gathered before it is written. */
#define TTM_OUT_CHUNK ((size_t)1 << 18)

/* Starts a file. Targets that are no regular file (a pipe, /dev/null) are written in place; a symbolic link stays and
 * what it points to is replaced. 0, TTM_EIO or TTM_ENOMEM; after a failure `out` needs no closing. */
int ttm_out_open(ttm_out *out, const char *path, ttm_error *err);

/* Starts writing to an open descriptor, which stays open; `name` ("standard output") is for messages. 0 or
 * TTM_ENOMEM. */
int ttm_out_open_fd(ttm_out *out, int fd, const char *name, ttm_error *err);

/* Gathers in memory: what the writers append is found in `buf`. Needs no opening besides; freed with ttm_out_abandon. */
static inline ttm_out ttm_out_memory(void) { return (ttm_out){.fd = -1, .keep = true}; }

/* Writes what is gathered. After a failure it is thrown away: the end of the output tells. */
void ttm_out_flush(ttm_out *out);

/* The same once a chunk is full; call it between pieces so that the buffer stays small. */
static inline void ttm_out_flow(ttm_out *out) {
  if (out->buf.n >= TTM_OUT_CHUNK && !out->keep) ttm_out_flush(out);
}

/* Writes the rest and puts the file in its place; on failure the temporary file is removed and the old target is
 * untouched. 0, TTM_EIO (the message names the file and the reason) or TTM_ENOMEM. `out` is empty afterwards. */
int ttm_out_close(ttm_out *out, ttm_error *err);

/* Waits until what was written is on the disk. A failure is told at the end. */
void ttm_out_sync(ttm_out *out);
/* The same for the names in a folder, as far as the system can. */
void ttm_folder_sync(const char *folder);
/* And for the names beside a path. */
void ttm_folder_sync_of(const char *path);

/* Gives up: the temporary file is removed, the old target untouched. Safe on a closed or zeroed `out`. */
void ttm_out_abandon(ttm_out *out);

/* Writes all of it, waiting where the descriptor does not block by itself. 0 or an errno. */
int ttm_write_all(int fd, const char *p, size_t n);

/* The process id in a temporary name made by ttm_out_open, 0 for any other name: whose leftover is it? */
long ttm_out_temp_owner(const char *file_name);

#endif
