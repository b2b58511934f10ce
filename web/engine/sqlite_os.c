/* SPDX-License-Identifier: Apache-2.0 */
/* What SQLite asks of a system, for one database that is only read: scripts/deps compiles it without a system of its own. */
#define _DEFAULT_SOURCE /* getentropy */
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file {
  sqlite3_file base;
  int fd;
} file;

static int close_file(sqlite3_file *f) { return close(((file *)f)->fd) ? SQLITE_IOERR_CLOSE : SQLITE_OK; }

static int read_file(sqlite3_file *f, void *out, int n, sqlite3_int64 at) {
  ssize_t got = 1, done = 0;
  while (done < n && (got = pread(((file *)f)->fd, (char *)out + done, (size_t)(n - done), at + done)) > 0) done += got;
  if (got < 0) return SQLITE_IOERR_READ;
  memset((char *)out + done, 0, (size_t)(n - done));
  return done == n ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size) {
  struct stat info;
  if (fstat(((file *)f)->fd, &info)) return SQLITE_IOERR_FSTAT;
  *size = info.st_size;
  return SQLITE_OK;
}

static int no_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
  return (void)f, (void)from, (void)n, (void)at, SQLITE_READONLY;
}
static int no_truncate(sqlite3_file *f, sqlite3_int64 size) { return (void)f, (void)size, SQLITE_READONLY; }
static int no_sync(sqlite3_file *f, int flags) { return (void)f, (void)flags, SQLITE_OK; }
static int no_lock(sqlite3_file *f, int lock) { return (void)f, (void)lock, SQLITE_OK; }
static int no_holder(sqlite3_file *f, int *reserved) { return (void)f, *reserved = 0, SQLITE_OK; }
static int no_control(sqlite3_file *f, int op, void *argument) {
  return (void)f, (void)op, (void)argument, SQLITE_NOTFOUND;
}
static int sector_size(sqlite3_file *f) { return (void)f, 4096; }
static int characteristics(sqlite3_file *f) { return (void)f, SQLITE_IOCAP_IMMUTABLE; }

static const sqlite3_io_methods METHODS = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = no_write,
    .xTruncate = no_truncate,
    .xSync = no_sync,
    .xFileSize = file_size,
    .xLock = no_lock,
    .xUnlock = no_lock,
    .xCheckReservedLock = no_holder,
    .xFileControl = no_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *given) {
  (void)vfs;
  f->pMethods = NULL; /* nothing to close unless it opens */
  if (!name || !(flags & SQLITE_OPEN_MAIN_DB)) return SQLITE_CANTOPEN;
  ((file *)f)->fd = open(name, O_RDONLY);
  if (((file *)f)->fd < 0) return SQLITE_CANTOPEN;
  f->pMethods = &METHODS;
  if (given) *given = SQLITE_OPEN_READONLY;
  return SQLITE_OK;
}

static int no_delete(sqlite3_vfs *vfs, const char *name, int sync) {
  return (void)vfs, (void)name, (void)sync, SQLITE_READONLY;
}

static int has_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  (void)vfs;
  *out = flags != SQLITE_ACCESS_READWRITE && !access(name, F_OK);
  return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int n, char *out) {
  (void)vfs;
  size_t length = strlen(name);
  if (length >= (size_t)n) return SQLITE_CANTOPEN;
  memcpy(out, name, length + 1);
  return SQLITE_OK;
}

static int random_bytes(sqlite3_vfs *vfs, int n, char *out) {
  (void)vfs;
  return getentropy(out, (size_t)n) ? 0 : n;
}
static int no_sleep(sqlite3_vfs *vfs, int microseconds) { return (void)vfs, microseconds; }
static int no_clock(sqlite3_vfs *vfs, double *days) { return (void)vfs, *days = 0, SQLITE_OK; }
static int last_error(sqlite3_vfs *vfs, int n, char *out) { return (void)vfs, (void)n, (void)out, 0; }

int sqlite3_os_init(void) {
  static sqlite3_vfs vfs = {.iVersion = 1,
                            .szOsFile = sizeof(file),
                            .mxPathname = 4096,
                            .zName = "page",
                            .xOpen = open_file,
                            .xDelete = no_delete,
                            .xAccess = has_access,
                            .xFullPathname = full_name,
                            .xRandomness = random_bytes,
                            .xSleep = no_sleep,
                            .xCurrentTime = no_clock,
                            .xGetLastError = last_error};
  return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void) { return SQLITE_OK; }
