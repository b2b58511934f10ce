/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/spill.h"
#include "unit.h"

enum { MB = 1 << 20 };

static int begin(void **state) {
  (void)state;
  ttm_spill_begin(8 * MB, (uint64_t)1024 * MB);
  void *p = ttm_alloc(8 * MB);
  bool possible = ttm_spill_size(p) > 0;
  ttm_free(p);
  if (!possible) print_message("skipped: TMPDIR, /var/tmp and /tmp are in memory, or full\n");
  return possible ? 0 : -1;
}

static bool is_spilled(size_t size) {
  void *p = ttm_alloc(size);
  bool spilled = ttm_spill_size(p) > 0;
  ttm_free(p);
  return spilled;
}

/* Once one is large enough, so is the input: smaller ones follow. From then on the other tests ask for still smaller ones. */
static void takes_smaller_ones_beside_large_ones(void **state) {
  (void)state;
  assert_true(is_spilled(4 * MB)); /* begin() had a large one */
  assert_false(is_spilled(4 * MB - 1));
  ttm_spill_begin(MB, (uint64_t)1024 * MB);
  assert_true(is_spilled(MB));
}

static uint32_t word(size_t i) { return (uint32_t)i * 2654435761u; }

static void mark(uint32_t *words, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) words[i] = word(i);
}

static void assert_marked(const uint32_t *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (words[i] != word(i)) fail_msg("word %zu of %zu is lost", i, n);
}

static void grows_and_keeps(void **state) {
  (void)state;
  size_t n = 1000;
  uint32_t *words = ttm_alloc(n * sizeof *words);
  assert_int_equal(ttm_spill_size(words), 0);
  mark(words, 0, n);
  while (n < 16 * MB) {
    size_t more = n + n / 2 + 1;
    words = ttm_realloc(words, more * sizeof *words);
    assert_non_null(words);
    assert_int_equal(ttm_spill_size(words), more * sizeof *words >= MB ? more * sizeof *words : 0);
    mark(words, n, more);
    n = more;
  }
  assert_marked(words, n);
  assert_ptr_equal(ttm_realloc(words, 100), words); /* smaller: it stays where it is */
  ttm_free(words);
  assert_int_equal(ttm_spill_size(words), 0);
}

static void is_zero(void **state) {
  (void)state;
  char *p = ttm_alloc(3 * MB);
  assert_true(ttm_spill_size(p) > 0);
  memset(p, 1, 3 * MB);
  ttm_free(p);
  p = ttm_alloc(3 * MB);
  for (size_t i = 0; i < 3 * MB; i++)
    if (p[i]) fail_msg("byte %zu is not 0", i);
  ttm_free(p);
}

/* More blocks than there are places: the rest is on the heap, and places are used again. */
static void counts_its_places(void **state) {
  (void)state;
  enum { MANY = 100 };
  char *all[MANY];
  for (int round = 0; round < 3; round++) {
    size_t spilled = 0;
    for (int i = 0; i < MANY; i++) {
      assert_non_null(all[i] = ttm_alloc(MB));
      spilled += ttm_spill_size(all[i]) > 0;
      memset(all[i], i, MB);
    }
    assert_int_equal(spilled, 64);
    for (int i = 0; i < MANY; i++) {
      int which = i * 37 % MANY;
      assert_int_equal(all[which][MB - 1], which);
      ttm_free(all[which]);
    }
  }
}

static void grow_on_the_heap(uint32_t *words) {
  size_t n = 8 * MB / sizeof *words;
  assert_true(ttm_spill_size(words) > 0);
  mark(words, 0, n);
  uint32_t *grown = ttm_realloc(words, 16 * MB);
  assert_non_null(grown);
  assert_int_equal(ttm_spill_size(grown), 0);
  assert_marked(grown, n);
  ttm_free(grown);
}

static void keeps_to_what_is_allowed(void **state) {
  (void)state;
  ttm_spill_begin(MB, 12 * MB);
  uint32_t *words = ttm_alloc(8 * MB);
  void *more = ttm_alloc(8 * MB);
  assert_int_equal(ttm_spill_size(more), 0);
  grow_on_the_heap(words);
  ttm_free(more);
  more = ttm_alloc(8 * MB); /* the freed one made room */
  assert_true(ttm_spill_size(more) > 0);
  ttm_free(more);
  ttm_spill_begin(MB, (uint64_t)1024 * MB);
}

static void takes_the_heap_without_room(void **state) {
  (void)state;
  struct rlimit before, small;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 10 * MB;
  uint32_t *words = ttm_alloc(8 * MB);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  void *large = ttm_alloc(12 * MB);
  assert_non_null(large);
  assert_int_equal(ttm_spill_size(large), 0);
  grow_on_the_heap(words);
  ttm_free(large);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static int in_child(uint32_t *words, size_t n) {
  assert_marked(words, n);
  words[n - 1]++;
  uint32_t *grown = ttm_realloc(words, 12 * MB);
  if (!grown || grown == words || !ttm_spill_size(grown)) return 1;
  assert_marked(grown, n - 1);
  assert_int_equal(grown[n - 1], word(n - 1) + 1);
  memset(grown, 0, 12 * MB);
  void *own = ttm_alloc(2 * MB);
  bool fine = ttm_spill_size(own) > 0;
  ttm_free(own);
  ttm_free(grown);
  return fine ? 0 : 2;
}

/* What a child changes, grows or frees is its own. */
static void is_forked(void **state) {
  (void)state;
  size_t n = 8 * MB / sizeof(uint32_t);
  for (int i = 0; i < 20; i++) {
    uint32_t *words = ttm_alloc(8 * MB);
    mark(words, 0, n);
    pid_t child = fork();
    if (!child) _exit(in_child(words, n));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_marked(words, n);
    words = ttm_realloc(words, 9 * MB);
    assert_true(ttm_spill_size(words) > 0);
    assert_marked(words, n);
    ttm_free(words);
  }
}

static void gives_memory_back(void **state) {
  (void)state;
  size_t n = 128 * MB / sizeof(uint32_t);
  uint32_t *words = ttm_alloc(128 * MB);
  assert_true(ttm_spill_size(words) > 0);
  mark(words, 0, n);
  uint64_t left = UINT64_MAX;
  for (int i = 0; i < 1000 && left > 48 * MB; i++) {
    nanosleep(&(struct timespec){0, 10000000}, NULL);
    left = ttm_os_mapped_bytes();
  }
  assert_in_range(left, 1, 48 * MB);
  assert_marked(words, n);
  ttm_free(words);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(takes_smaller_ones_beside_large_ones),
      cmocka_unit_test(grows_and_keeps),
      cmocka_unit_test(is_zero),
      cmocka_unit_test(counts_its_places),
      cmocka_unit_test(keeps_to_what_is_allowed),
      cmocka_unit_test(takes_the_heap_without_room),
      cmocka_unit_test(is_forked),
      cmocka_unit_test(gives_memory_back),
  };
  if (begin(NULL)) return 77;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
