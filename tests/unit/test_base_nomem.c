/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of the base containers, and of reading in chunks, made to fail in turn. */
#define _GNU_SOURCE
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/chunks.h"
#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/vec.h"
#include "starving.h"

static void vec_keeps_what_it_has(void **state) {
  (void)state;
  TTM_VEC(int) v = {0};
  starve_allowed = 1;
  size_t pushed = 0;
  while (ttm_vec_push(&v, (int)pushed) == TTM_OK) pushed++;
  assert_true(pushed > 0);
  assert_int_equal(v.n, pushed);
  for (size_t i = 0; i < pushed; i++) assert_int_equal(v.at[i], i);
  ttm_vec_free(&v);
}

static void arena_goes_on_after_a_refusal(void **state) {
  (void)state;
  ttm_arena arena = {0};
  starve_allowed = 0;
  assert_null(ttm_arena_alloc(&arena, 10));
  assert_null(ttm_arena_copy(&arena, TTM_LIT("abc")));
  starve_allowed = 1;
  char *kept = ttm_arena_copy(&arena, TTM_LIT("abc"));
  assert_memory_equal(kept, "abc", 3);
  assert_null(ttm_arena_alloc(&arena, 1 << 20));
  assert_memory_equal(ttm_arena_copy(&arena, TTM_LIT("d")), "d", 1); /* the block at hand still serves */
  assert_memory_equal(kept, "abc", 3);
  ttm_arena_free(&arena);
}

static void buf_remembers(void **state) {
  (void)state;
  ttm_buf buf = {0};
  starve_allowed = 0;
  ttm_buf_puts(&buf, "lost");
  starve_allowed = 10;
  ttm_buf_puts(&buf, "also lost: a text with a hole would be worse");
  assert_true(buf.failed);
  assert_int_equal(buf.n, 0);
  ttm_buf_free(&buf);
}

/* Whichever allocation fails, the pool stays usable and the next try gives the same answers. */
static void intern_survives_every_refusal(void **state) {
  (void)state;
  for (long limit = 0; limit < 12; limit++) {
    ttm_intern pool = {0};
    starve_allowed = limit;
    char text[2] = {0};
    uint32_t id = 0, n = 0;
    for (; n < 100; n++) {
      text[0] = (char)(n + 1);
      if (ttm_intern_add(&pool, (ttm_str){text, 1}, &id)) break;
      assert_int_equal(id, n + 1);
    }
    starve_allowed = 100;
    for (uint32_t i = 0; i < 100; i++) {
      text[0] = (char)(i + 1);
      assert_int_equal(ttm_intern_add(&pool, (ttm_str){text, 1}, &id), TTM_OK);
      assert_int_equal(id, i + 1);
    }
    ttm_intern_free(&pool);
  }
}

/* A map that may not grow keeps what it has, and still takes new values for it. */
static void map_keeps_what_it_has(void **state) {
  (void)state;
  ttm_map map = {0};
  starve_allowed = 0;
  assert_int_equal(ttm_map_set(&map, 1, 1), TTM_ENOMEM);
  assert_int_equal(ttm_map_get(&map, 1, 7), 7);
  starve_allowed = 2;
  uint32_t n = 0;
  while (ttm_map_set(&map, n, n) == TTM_OK) n++;
  assert_true(n > 10);
  assert_int_equal(ttm_map_set(&map, 0, 5), TTM_OK);
  for (uint32_t i = 1; i < n; i++) assert_int_equal(ttm_map_get(&map, i, n), i);
  assert_int_equal(ttm_map_get(&map, 0, n), 5);
  assert_int_equal(ttm_map_get(&map, n, n), n);
  ttm_map_free(&map);
}

typedef struct long_file {
  char path[32];
  uint64_t whole;
} long_file;

/* Lines lie across the ends of chunks: none may be lost on the way. */
static bool work_chunks(void *context, bool plenty) {
  long_file *f = context;
  ttm_chunker chunker = {0};
  ttm_chunk chunk = {0};
  ttm_buf text = {0};
  int status = ttm_source_open(&chunker.source, f->path, NULL);
  for (bool last = false; !status && !last; last = chunk.last) {
    status = ttm_chunker_next(&chunker, &chunk, NULL);
    if (!status) ttm_buf_put(&text, (ttm_str){chunk.data, chunk.n});
  }
  bool failed = status || text.failed;
  uint64_t hash = ttm_hash(text.at, text.n, 0);
  if (plenty) f->whole = hash;
  ttm_source_close(chunker.source);
  ttm_chunker_free(&chunker);
  ttm_chunk_free(&chunk);
  ttm_buf_free(&text);
  return failed ? !plenty && (!status || status == TTM_ENOMEM) : hash == f->whole;
}

static void chunks_lose_no_line(void **state) {
  (void)state;
  long_file f = {.path = "/tmp/ttmem-chunks-XXXXXX"};
  int fd = mkstemp(f.path);
  FILE *file = fdopen(fd, "w");
  assert_non_null(file);
  for (unsigned i = 0; i < 3 * TTM_CHUNK_BYTES / 10; i++) fprintf(file, "line %u\n", i);
  fclose(file);
  starve_walk(work_chunks, &f);
  unlink(f.path);
}

/* Without one a report would believe any log of the same size. */
static bool work_print(void *context, bool plenty) {
  ttm_fingerprint print, *whole = context;
  int status = ttm_fingerprint_of(&print, TTMEM_SOURCE "/tests/cli/data/two_runs_oom_profile.log");
  if (plenty) *whole = print;
  return status ? !plenty && status == TTM_ENOMEM : ttm_fingerprint_same(&print, whole);
}

static void print_is_whole_or_refused(void **state) {
  (void)state;
  ttm_fingerprint whole;
  starve_walk(work_print, &whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vec_keeps_what_it_has),
      cmocka_unit_test(arena_goes_on_after_a_refusal),
      cmocka_unit_test(buf_remembers),
      cmocka_unit_test(intern_survives_every_refusal),
      cmocka_unit_test(map_keeps_what_it_has),
      cmocka_unit_test(chunks_lose_no_line),
      cmocka_unit_test(print_is_whole_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
