/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* realpath, fchmod, sync_file_range */
#include "base/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* Temporary names are short and do not repeat the target's name, so that a long target name still has one. */
#define TEMP_PREFIX ".ttmem-"
#define TEMP_SUFFIX ".tmp"
enum { TEMP_TRIES = 10000 };
#define SYNC_PIECE ((uint64_t)8 << 20)

static int cannot_write(const ttm_out *out, int why, ttm_error *err) {
  return ttm_error_set(err, TTM_EIO, "cannot write %s: %s", out->path ? out->path : "output", strerror(why));
}

static void forget(ttm_out *out) {
  ttm_buf_free(&out->buf);
  ttm_free(out->path);
  ttm_free(out->temp);
  *out = (ttm_out){.fd = -1};
}

static int refuse(ttm_out *out, int why, ttm_error *err) {
  int code = why == ENOMEM ? ttm_error_nomem(err) : cannot_write(out, why, err);
  forget(out);
  return code;
}

/* Creates the temporary file beside out->path. 0 or an errno. */
static int open_temp(ttm_out *out, mode_t mode) {
  const char *slash = strrchr(out->path, '/');
  int folder = slash ? (int)(slash - out->path) + 1 : 0;
  size_t size = (size_t)folder + sizeof TEMP_PREFIX TEMP_SUFFIX + 48;
  out->temp = ttm_alloc(size);
  if (!out->temp) return ENOMEM;
  for (int i = 0; i < TEMP_TRIES; i++) {
    snprintf(out->temp, size, "%.*s" TEMP_PREFIX "%ld-%d" TEMP_SUFFIX, folder, out->path, (long)getpid(), i);
    out->fd = open(out->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (out->fd >= 0) {
      (void)!flock(out->fd, LOCK_EX | LOCK_NB); /* best effort: tells a file in the making from a leftover */
      return 0;
    }
    if (errno != EEXIST) break;
  }
  int why = errno;
  ttm_free(out->temp);
  out->temp = NULL;
  return why;
}

/* A file behind a symbolic link is replaced where it lies. */
static int follow_link(ttm_out *out) {
  char *real = realpath(out->path, NULL);
  if (!real) return errno;
  char *copy = ttm_str_copy(ttm_str_of(real));
  free(real); /* realpath's own, not from ttm_alloc */
  if (!copy) return ENOMEM;
  ttm_free(out->path);
  out->path = copy;
  return 0;
}

/* Who could not read the old file cannot read the new one either. Owner and group stay as far as we may give them away; a group that was not asked
 * before is one of the others. */
static void keep_access(int fd, const struct stat *old) {
  mode_t mode = old->st_mode & 0777;
  struct stat now;
  if (fchown(fd, old->st_uid, old->st_gid)) (void)!fchown(fd, (uid_t)-1, old->st_gid);
  if (fstat(fd, &now) || now.st_gid != old->st_gid) mode &= (mode & 07) << 3 | 0707;
  (void)!fchmod(fd, mode);
}

/* Names of open descriptors look like the regular file they lead to, but whoever opened it would not see a new one. */
static bool names_a_descriptor(const char *path) {
  return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
         strncmp(path, "/proc/", 6) == 0;
}

int ttm_out_open(ttm_out *out, const char *path, ttm_error *err) {
  *out = (ttm_out){.fd = -1, .close = true};
  out->path = ttm_str_copy(ttm_str_of(path));
  if (!out->path) return refuse(out, ENOMEM, err);
  struct stat old;
  bool exists = stat(path, &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return refuse(out, EISDIR, err);
  /* Renaming over a device or a pipe would take it away. */
  if (names_a_descriptor(path) || (exists && !S_ISREG(old.st_mode))) {
    out->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    return out->fd < 0 ? refuse(out, errno, err) : TTM_OK;
  }
  int why = 0;
  if (exists)
    why = access(path, W_OK) ? errno : follow_link(out); /* renaming would not ask for the file's own permission */
  if (!why)
    why = open_temp(out, exists ? 0600 : 0666); /* whoever opens it now may read on, whatever its mode becomes */
  if (why) return refuse(out, why, err);
  if (exists) keep_access(out->fd, &old);
  return TTM_OK;
}

int ttm_out_open_fd(ttm_out *out, int fd, const char *name, ttm_error *err) {
  *out = (ttm_out){.fd = fd};
  out->path = ttm_str_copy(ttm_str_of(name));
  return out->path ? TTM_OK : refuse(out, ENOMEM, err);
}

int ttm_write_all(int fd, const char *p, size_t n) {
  while (n) {
    ssize_t done = write(fd, p, n);
    if (done > 0) {
      p += done;
      n -= (size_t)done;
    } else if (done == 0) {
      return ENOSPC;                                      /* a file that takes nothing and names no reason */
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) { /* a shared terminal or pipe may have been set non-blocking */
      struct pollfd ready = {.fd = fd, .events = POLLOUT};
      if (poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/* The disk begins with what is there while the rest is still being made: the wait at the end is short. */
static void begin_sync(ttm_out *out) {
#ifdef __linux__
  if (out->written - out->begun < SYNC_PIECE) return;
  (void)!sync_file_range(out->fd, (off_t)out->begun, (off_t)(out->written - out->begun), SYNC_FILE_RANGE_WRITE);
  out->begun = out->written;
#else
  (void)out;
#endif
}

void ttm_out_flush(ttm_out *out) {
  if (!out->failed && out->buf.n && !out->buf.failed) {
    out->failed = ttm_write_all(out->fd, out->buf.at, out->buf.n);
    if (!out->failed) out->written += out->buf.n;
    if (!out->failed && out->sync) begin_sync(out);
  }
  ttm_buf_clear(&out->buf);
}

void ttm_out_sync(ttm_out *out) {
  /* Some file systems have nothing to be waited for. */
  if (!out->failed && out->fd >= 0 && fsync(out->fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
    out->failed = errno;
}

void ttm_folder_sync(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!fsync(fd);
  close(fd);
}

void ttm_folder_sync_of(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? ttm_str_copy((ttm_str){path, slash == path ? 1 : (size_t)(slash - path)}) : NULL;
  if (folder || !slash) ttm_folder_sync(folder ? folder : ".");
  ttm_free(folder);
}

int ttm_out_close(ttm_out *out, ttm_error *err) {
  bool no_memory = out->buf.failed;
  ttm_out_flush(out);
  if (out->sync && out->temp) ttm_out_sync(out);
  int why = out->failed;
  /* Quotas and network file systems may tell only now; after EINTR the descriptor is closed all the same. */
  if (out->close && close(out->fd) && errno != EINTR && !why) why = errno;
  out->close = false;
  if (!why && !no_memory && out->temp) {
    if (rename(out->temp, out->path)) {
      why = errno;
    } else {
      ttm_free(out->temp);
      out->temp = NULL;
      if (out->sync) ttm_folder_sync_of(out->path);
    }
  }
  int code = no_memory ? ttm_error_nomem(err) : why ? cannot_write(out, why, err) : TTM_OK;
  ttm_out_abandon(out);
  return code;
}

void ttm_out_abandon(ttm_out *out) {
  if (out->close && out->fd >= 0) close(out->fd);
  if (out->temp) unlink(out->temp);
  forget(out);
}

long ttm_out_temp_owner(const char *file_name) {
  ttm_str name = ttm_str_of(file_name);
  uint64_t pid, number;
  bool ours = ttm_str_take(&name, TTM_LIT(TEMP_PREFIX)) && ttm_str_take_u64(&name, &pid) &&
              ttm_str_take(&name, TTM_LIT("-")) && ttm_str_take_u64(&name, &number) &&
              ttm_str_eq(name, TTM_LIT(TEMP_SUFFIX));
  return ours && pid > 0 && pid <= INT32_MAX ? (long)pid : 0;
}
