/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw64 */
/* What the linker puts in the place of functions of the C library (--wrap), their names those that a 64-bit off_t gives:
 * stat(), which MemorySanitizer before clang 15 does not know in glibc 2.33 and later, and nftw(): what they fill looks
 * uninitialised;
 * pwrite(), with which blocks go to their files, the room behind their contents too (base/spill.c);
 * dlopen(), which would bring libraries that are not compiled alike (cairo and its fontconfig, libpq): there are none. */
#include <ftw.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Absent from what is built without sanitizers. */
void __msan_unpoison(const volatile void *at, size_t size) __attribute__((weak));

static int known(int result, struct stat *out) {
  if (!result && __msan_unpoison) __msan_unpoison(out, sizeof *out);
  return result;
}

int __real_stat64(const char *path, struct stat *out);
int __wrap_stat64(const char *path, struct stat *out);
int __wrap_stat64(const char *path, struct stat *out) { return known(__real_stat64(path, out), out); }

int __real_lstat64(const char *path, struct stat *out);
int __wrap_lstat64(const char *path, struct stat *out);
int __wrap_lstat64(const char *path, struct stat *out) { return known(__real_lstat64(path, out), out); }

int __real_fstat64(int fd, struct stat *out);
int __wrap_fstat64(int fd, struct stat *out);
int __wrap_fstat64(int fd, struct stat *out) { return known(__real_fstat64(fd, out), out); }

int __real_fstatat64(int fd, const char *path, struct stat *out, int flags);
int __wrap_fstatat64(int fd, const char *path, struct stat *out, int flags);
int __wrap_fstatat64(int fd, const char *path, struct stat *out, int flags) {
  return known(__real_fstatat64(fd, path, out, flags), out);
}

static __nftw64_func_t visit;
static int visit_known(const char *path, const struct stat64 *info, int kind, struct FTW *at) {
  size_t n = 0;
  while (path[n]) n++;
  if (__msan_unpoison) {
    __msan_unpoison(path, n + 1);
    __msan_unpoison(info, sizeof *info);
    __msan_unpoison(at, sizeof *at);
  }
  return visit(path, info, kind, at);
}

int __real_nftw64(const char *path, __nftw64_func_t function, int descriptors, int flags);
int __wrap_nftw64(const char *path, __nftw64_func_t function, int descriptors, int flags);
int __wrap_nftw64(const char *path, __nftw64_func_t function, int descriptors, int flags) {
  visit = function;
  return __real_nftw64(path, visit_known, descriptors, flags);
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t n, off_t at) {
  return syscall(SYS_pwrite64, fd, bytes, n, at);
}

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode) {
  (void)file, (void)mode;
  return NULL;
}
