/* SPDX-License-Identifier: Apache-2.0 */
/* Threads write their pieces one after the other, so that a free may stand behind an allocation that took its place. */
#include "base/buf.h"
#include "profile/profile.h"
#include "unit.h"

enum { BASE = 1 << 20, LARGE = 8192, SMALL = 2048, BANK = 1 << 20 };

static ttm_buf text;

static void put_view(uint32_t lane, uint64_t allocated, bool late) {
  ttm_buf_printf(&text,
                 ",\n{\"node_type\":\"memory_view\",\"params\":{\"device_id\":1,\"buffer_type\":0,\"num_banks\":1,"
                 "\"total_bytes_per_bank\":%d,\"allocated_per_bank\":%llu,\"largest_free_per_bank\":%llu,"
                 "\"base_address\":%d,\"lane\":%u%s}}",
                 BANK, (unsigned long long)allocated, (unsigned long long)(BANK - allocated), BASE, lane,
                 late ? ",\"late\":1" : "");
}

static void begin(void) {
  ttm_buf_puts(&text,
               "{\"ttmem_recording\":1,\"metadata\":{\"version\":\"0.81.1\"},\"devices\":[{\"device_id\":1}],"
               "\"graph\":[\n{\"node_type\":\"recording_begin\",\"params\":{}},\n"
               "{\"node_type\":\"device_open\",\"params\":{\"device_id\":1,\"chips\":1}}");
  put_view(0, 0, false);
}

/* A piece of the lane with one event at the place: `kind` is "allocate" or "deallocate". */
static void put_piece(uint32_t lane, const char *kind, uint32_t place, uint32_t bytes) {
  ttm_buf_printf(&text,
                 ",\n{\"node_type\":\"piece\",\"params\":{\"lane\":%u}},\n{\"counter\":1,\"node_type\":\"buffer_%s\","
                 "\"params\":{\"size\":%u,\"address\":%u,\"type\":\"DRAM\",\"buffer_type\":0,\"page_size\":1024,"
                 "\"num_cores\":0,\"device_id\":1,\"max_size_per_bank\":%u}}",
                 lane, kind, bytes, BASE + place, bytes);
}

static void comes(uint32_t lane, uint32_t place, uint32_t bytes) { put_piece(lane, "allocate", place, bytes); }
static void goes(uint32_t lane, uint32_t place, uint32_t bytes) { put_piece(lane, "deallocate", place, bytes); }

/* Ends with what the allocator says, when nothing is late any more: nothing was to be corrected, and no free is missing. */
static void agrees(uint64_t allocated) {
  ttm_profile *p;
  put_view(0, allocated, false);
  ttm_buf_puts(&text, ",\n{\"node_type\":\"recording_end\",\"params\":{\"reason\":\"exit\"}}\n]}");
  assert_false(text.failed);
  assert_int_equal(ttm_profile_read_bytes(&p, text.at, text.n, NULL, NULL), TTM_OK);
  assert_int_equal(p->capture.recording.unseen_frees, 0);
  assert_int_equal(p->capture.recording.corrections, 0);
  ttm_profile_free(p);
  ttm_buf_free(&text);
}

static void a_free_is_told_while_another_lives_there(void **state) {
  (void)state;
  begin();
  comes(1, 0, LARGE);
  comes(2, 0, LARGE);
  goes(1, 0, LARGE);
  agrees(LARGE);
}

/* The other went too before the free was told. Whoever lives there afterwards is freed by a thread that wrote nothing for long. */
static void a_free_is_told_when_nobody_lives_there(void **state) {
  (void)state;
  begin();
  comes(1, 0, LARGE);
  comes(2, 0, LARGE);
  goes(2, 0, LARGE);
  goes(1, 0, LARGE);
  comes(2, 0, LARGE);
  goes(0, 0, LARGE);
  agrees(0);
}

/* A view shows that something went. Another free of another size is told before the one that it saw. */
static void frees_of_other_sizes_are_told_first(void **state) {
  (void)state;
  begin();
  comes(1, 0, LARGE);
  comes(2, LARGE, SMALL);
  comes(2, LARGE + SMALL, SMALL);
  comes(3, LARGE + 2 * SMALL, SMALL);
  put_view(3, 3 * SMALL, true); /* without the large one */
  goes(2, LARGE, SMALL);
  goes(1, 0, LARGE);
  put_view(3, 2 * SMALL, true);
  goes(2, LARGE + SMALL, SMALL);
  agrees(SMALL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_free_is_told_while_another_lives_there),
      cmocka_unit_test(a_free_is_told_when_nobody_lives_there),
      cmocka_unit_test(frees_of_other_sizes_are_told_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
