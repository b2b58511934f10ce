/* SPDX-License-Identifier: Apache-2.0 */
#include "parse/shm_segment.h"

/* Offsets on x86-64, read off a running ttnn 0.81. */
enum {
  VERSION = 0,
  ASIC_ID = 32,
  DEVICE_ID = 40,
  TOTALS = 48,
  CHIPS = 88,
  CHIP_BYTES = 48,
  SLOTS = 856,
  SLOT_BYTES = 120
};
enum { SLOT_PID = 0, SLOT_USES = 8, SLOT_UPDATED = 48, SLOT_NAME = 56 };

/* No chip has 256 TiB: what is above is a torn or foreign number. */
#define MOST_BYTES (UINT64_C(1) << 48)

static uint64_t little(const char *p, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | (unsigned char)p[i];
  return value;
}

static bool read_uses(uint64_t uses[TTM_USES], const char *p) {
  bool possible = true;
  for (int u = 0; u < TTM_USES; u++) {
    uses[u] = little(p + 8 * u, 8);
    possible &= uses[u] <= MOST_BYTES;
  }
  return possible;
}

static bool read_slot(ttm_shm_slot *slot, const char *p) {
  slot->updated_ns = little(p + SLOT_UPDATED, 8);
  memcpy(slot->name, p + SLOT_NAME, TTM_SHM_NAME);
  slot->name[TTM_SHM_NAME] = '\0';
  return read_uses(slot->bytes, p + SLOT_USES) && slot->pid > 0;
}

/* Numbers no chip can have are the sums of the dead: such a chip has none. */
static void read_chips(ttm_shm_segment *out, const char *p) {
  for (int i = 0; i < TTM_SHM_CHIPS; i++, p += CHIP_BYTES) {
    ttm_shm_chip chip = {.chip_id = (uint32_t)little(p, 4), .remote = little(p + 4, 4) != 0};
    if (chip.chip_id != UINT32_MAX && read_uses(chip.bytes, p + 8)) out->chips[out->chip_count++] = chip;
  }
}

ttm_shm_fault ttm_shm_segment_read(ttm_shm_segment *out, ttm_str bytes) {
  *out = (ttm_shm_segment){0};
  if (bytes.n < TTM_SHM_BYTES) return TTM_SHM_SHORT;
  uint32_t version = out->version = (uint32_t)little(bytes.p + VERSION, 4);
  if (!version) return TTM_SHM_UNSET;
  if (version != TTM_SHM_VERSION) return TTM_SHM_OTHER_VERSION;
  out->asic_id = little(bytes.p + ASIC_ID, 8);
  out->device_id = (uint32_t)little(bytes.p + DEVICE_ID, 4);
  bool possible = read_uses(out->total, bytes.p + TOTALS);
  read_chips(out, bytes.p + CHIPS);
  for (int i = 0; i < TTM_SHM_SLOTS && possible; i++) {
    const char *p = bytes.p + SLOTS + SLOT_BYTES * i;
    ttm_shm_slot *slot = &out->slots[out->slot_count];
    slot->pid = (int32_t)little(p + SLOT_PID, 4);
    if (!slot->pid) continue;
    possible = read_slot(slot, p);
    out->slot_count++;
  }
  if (possible) return TTM_SHM_FINE;
  *out = (ttm_shm_segment){.version = version};
  return TTM_SHM_IMPOSSIBLE;
}

bool ttm_shm_file_name(ttm_str name, uint64_t *asic_id) {
  if (!ttm_str_take(&name, TTM_LIT("tt_device_")) || !ttm_str_take_u64(&name, asic_id)) return false;
  return ttm_str_eq(name, TTM_LIT("_memory"));
}

const char *ttm_use_name(ttm_use use) {
  static const char *const names[TTM_USES] = {"DRAM", "L1", "L1_SMALL", "TRACE", "CB"};
  return use < TTM_USES ? names[use] : "?";
}

const char *ttm_use_key(ttm_use use) {
  static const char *const keys[TTM_USES] = {"dram", "l1", "l1_small", "trace", "cb"};
  return use < TTM_USES ? keys[use] : "?";
}
