/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves a function of ttnn's out, for ttmem_mock.py: one that crashes on a mock board, because it speaks to hardware. */
#define _GNU_SOURCE /* struct link_map */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "ttmem_native.h"

static void nothing(void) {}

static ElfW(Addr) found(const struct link_map *map, ElfW(Sxword) tag) {
  const ElfW(Dyn) *d = map->l_ld;
  while (d->d_tag != DT_NULL && d->d_tag != tag) d++;
  return d->d_un.d_ptr;
}

/* Where the library calls the function, by its table of calls. 1: it does nothing from now on. */
EXPORTED int ttmem_mock_leave_out(const char *path, const char *name) {
  const struct link_map *map = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!map || found(map, DT_PLTREL) != DT_RELA) return 0;
  const ElfW(Rela) *calls = (const void *)found(map, DT_JMPREL);
  const ElfW(Sym) *symbols = (const void *)found(map, DT_SYMTAB);
  const char *names = (const char *)found(map, DT_STRTAB);
  size_t n = found(map, DT_PLTRELSZ) / sizeof *calls;
  void (*instead)(void) = nothing;
  int seen = 0;
  for (size_t i = 0; calls && i < n; i++) {
    if (strcmp(names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name, name) != 0) continue;
    memcpy((void *)(map->l_addr + calls[i].r_offset), &instead, sizeof instead);
    seen = 1;
  }
  return seen;
}
