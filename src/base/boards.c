/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: [hal] tt-metal wh_hal*.cpp, bh_hal*.cpp, soc_descriptors and core_descriptors at v0.78; [map] dev_mem_map.h of each release tag,
 * compiled; [run] read from ttnn on mock boards (get_memory_view, open_device); [msg] printed in error messages of public issues. */
#include "base/boards.h"

#include <stdio.h>

#include "base/checked.h"

const ttm_arch ttm_arches[TTM_ARCHES] = {
    /* Removed after v0.57 [msg, map]. */
    [TTM_ARCH_GRAYSKULL] = {.name = "Grayskull",
                            .l1_bytes = 1048576,
                            .l1_align = 16,
                            .dram_align = 32,
                            .circular_buffers = 32,
                            .kernel_config = 69 * 1024},
    /* 1464 KiB [hal, run]; alignments from noc_parameters.h; 1 GiB views, two per channel [hal];
     * reserved = barrier 32 + device print 1 MiB + 32; Tracy adds 48000*5*8 [hal, run; 1070773184 usable: msg tt-xla#5535]. */
    [TTM_ARCH_WORMHOLE] = {.name = "Wormhole",
                           .l1_bytes = 1499136,
                           .l1_align = 16,
                           .dram_align = 32,
                           .dram_view_bytes = 1073741824,
                           .dram_reserved = 1048640,
                           .dram_reserved_tracy = 2968640,
                           .circular_buffers = 32,
                           .kernel_config = 69 * 1024},
    /* 1536 KiB since v0.58 [hal, run]; views of 4080 MiB [hal]; reserved = 64 + 1 MiB + 64; Tracy adds 48000*5*20 [hal, run]. */
    [TTM_ARCH_BLACKHOLE] = {.name = "Blackhole",
                            .l1_bytes = 1572864,
                            .l1_align = 16,
                            .dram_align = 64,
                            .dram_view_bytes = 4278190080,
                            .dram_reserved = 1048704,
                            .dram_reserved_tracy = 5848704,
                            .circular_buffers = 64,
                            .kernel_config = 69 * 1024},
};

/* Grids: core_descriptors yaml of the product, one command queue; n300 and t3k dispatch from Ethernet cores (8x7 when they are told not to), the
 * others from a row or column of Tensix cores [hal, run]. DRAM banks: 6 channels of two views on Wormhole;
 * 8 on Blackhole, p100 has one harvested [hal, run]. */
const ttm_board ttm_boards[TTM_BOARDS] = {
    {"n150", TTM_ARCH_WORMHOLE, 1, 12, 8, 8, 64},    {"n300", TTM_ARCH_WORMHOLE, 2, 12, 8, 8, 64},
    {"t3k", TTM_ARCH_WORMHOLE, 8, 12, 8, 8, 64},     {"galaxy", TTM_ARCH_WORMHOLE, 32, 12, 8, 9, 72},
    {"p100", TTM_ARCH_BLACKHOLE, 1, 7, 11, 10, 110}, {"p150", TTM_ARCH_BLACKHOLE, 1, 8, 11, 10, 110},
    {"p300", TTM_ARCH_BLACKHOLE, 2, 8, 11, 10, 110},
};

/* align_up(MEM_MAP_END + 69 KiB of kernel configuration, DRAM alignment), computed from each tag's dev_mem_map.h [map]; the values of 0.67,
 * 0.79 and 0.81 were seen on running software [run, msg]. Before 0.58 a Blackhole core had 1464 KiB. */
const ttm_l1_base ttm_l1_bases[TTM_L1_BASES] = {
    {"0.53", 98816, 94720, 98816},   {"0.54", 99104, 94848, 99744},   {"0.55", 99104, 94848, 100000},
    {"0.56", 102112, 96256, 100384}, {"0.57", 102368, 97280, 100384}, {"0.58", 97248, 98304, 0},
    {"0.60", 99904, 100992, 0},      {"0.61", 100352, 101440, 0},     {"0.62", 100352, 101952, 0},
    {"0.63", 99840, 101440, 0},      {"0.64", 101152, 102784, 0},     {"0.65", 102208, 103552, 0},
    {"0.66", 103552, 105280, 0},     {"0.67", 103712, 111104, 0},     {"0.71", 103744, 111104, 0},
    {"0.72", 103840, 111104, 0},     {"0.73", 104224, 111360, 0},     {"0.74", 105536, 111360, 0},
    {"0.76", 105664, 111488, 0},     {"0.78", 105664, 111616, 0},     {"0.79", 105696, 0, 0},
    {"0.81", 105824, 111744, 0},
};

ttm_arch_id ttm_arch_find(ttm_str name) {
  if (ttm_str_eq_nocase(name, TTM_LIT("wormhole_b0"))) return TTM_ARCH_WORMHOLE;
  for (int a = 0; a < TTM_ARCHES; a++) {
    if (ttm_str_eq_nocase(name, ttm_str_of(ttm_arches[a].name))) return (ttm_arch_id)a;
  }
  return TTM_ARCHES;
}

const ttm_board *ttm_board_find(ttm_str name) {
  for (size_t b = 0; b < TTM_BOARDS; b++) {
    if (ttm_str_eq_nocase(name, ttm_str_of(ttm_boards[b].name))) return &ttm_boards[b];
  }
  return NULL;
}

int ttm_board_unknown(ttm_str name, const char *or_else, ttm_error *err) {
  char names[128] = "";
  for (size_t b = 0, n = 0; b < TTM_BOARDS && n < sizeof names; b++)
    n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", b ? ", " : "", ttm_boards[b].name);
  return ttm_error_set(err, TTM_EUSAGE, "there is no board '%.*s'; there are %s%s", (int)(name.n < 200 ? name.n : 200),
                       name.p, names, or_else);
}

/* Since v0.74 the request is a total; each bank gives its part, rounded to 8 KiB (allocator.cpp). */
uint64_t ttm_board_trace_bank(const ttm_board *board, uint64_t trace_region) {
  return ttm_round_up(ttm_div_up(trace_region, board->dram_banks), 8192);
}

uint64_t ttm_board_dram_bank(const ttm_board *board, uint64_t trace_region, bool tracy) {
  const ttm_arch *arch = &ttm_arches[board->arch];
  uint64_t taken =
      ttm_add_sat(tracy ? arch->dram_reserved_tracy : arch->dram_reserved, ttm_board_trace_bank(board, trace_region));
  return taken < arch->dram_view_bytes ? arch->dram_view_bytes - taken : 0;
}

uint64_t ttm_board_l1_bank(const ttm_board *board, uint32_t l1_base, uint64_t l1_small) {
  uint64_t taken = ttm_add_sat(l1_base, l1_small), size = ttm_arches[board->arch].l1_bytes;
  return taken < size ? size - taken : 0;
}

/* Major and minor of "0.81.1", "v0.67.1-rc17"; false when the text starts with neither. */
static bool read_version(ttm_str text, uint64_t *out) {
  uint64_t major, minor;
  ttm_str_take(&text, TTM_LIT("v"));
  if (!ttm_str_take_u64(&text, &major) || !ttm_str_take(&text, TTM_LIT("."))) return false;
  if (!ttm_str_take_u64(&text, &minor) || major > 9999 || minor > 9999) return false;
  *out = major * 10000 + minor;
  return true;
}

static uint32_t base_of_row(ttm_arch_id arch, const ttm_l1_base *row) {
  return arch == TTM_ARCH_WORMHOLE ? row->wormhole : arch == TTM_ARCH_BLACKHOLE ? row->blackhole : row->grayskull;
}

uint32_t ttm_l1_base_of(ttm_arch_id arch, ttm_str version) {
  uint64_t wanted, since;
  uint32_t base = 0;
  if (!read_version(version, &wanted)) return 0;
  for (size_t i = 0; i < TTM_L1_BASES; i++) {
    if (!read_version(ttm_str_of(ttm_l1_bases[i].since), &since) || since > wanted) break;
    /* A release nobody measured keeps the value before it. */
    if (base_of_row(arch, &ttm_l1_bases[i])) base = base_of_row(arch, &ttm_l1_bases[i]);
  }
  return base;
}

uint32_t ttm_l1_base_newest(ttm_arch_id arch) {
  size_t i = TTM_L1_BASES;
  while (i-- > 1 && !base_of_row(arch, &ttm_l1_bases[i])) {}
  return base_of_row(arch, &ttm_l1_bases[i]);
}

uint64_t ttm_worker_l1_beside(ttm_arch_id arch, uint64_t config) {
  enum { ALIGNMENT = 64 };
  uint64_t most = ttm_arches[arch].l1_bytes - ttm_l1_base_newest(arch) + ttm_arches[arch].kernel_config;
  return config < most ? (most - config) / ALIGNMENT * ALIGNMENT : 0;
}

ttm_arch_id ttm_arch_by_l1_bytes(uint64_t l1_bytes) {
  for (int a = 0; a < TTM_ARCHES; a++) {
    if (ttm_arches[a].l1_bytes == l1_bytes) return (ttm_arch_id)a;
  }
  return TTM_ARCHES;
}

ttm_arch_id ttm_arch_by_dram_banks(uint64_t banks) {
  if (banks == 12) return TTM_ARCH_WORMHOLE;
  return banks == 7 || banks == 8 ? TTM_ARCH_BLACKHOLE : TTM_ARCHES;
}
