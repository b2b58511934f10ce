/* SPDX-License-Identifier: Apache-2.0 */
/* Sources and chunks against real files: plain, gzip (also concatenated), zstd, cut, damaged, missing. */
#define _GNU_SOURCE /* mkdtemp */
#include "unit.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/chunks.h"

static char folder[] = "/tmp/ttmem-source-XXXXXX";

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void write_file(const char *name, const char *bytes, size_t n) {
  FILE *f = fopen(path_of(name), "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  fclose(f);
}

static void shell(const char *command) {
  char line[512];
  snprintf(line, sizeof line, "cd %s && %s", folder, command);
  assert_int_equal(system(line), 0);
}

/* The text of the tests: lines of growing length, the last one without its end. */
static char *make_text(size_t *n) {
  ttm_buf b = {0};
  for (unsigned i = 0; b.n < 6 * TTM_CHUNK_BYTES; i++) {
    ttm_buf_printf(&b, "%u ", i);
    for (unsigned k = 0; k < i % 997; k++) ttm_buf_char(&b, (char)('a' + (i + k) % 26));
    ttm_buf_char(&b, '\n');
  }
  ttm_buf_puts(&b, "cut");
  assert_false(b.failed);
  *n = b.n;
  return b.at;
}

static int setup(void **state) {
  assert_non_null(mkdtemp(folder));
  size_t n;
  char *text = make_text(&n);
  write_file("plain", text, n);
  *state = text;
  shell(
      "gzip -k plain && cat plain.gz plain.gz > twice.gz && zstd -q plain && head -c 20000 plain.gz > cut.gz && "
      "head -c 20000 plain.zst > cut.zst && printf 'x\\n' | gzip > small.gz && : > empty && "
      "printf '\\132\\052\\115\\030\\003\\0\\0\\0abc' | cat - plain.zst > skipped.zst");
  return 0;
}

static int teardown(void **state) {
  free(*state);
  shell("rm -rf -- \"$PWD\"");
  return 0;
}

/* Everything the chunks of a file hold, one after the other. Checks that every chunk ends with a line. */
static ttm_buf read_all(const char *name, const char **damage) {
  ttm_error err;
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  ttm_buf all = {0};
  assert_int_equal(ttm_source_open(&chunker.source, path_of(name), &err), TTM_OK);
  do {
    assert_int_equal(ttm_chunker_next(&chunker, &chunk, &err), TTM_OK);
    if (!chunk.last) assert_int_equal(chunk.data[chunk.n - 1], '\n');
    ttm_buf_put(&all, (ttm_str){chunk.data, chunk.n});
  } while (!chunk.last);
  if (damage)
    *damage = ttm_source_damage(chunker.source);
  else
    assert_null(ttm_source_damage(chunker.source));
  ttm_source_close(chunker.source);
  ttm_chunker_free(&chunker);
  ttm_chunk_free(&chunk);
  return all;
}

static void test_same_bytes(void **state) {
  const char *names[] = {"plain", "plain.gz", "plain.zst", "skipped.zst"};
  size_t n;
  char *want = make_text(&n);
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    ttm_buf got = read_all(names[i], NULL);
    assert_int_equal(got.n, n);
    assert_memory_equal(got.at, want, n);
    ttm_buf_free(&got);
  }
  ttm_buf twice = read_all("twice.gz", NULL);
  assert_int_equal(twice.n, 2 * n);
  assert_memory_equal(twice.at + n, want, n);
  ttm_buf_free(&twice);
  free(want);
}

/* A cut or damaged stream gives what it holds and says so. */
static void test_cut_streams(void **state) {
  (void)state;
  const char *names[] = {"cut.gz", "cut.zst"};
  for (size_t i = 0; i < 2; i++) {
    const char *damage = NULL;
    ttm_buf got = read_all(names[i], &damage);
    assert_non_null(damage);
    assert_true(got.n > 10000);
    assert_memory_equal(got.at, *state, got.n);
    ttm_buf_free(&got);
  }
  /* A frame as zstd wrote them before 0.8, made up: libzstd's decoder of those claims text that it never wrote. */
  shell(
      "printf '\\132\\052\\115\\030\\003\\0\\0\\0abc\\047\\265\\057\\375\\004\\130\\225\\015\\0' | cat - plain > "
      "old.zst");
  const char *old_damage = NULL;
  ttm_buf old = read_all("old.zst", &old_damage);
  assert_non_null(old_damage);
  assert_int_equal(old.n, 0);
  ttm_buf_free(&old);
  shell("cp plain.gz bad.gz && printf 'XXXXXXXX' | dd of=bad.gz bs=1 seek=9000 conv=notrunc 2>/dev/null");
  const char *damage = NULL;
  ttm_buf got = read_all("bad.gz", &damage);
  assert_non_null(damage);
  ttm_buf_free(&got);
}

static void test_small_and_empty(void **state) {
  (void)state;
  ttm_buf got = read_all("small.gz", NULL);
  assert_view(ttm_buf_str(&got), "x\n");
  ttm_buf_free(&got);
  got = read_all("empty", NULL);
  assert_int_equal(got.n, 0);
  ttm_buf_free(&got);
}

static void test_errors(void **state) {
  (void)state;
  ttm_error err;
  ttm_source *s;
  assert_int_equal(ttm_source_open(&s, "/nonexistent/x.log", &err), TTM_EIO);
  assert_non_null(strstr(err.message, "/nonexistent/x.log"));
  assert_int_equal(ttm_source_open(&s, folder, &err), TTM_EIO);
  assert_non_null(strstr(err.message, "directory"));
}

/* A line longer than a chunk arrives whole. */
static void test_long_line(void **state) {
  (void)state;
  size_t n = 5 * TTM_CHUNK_BYTES;
  char *line = malloc(n);
  memset(line, 'x', n);
  line[n - 1] = '\n';
  write_file("long", line, n);
  ttm_error err;
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  assert_int_equal(ttm_source_open(&chunker.source, path_of("long"), &err), TTM_OK);
  assert_int_equal(ttm_chunker_next(&chunker, &chunk, &err), TTM_OK);
  assert_int_equal(chunk.n, n);
  assert_false(chunk.cut_line);
  ttm_source_close(chunker.source);
  ttm_chunker_free(&chunker);
  ttm_chunk_free(&chunk);
  free(line);
}

/* The pieces of a file, read from the last to the first, are together the file, and each starts with a line. */
static void check_pieces(const char *text, size_t n) {
  enum { MOST = 16 };
  ttm_error err;
  ttm_source *source;
  ttm_chunk chunks[MOST] = {{0}};
  size_t pieces = n / TTM_CHUNK_BYTES + 2, at = 0;
  assert_true(pieces <= MOST);
  write_file("pieces", text, n);
  assert_int_equal(ttm_source_open(&source, path_of("pieces"), &err), TTM_OK);
  assert_true(ttm_source_is_seekable(source));
  for (size_t i = pieces; i-- > 0;) assert_int_equal(ttm_chunk_read(&chunks[i], source, i, &err), TTM_OK);
  for (size_t i = 0; i < pieces; i++) {
    const ttm_chunk *c = &chunks[i];
    assert_true(c->n <= n - at);
    if (c->n) assert_memory_equal(c->data, text + at, c->n);
    if (c->n) assert_true(at == 0 || text[at - 1] == '\n');
    if (c->n && c->data[c->n - 1] != '\n') assert_true(c->cut_line && c->last);
    at += c->n;
    if (at < n) assert_false(c->last);
    ttm_chunk_free(&chunks[i]);
  }
  assert_int_equal(at, n);
  ttm_source_close(source);
}

static void test_pieces(void **state) {
  (void)state;
  size_t n = 5 * TTM_CHUNK_BYTES;
  char *text = malloc(n);
  unsigned random = 1;
  for (int round = 0; round < 12; round++) {
    /* Lines of a few bytes to a piece and a half. */
    unsigned mask = round % 3 == 0 ? 0xff : round % 3 == 1 ? 0xfffff : 0x3fff;
    memset(text, 'x', n);
    for (size_t at = 0; at < n; at += 1 + (random >> 8 & mask)) {
      text[at] = '\n';
      random = random * 1664525 + 1013904223;
    }
    check_pieces(text, n - (size_t)round * 7);
  }
  /* Line ends around the places where pieces meet, and around the end. */
  for (int before = -2; before <= 2; before++) {
    memset(text, 'x', n);
    for (size_t piece = 1; piece < 5; piece++) text[piece * TTM_CHUNK_BYTES + (size_t)before] = '\n';
    for (size_t cut = 0; cut < 3; cut++) check_pieces(text, n - cut);
    check_pieces(text, 4 * TTM_CHUNK_BYTES);
    check_pieces(text, 4 * TTM_CHUNK_BYTES + (size_t)(before + 3));
  }
  check_pieces(text, 0);
  check_pieces("x", 1);
  check_pieces("\n", 1);
  free(text);
}

/* A line over the limit is cut there and counts as one line. */
static void test_longest_line(void **state) {
  (void)state;
  size_t n = (size_t)TTM_LONGEST_LINE * 2 + 3;
  char *text = malloc(n);
  memset(text, 'x', n);
  memcpy(text + n - 3, "\ny\n", 3);
  write_file("longest", text, n);
  free(text);
  ttm_error err;
  ttm_source *source;
  ttm_chunk chunk = {0};
  size_t lines = 0, bytes = 0;
  assert_int_equal(ttm_source_open(&source, path_of("longest"), &err), TTM_OK);
  for (uint64_t i = 0; i == 0 || !chunk.last; i++) {
    assert_int_equal(ttm_chunk_read(&chunk, source, i, &err), TTM_OK);
    for (size_t k = 0; k < chunk.n; k++) lines += chunk.data[k] == '\n';
    bytes += chunk.n;
  }
  assert_int_equal(lines, 2);
  assert_true(bytes < n - TTM_LONGEST_LINE / 2);
  ttm_source_close(source);
  ttm_chunk_free(&chunk);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes),      cmocka_unit_test(test_cut_streams),
                                     cmocka_unit_test(test_small_and_empty), cmocka_unit_test(test_errors),
                                     cmocka_unit_test(test_long_line),       cmocka_unit_test(test_pieces),
                                     cmocka_unit_test(test_longest_line)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
