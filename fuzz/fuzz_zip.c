/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a zip archive: never a crash, and no more bytes than the members say and deflate can make of the file. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/zip.h"
#include "fuzz.h"

enum { DEFLATE_MOST = 1040 };

static int count(void *context, const char *bytes, size_t n, ttm_error *err) {
  (void)err;
  check(bytes && n);
  *(uint64_t *)context += n;
  return TTM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[40];
  ttm_zip zip;
  ttm_error err;
  uint64_t all = 0;
  int fd = memfd_create("zip", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  int status = ttm_zip_open(&zip, path, &err);
  check(!status || status == TTM_EFORMAT);
  for (size_t i = 0; i < zip.members.n && !status; i++) {
    uint64_t bytes = 0;
    status = ttm_zip_read(&zip, i, count, &bytes, &err);
    check(bytes <= zip.members.at[i].size && (status || bytes == zip.members.at[i].size));
    all += bytes;
    status = TTM_OK;
  }
  check(all <= (uint64_t)size * DEFLATE_MOST);
  ttm_zip_close(&zip);
  close(fd);
  return 0;
}
