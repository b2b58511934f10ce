/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders: made, removed with all that is in them, and which leftovers of killed processes may go. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/temp_dir.h"
#include "unit.h"

static char home[] = "/tmp/ttmem-tempdir-XXXXXX", root[64];

static bool is_there(const char *path) {
  struct stat st;
  return !lstat(path, &st);
}

/* No process has this number: Linux counts to 1 << 22 at most. One that has just ended may be given out again. */
static const long gone = 1L << 22;

/* A folder as a process `pid` would have left it, last changed so many seconds ago, with a file in it. */
static void leave(char *path, size_t size, const char *what, long pid, long seconds) {
  char file[256];
  snprintf(path, size, "%s/ttmem-%s-%ld-abcdef", root, what, pid);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(file, sizeof file, "%s/file", path);
  close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
  assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void goes_with_all_in_it(void **state) {
  (void)state;
  ttm_temp_dir dir;
  char path[PATH_MAX + 16], outside[128];
  assert_int_equal(ttm_temp_dir_make(&dir, "test", NULL), TTM_OK);
  assert_int_equal(strncmp(dir.path, root, strlen(root)), 0);
  snprintf(outside, sizeof outside, "%s/outside", root);
  close(open(outside, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  snprintf(path, sizeof path, "%s/below", dir.path);
  assert_int_equal(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/below/link", dir.path);
  assert_int_equal(symlink(outside, path), 0);
  snprintf(path, sizeof path, "%s", dir.path);
  ttm_temp_dir_remove(&dir);
  assert_false(is_there(path));
  assert_true(is_there(outside)); /* links are not followed */
  ttm_temp_dir_remove(&dir);      /* a second time does nothing */
  assert_int_equal(unlink(outside), 0);
}

static void leftovers(void **state) {
  (void)state;
  char old[128], fresh[128], other[128], ours[128], in_use[128];
  ttm_temp_dir dir;
  leave(old, sizeof old, "test", gone, 3600);
  leave(other, sizeof other, "other", gone, 3600);
  leave(ours, sizeof ours, "test", (long)getpid(), 3600);
  assert_int_equal(ttm_temp_dir_make(&dir, "test", NULL), TTM_OK);
  assert_false(is_there(old));
  assert_true(is_there(other));
  assert_true(is_there(ours));
  ttm_temp_dir_remove(&dir);
  /* Two containers with one /tmp do not see each other's processes: what is new, or locked by its owner, stays. */
  leave(fresh, sizeof fresh, "test", gone, 0);
  snprintf(in_use, sizeof in_use, "%s/ttmem-test-%ld-locked", root, gone);
  assert_int_equal(mkdir(in_use, 0700), 0);
  struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
  assert_int_equal(utimensat(AT_FDCWD, in_use, times, 0), 0);
  int fd = open(in_use, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_true(fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB));
  assert_int_equal(ttm_temp_dir_make(&dir, "test", NULL), TTM_OK);
  assert_true(is_there(fresh));
  assert_true(is_there(in_use));
  ttm_temp_dir_remove(&dir);
  close(fd);
  assert_int_equal(ttm_temp_dir_make(&dir, "test", NULL), TTM_OK);
  assert_false(is_there(in_use));
  /* Ours is locked in turn. */
  fd = open(dir.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_true(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0);
  close(fd);
  ttm_temp_dir_remove(&dir);
}

static void nowhere(void **state) {
  (void)state;
  ttm_temp_dir dir;
  ttm_error err;
  setenv("TTMEM_HOME", "/proc/nowhere/at/all", 1);
  setenv("TMPDIR", home, 1); /* the next best */
  assert_int_equal(ttm_temp_dir_make(&dir, "test", NULL), TTM_OK);
  assert_int_equal(strncmp(dir.path, home, strlen(home)), 0);
  assert_non_null(strstr(dir.path, "/ttmem-"));
  ttm_temp_dir_remove(&dir);
  setenv("TMPDIR", "/proc/nowhere", 1);
  assert_int_equal(ttm_temp_dir_make(&dir, "test", &err), TTM_EIO);
  assert_non_null(strstr(err.message, "/proc/nowhere"));
  ttm_temp_dir_remove(&dir);
  setenv("TTMEM_HOME", home, 1);
}

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(home) || setenv("TTMEM_HOME", home, 1)) return -1;
  snprintf(root, sizeof root, "%s/cache", home);
  if (mkdir(root, 0700)) return -1;
  snprintf(root, sizeof root, "%s/cache/tmp", home);
  return mkdir(root, 0700);
}

static int tear_down(void **state) {
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", home);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(goes_with_all_in_it),
      cmocka_unit_test(leftovers),
      cmocka_unit_test(nowhere),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
