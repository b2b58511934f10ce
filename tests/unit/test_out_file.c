/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/out_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

typedef struct scratch {
  char folder[64], file[96];
} scratch;

static int make_scratch(void **state) {
  scratch *s = calloc(1, sizeof *s);
  strcpy(s->folder, "/tmp/ttmem-out-XXXXXX");
  assert_non_null(mkdtemp(s->folder));
  snprintf(s->file, sizeof s->file, "%s/target.json", s->folder);
  *state = s;
  return 0;
}

static int remove_scratch(void **state) {
  char command[256];
  snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", ((scratch *)*state)->folder,
           ((scratch *)*state)->folder);
  int result = system(command);
  free(*state);
  return result;
}

static void put_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static void assert_file(const char *path, const char *want) {
  char text[256] = "";
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  assert_true(fread(text, 1, sizeof text - 1, f) <= sizeof text);
  fclose(f);
  assert_string_equal(text, want);
}

static int count_files(const char *folder) {
  int n = -2; /* . and .. */
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  while (readdir(dir)) n++;
  closedir(dir);
  return n;
}

static void file_appears_when_it_is_whole(void **state) {
  scratch *s = *state;
  ttm_out out;
  ttm_error err;
  assert_int_equal(ttm_out_open(&out, s->file, &err), TTM_OK);
  ttm_buf_puts(&out.buf, "{}\n");
  ttm_out_flush(&out);
  assert_int_equal(access(s->file, F_OK), -1);
  assert_int_equal(ttm_out_close(&out, &err), TTM_OK);
  assert_file(s->file, "{}\n");
  assert_int_equal(count_files(s->folder), 1);
  ttm_out_abandon(&out); /* safe after closing */
}

static void old_file_stays_until_then(void **state) {
  scratch *s = *state;
  ttm_out out;
  put_file(s->file, "old");
  assert_int_equal(chmod(s->file, 0640), 0);
  assert_int_equal(ttm_out_open(&out, s->file, NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "new");
  ttm_out_flush(&out);
  assert_file(s->file, "old");
  ttm_out_abandon(&out);
  assert_file(s->file, "old");
  assert_int_equal(count_files(s->folder), 1);
  assert_int_equal(ttm_out_open(&out, s->file, NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "new");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  assert_file(s->file, "new");
  struct stat st;
  assert_int_equal(stat(s->file, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
}

static void write_anew(const scratch *s) {
  ttm_out out;
  assert_int_equal(ttm_out_open(&out, s->file, NULL), TTM_OK);
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
}

/* Writes the file as a user who may not give it to its group; 0 when it went well. */
static int write_anew_as_nobody(const scratch *s) {
  enum { NOBODY = 65534 };
  int status = -1;
  pid_t child = fork();
  assert_true(child >= 0);
  if (!child) {
    ttm_out out;
    bool other = !setgroups(0, NULL) && !setgid(NOBODY) && !setuid(NOBODY);
    _exit(!other || ttm_out_open(&out, s->file, NULL) || ttm_out_close(&out, NULL));
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return status;
}

static void nobody_else_reads_the_new_file(void **state) {
  enum { OTHER = 12345, NOBODY = 65534 };
  const scratch *s = *state;
  struct stat st;
  if (geteuid()) skip(); /* only root can make files of others */
  put_file(s->file, "old");
  assert_int_equal(chmod(s->file, 0660), 0);
  assert_int_equal(chown(s->file, OTHER, OTHER), 0);
  write_anew(s);
  assert_int_equal(stat(s->file, &st), 0);
  assert_int_equal(st.st_uid, OTHER);
  assert_int_equal(st.st_gid, OTHER);
  assert_int_equal(st.st_mode & 0777, 0660);
  assert_int_equal(chmod(s->folder, 0777), 0);
  for (mode_t others = 0; others <= 4; others += 4) {
    assert_int_equal(chown(s->file, NOBODY, OTHER), 0);
    assert_int_equal(chmod(s->file, 0660 | others), 0);
    assert_int_equal(write_anew_as_nobody(s), 0);
    assert_int_equal(stat(s->file, &st), 0);
    assert_int_equal(st.st_gid, NOBODY);
    assert_int_equal(st.st_mode & 0777, 0600 | others << 3 | others);
  }
}

static void link_stays_a_link(void **state) {
  scratch *s = *state;
  char link[112];
  ttm_out out;
  struct stat st;
  snprintf(link, sizeof link, "%s/link", s->folder);
  put_file(s->file, "old");
  assert_int_equal(symlink("target.json", link), 0);
  assert_int_equal(ttm_out_open(&out, link, NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "new");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  assert_file(s->file, "new");
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
}

static void devices_are_written_not_replaced(void **state) {
  (void)state;
  ttm_out out;
  struct stat st;
  assert_int_equal(ttm_out_open(&out, "/dev/null", NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "gone");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  assert_int_equal(stat("/dev/null", &st), 0);
  assert_true(S_ISCHR(st.st_mode));
}

static void descriptor_names_are_written_in_place(void **state) {
  scratch *s = *state;
  char name[32];
  struct stat before, after;
  ttm_out out;
  int fd = open(s->file, O_RDWR | O_CREAT, 0666);
  assert_int_equal(fstat(fd, &before), 0);
  snprintf(name, sizeof name, "/dev/fd/%d", fd);
  assert_int_equal(ttm_out_open(&out, name, NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "text");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  assert_int_equal(stat(s->file, &after), 0);
  assert_int_equal(before.st_ino, after.st_ino);
  assert_file(s->file, "text");
  close(fd);
}

static void shared_memory_holds_files_too(void **state) {
  (void)state;
  char path[64];
  ttm_out out;
  if (access("/dev/shm", W_OK)) skip();
  snprintf(path, sizeof path, "/dev/shm/ttmem-test-%ld", (long)getpid());
  assert_int_equal(ttm_out_open(&out, path, NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "text");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  assert_file(path, "text");
  unlink(path);
}

static void full_disk_is_told(void **state) {
  (void)state;
  ttm_out out;
  ttm_error err;
  assert_int_equal(ttm_out_open(&out, "/dev/full", &err), TTM_OK);
  ttm_buf_puts(&out.buf, "x");
  assert_int_equal(ttm_out_close(&out, &err), TTM_EIO);
  assert_string_equal(err.message, "cannot write /dev/full: No space left on device");
}

/* A limit on file size fails in the middle, like a disk that fills up: after a short write. */
static void broken_off_file_is_removed(void **state) {
  scratch *s = *state;
  put_file(s->file, "old");
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {1000, 1000};
    ttm_out out;
    ttm_error err;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = ttm_out_open(&out, s->file, &err);
    for (int i = 0; i < 100000; i++) {
      ttm_buf_puts(&out.buf, "0123456789");
      ttm_out_flow(&out);
    }
    if (!code) code = ttm_out_close(&out, &err);
    _exit(code == TTM_EIO && strstr(err.message, "target.json: File too large") ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_file(s->file, "old");
  assert_int_equal(count_files(s->folder), 1);
}

static void unwritable_places_are_told(void **state) {
  scratch *s = *state;
  char path[128];
  ttm_out out;
  ttm_error err;
  snprintf(path, sizeof path, "%s/missing/file", s->folder);
  assert_int_equal(ttm_out_open(&out, path, &err), TTM_EIO);
  assert_non_null(strstr(err.message, path));
  assert_non_null(strstr(err.message, "No such file"));
  assert_int_equal(ttm_out_open(&out, s->folder, &err), TTM_EIO);
  assert_non_null(strstr(err.message, "Is a directory"));
  if (geteuid() == 0) return; /* root may write everywhere */
  put_file(s->file, "old");
  chmod(s->file, 0444);
  assert_int_equal(ttm_out_open(&out, s->file, &err), TTM_EIO);
  chmod(s->folder, 0555);
  snprintf(path, sizeof path, "%s/new", s->folder);
  assert_int_equal(ttm_out_open(&out, path, &err), TTM_EIO);
  assert_non_null(strstr(err.message, "Permission denied"));
}

static void descriptors_stay_open(void **state) {
  (void)state;
  int ends[2];
  char text[8] = "";
  ttm_out out;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(ttm_out_open_fd(&out, ends[1], "pipe", NULL), TTM_OK);
  ttm_buf_puts(&out.buf, "ab");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  assert_int_equal(write(ends[1], "c", 1), 1);
  assert_int_equal(read(ends[0], text, 7), 3);
  assert_string_equal(text, "abc");
  close(ends[0]);
  close(ends[1]);
}

/* The other end is slow and our end does not block: everything arrives all the same. */
static void waits_for_a_pipe_that_is_full(void **state) {
  (void)state;
  int ends[2];
  ttm_out out;
  assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    fcntl(ends[0], F_SETFL, 0);
    char text[4096];
    size_t total = 0;
    usleep(20000);
    for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;) total += (size_t)n;
    _exit(total == 1000000 ? 0 : 1);
  }
  close(ends[0]);
  assert_int_equal(ttm_out_open_fd(&out, ends[1], "pipe", NULL), TTM_OK);
  for (int i = 0; i < 100000; i++) ttm_buf_puts(&out.buf, "0123456789");
  assert_int_equal(ttm_out_close(&out, NULL), TTM_OK);
  close(ends[1]);
  int status;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
}

static void knows_its_temporary_names(void **state) {
  (void)state;
  assert_int_equal(ttm_out_temp_owner(".ttmem-123-0.tmp"), 123);
  assert_int_equal(ttm_out_temp_owner(".ttmem-123.tmp"), 0);
  assert_int_equal(ttm_out_temp_owner(".ttmem-0-0.tmp"), 0);
  assert_int_equal(ttm_out_temp_owner(".ttmem-99999999999-0.tmp"), 0);
  assert_int_equal(ttm_out_temp_owner("ttmem-123-0.tmp"), 0);
  assert_int_equal(ttm_out_temp_owner(".ttmem-123-0.tmp2"), 0);
}

#define WITH_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, remove_scratch)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_SCRATCH(file_appears_when_it_is_whole),
      WITH_SCRATCH(old_file_stays_until_then),
      WITH_SCRATCH(nobody_else_reads_the_new_file),
      WITH_SCRATCH(link_stays_a_link),
      cmocka_unit_test(devices_are_written_not_replaced),
      WITH_SCRATCH(descriptor_names_are_written_in_place),
      cmocka_unit_test(shared_memory_holds_files_too),
      cmocka_unit_test(full_disk_is_told),
      WITH_SCRATCH(broken_off_file_is_removed),
      WITH_SCRATCH(unwritable_places_are_told),
      cmocka_unit_test(descriptors_stay_open),
      cmocka_unit_test(waits_for_a_pipe_that_is_full),
      cmocka_unit_test(knows_its_temporary_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
