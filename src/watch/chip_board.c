/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "watch/chip_board.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/os.h"
#include "watch/process.h"

const ttm_board *ttm_chip_board_named(ttm_str name) {
  static const struct {
    const char *start, *board;
  } others[] = {{"ubb_blackhole", ""},
                {"galaxy-blackhole", ""},
                {"ubb", "galaxy"},
                {"galaxy", "galaxy"},
                {"tt-galaxy-wh", "galaxy"}};
  name = ttm_str_trim(name);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (ttm_str_starts(name, ttm_str_of(others[i].start))) return ttm_board_find(ttm_str_of(others[i].board));
  }
  return ttm_board_find(ttm_str_first(name, 4)); /* "p150a", "n300 L": the letter behind is the cooling */
}

/* ---- Files ------------------------------------------------------------------------------------------------------------ */

/* The start of a regular file; false when there is none that can be read. Another user's program may have chosen the path, and root opens it. */
static bool read_start(int dir, const char *path, size_t most, ttm_buf *out) {
  int fd = ttm_os_open_regular(dir, path);
  if (fd < 0) return false;
  ssize_t got = -1;
  if (ttm_buf_room(out, most)) {
    while (most && (got = read(fd, out->at + out->n, most)) > 0) out->n += (size_t)got, most -= (size_t)got;
  }
  close(fd);
  return got >= 0;
}

const ttm_board *ttm_chip_board_of_driver(const char *sysfs) {
  const ttm_board *board = NULL;
  bool one_kind = true;
  DIR *dir = opendir(sysfs);
  if (!dir) return NULL;
  for (struct dirent *entry; (entry = readdir(dir));) {
    ttm_buf path = {0}, text = {0};
    ttm_buf_printf(&path, "%s/tt_card_type", entry->d_name);
    ttm_buf_char(&path, '\0');
    if (entry->d_name[0] != '.' && !path.failed && read_start(dirfd(dir), path.at, 64, &text)) {
      ttm_str word = ttm_buf_str(&text);
      const ttm_board *this = ttm_chip_board_named(ttm_str_first(word, ttm_str_find_char(word, '\n')));
      one_kind &= this && (!board || board == this);
      board = this;
    }
    ttm_buf_free(&path);
    ttm_buf_free(&text);
  }
  closedir(dir);
  return one_kind ? board : NULL;
}

/* The word behind the first "board_type:" of a cluster descriptor. */
static const ttm_board *board_in(ttm_str yaml) {
  static const ttm_str key = {"board_type:", 11};
  size_t at = ttm_str_find(yaml, key), end = 0;
  if (at == TTM_NOT_FOUND) return NULL;
  ttm_str word = ttm_str_trim(ttm_str_first(ttm_str_from(yaml, at + key.n), 40));
  while (end < word.n && !strchr(" ,}\r\n", word.p[end])) end++;
  return ttm_chip_board_named(ttm_str_first(word, end));
}

const ttm_board *ttm_chip_board_of_process(int32_t pid) {
  enum { MOST = 1 << 20 };
  const ttm_board *board = NULL;
  ttm_buf path = {0}, yaml = {0};
  ttm_buf_printf(&path, "/proc/%d/cwd/", (int)pid); /* a relative path is relative to where the process is */
  size_t relative = path.n;
  if (ttm_process_variable(pid, "TT_METAL_MOCK_CLUSTER_DESC_PATH", &path)) {
    ttm_buf_char(&path, '\0');
    const char *name = path.failed ? NULL : path.at[relative] == '/' ? path.at + relative : path.at;
    if (name && read_start(AT_FDCWD, name, MOST, &yaml)) board = board_in(ttm_buf_str(&yaml));
  }
  ttm_buf_free(&path);
  ttm_buf_free(&yaml);
  return board;
}
