/* SPDX-License-Identifier: Apache-2.0 */
/* What static programs have in place of musl's memcmp and memchr gives what this machine's give. ASan sees a byte too far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define memcmp compare_bytes
#define memchr find_byte
int compare_bytes(const void *left, const void *right, size_t n);
void *find_byte(const void *from, int wanted, size_t n);
#include "base/bytes_musl.c"
#undef memcmp
#undef memchr

enum { MOST = 200 };
static int sign(int v) { return (v > 0) - (v < 0); }

/* Every length, and every place where two texts differ: at the very end of what was allocated. */
static void comparing(void **state) {
  (void)state;
  for (size_t n = 0; n <= MOST; n++) {
    unsigned char *a = malloc(n + 1), *b = malloc(n + 1);
    memset(a, 0x7f, n + 1);
    memset(b, 0x7f, n + 1);
    assert_int_equal(compare_bytes(a + 1, b + 1, n), 0);
    for (size_t i = 0; i < n; i++) {
      b[i + 1] = i % 2 ? 0xff : 0x01;
      assert_int_equal(sign(compare_bytes(a + 1, b + 1, n)), sign(memcmp(a + 1, b + 1, n)));
      assert_int_equal(compare_bytes(a + 1, b + 1, i), 0);
      b[i + 1] = 0x7f;
    }
    free(a);
    free(b);
  }
}

static void finding(void **state) {
  (void)state;
  for (size_t n = 0; n <= MOST; n++) {
    char *a = malloc(n + 1);
    memset(a, '\n', n + 1);
    memset(a + 1, 'x', n);
    assert_null(find_byte(a + 1, '\n', n));
    for (size_t i = n; i > 0; i--) {
      a[i] = (char)0xff; /* the last one written is the first one found */
      assert_ptr_equal(find_byte(a + 1, 0xff, n), a + i);
      assert_ptr_equal(find_byte(a + 1, 0x1ff, n), a + i); /* an int of which one byte counts */
    }
    free(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(comparing), cmocka_unit_test(finding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
