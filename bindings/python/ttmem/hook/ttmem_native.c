/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a graph capture of ttnn from the inside, for ttmem_native.py. A capture writes down every argument of every function as text, which
 * takes longer than the operations themselves. Of a call that was captured before with arguments of the same kinds only the addresses are
 * new: for such calls ("brief") the capture gets a table of virtual functions in which ours stand, and they note what is new.
 *
 * Nothing is assumed about ttnn: its functions are found by their names, their places in the table by their addresses. What cannot be
 * found makes ttmem_native_set_up say no, and captures stay as they are. */
#define _GNU_SOURCE /* dladdr1 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ttmem_native.h"
#include "ttmem_words.h"

typedef void (*function)(void *, size_t, size_t, size_t, size_t, size_t); /* whatever it takes, it fits */

/* ---- ttnn ---------------------------------------------------------------------------------------------------------- */

enum { START, END, END_WITH, ALLOCATE, FREE, CIRCULAR, DATAFLOW, SCRATCHPAD, PROGRAM, SLOTS };
#define PROCESSOR "_ZN4ttnn5graph14GraphProcessor"
#define ON_CORES "ERKN2tt8tt_metal12CoreRangeSetE"
#define DEVICE "PKNS3_7IDeviceE"
static const char *const slot_names[SLOTS] = {
    [START] = PROCESSOR
    "20track_function_startESt17basic_string_viewIcSt11char_traitsIcEESt4spanIN2tt8tt_metal15"
    "TrackedArgumentELm18446744073709551615EE",
    [END] = PROCESSOR "18track_function_endEv",
    [END_WITH] = PROCESSOR "18track_function_endERKSt3any",
    [ALLOCATE] = PROCESSOR "14track_allocateEPKN2tt8tt_metal6BufferE",
    [FREE] = PROCESSOR "16track_deallocateEPN2tt8tt_metal6BufferE",
    [CIRCULAR] = PROCESSOR "17track_allocate_cb" ON_CORES "mmb" DEVICE,
    [DATAFLOW] = PROCESSOR "30track_allocate_dataflow_buffer" ON_CORES "mmb" DEVICE,
    [SCRATCHPAD] = PROCESSOR "25track_allocate_scratchpad" ON_CORES "mm" DEVICE,
    [PROGRAM] = PROCESSOR "19track_deallocate_cbEPKN2tt8tt_metal7IDeviceE",
};
static function real[SLOTS];
static void **table, **ours; /* of virtual functions, from its head on */
/* Ours for brief calls: it says to be of the base class, so that ttnn does not put down executions of programs either, one by one. */
static void **ours_brief;
static void *base_class;

#define BUFFER "_ZNK2tt8tt_metal6Buffer"
static uint32_t (*address_of)(const void *);
static uint64_t (*size_of)(const void *), (*bank_size_of)(const void *);
static int (*type_of)(const void *);
static void *(*device_of)(const void *);
static int (*id_of_mesh)(const void *);
static void **mesh_table;
static void *(*tracker)(void);
static void **(*processors_of)(void *);

/* ---- What a thread has noted --------------------------------------------------------------------------------------- */

enum { OFF, WHOLE, BRIEF }; /* not followed; captured too; not captured */

typedef struct lane {
  void **processor; /* of the capture */
  int mode;
  int in_call;
  int astray;      /* between calls something happened that has to be captured */
  int freeing;     /* depth of functions that free a tensor, between calls */
  uint64_t path;   /* hash of all that happened in the call but for addresses */
  uint32_t events; /* allocations and frees in it */
  uint32_t programs;
  text addresses; /* of them, ",1,2" */
  text details;   /* of them, ",what,device,memory,address,bytes of a bank,bytes" each */
  text freed;     /* between calls: ",device,memory,address" of each */
} lane;
static __thread lane here;

void ttmem_put(text *t, const char *bytes, size_t n) {
  if (t->n + n + 1 > t->room) {
    size_t room = (t->n + n + 1) * 2 + 256;
    t->at = ttmem_grown(t->at, room);
    t->room = room;
  }
  memcpy(t->at + t->n, bytes, n);
  t->n += n;
  t->at[t->n] = '\0';
}

void ttmem_put_number(text *t, uint64_t number) {
  char digits[24];
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + number % 10);
  while (number /= 10);
  ttmem_put(t, digits + at, sizeof digits - at);
}

static void put_next(text *t, uint64_t number) {
  ttmem_put(t, ",", 1);
  ttmem_put_number(t, number);
}

static void mix(uint64_t what) {
  here.path = (here.path ^ what) * UINT64_C(0x9E3779B97F4A7C15);
  here.path ^= here.path >> 29;
}

static void mix_name(const char *name, size_t n) {
  uint64_t hash = n;
  for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001B3);
  mix(hash);
}

/* ---- How full L1 is ------------------------------------------------------------------------------------------------ */

EXPORTED uint64_t ttmem_native_l1[2] = {0, UINT64_MAX};
static struct block {
  const void *device;
  uint64_t address, bytes;
} * blocks;
static size_t block_count, block_room;
static pthread_mutex_t block_lock = PTHREAD_MUTEX_INITIALIZER;

static void find_lowest(void) {
  ttmem_native_l1[1] = UINT64_MAX;
  for (size_t i = 0; i < block_count; i++)
    if (blocks[i].address < ttmem_native_l1[1]) ttmem_native_l1[1] = blocks[i].address;
}

static void add_block(struct block b) {
  if (block_count == block_room) {
    size_t room = block_room * 2 + 64;
    blocks = ttmem_grown(blocks, room * sizeof *blocks);
    block_room = room;
  }
  blocks[block_count++] = b;
  ttmem_native_l1[0] += b.bytes;
  if (b.address < ttmem_native_l1[1]) ttmem_native_l1[1] = b.address;
}

static void remove_block(struct block b) {
  for (size_t i = block_count; i-- > 0;) {
    if (blocks[i].device != b.device || blocks[i].address != b.address) continue;
    ttmem_native_l1[0] -= blocks[i].bytes;
    blocks[i] = blocks[--block_count];
    if (b.address == ttmem_native_l1[1]) find_lowest();
    return;
  }
}

EXPORTED void ttmem_native_forget(void) { /* the devices are closed */
  pthread_mutex_lock(&block_lock);
  block_count = 0;
  ttmem_native_l1[0] = 0;
  ttmem_native_l1[1] = UINT64_MAX;
  pthread_mutex_unlock(&block_lock);
}

/* ---- Ours in the table --------------------------------------------------------------------------------------------- */

/* True when the capture is to have it. */
static int is_captured(void) { return here.mode != BRIEF || (!here.in_call && here.astray); }

static int is_free(const char *name, size_t n) { return n >= 12 && !memcmp(name + n - 12, "::deallocate", 12); }

/* std::string_view and std::span are two words each. */
static void on_start(void *self, size_t n, size_t name, size_t arguments, size_t count, size_t unused) {
  if (here.in_call) {
    mix(START);
    mix_name((const char *)name, n);
  } else if (here.mode == BRIEF && !here.astray) {
    if (here.freeing || is_free((const char *)name, n))
      here.freeing++;
    else
      here.astray = 1;
  }
  if (is_captured()) real[START](self, n, name, arguments, count, unused);
}

static void note_end(void) {
  if (here.in_call)
    mix(END);
  else if (here.freeing)
    here.freeing--;
}

static void on_end(void *self, size_t a, size_t b, size_t c, size_t d, size_t e) {
  int captured = is_captured();
  note_end();
  if (captured) real[END](self, a, b, c, d, e);
}

static void on_end_with(void *self, size_t a, size_t b, size_t c, size_t d, size_t e) {
  int captured = is_captured();
  note_end();
  if (captured) real[END_WITH](self, a, b, c, d, e);
}

static void note_buffer(int what, const void *buffer) {
  enum { L1 = 1 };
  int type = type_of(buffer);
  uint64_t address = address_of(buffer), bytes = bank_size_of(buffer);
  const void *device = device_of(buffer);
  unsigned id = *(void **)device == mesh_table + 2 ? (unsigned)id_of_mesh(device) : ~0u;
  if (type == L1) {
    pthread_mutex_lock(&block_lock);
    (what == ALLOCATE ? add_block : remove_block)((struct block){device, address, bytes});
    pthread_mutex_unlock(&block_lock);
  }
  if (here.in_call) {
    uint64_t details[] = {what == ALLOCATE, id, (unsigned)type, address, bytes, size_of(buffer)};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) {
      if (i != 3) mix(details[i]);
      put_next(&here.details, details[i]);
    }
    put_next(&here.addresses, address);
    here.events++;
  } else if (here.mode == BRIEF && !here.astray && what == FREE) {
    uint64_t details[] = {id, (unsigned)type, address};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++) put_next(&here.freed, details[i]);
  } else if (here.mode == BRIEF) {
    here.astray = 1;
  }
}

static void on_allocate(void *self, size_t buffer, size_t b, size_t c, size_t d, size_t e) {
  note_buffer(ALLOCATE, (const void *)buffer);
  if (is_captured()) real[ALLOCATE](self, buffer, b, c, d, e);
}

static void on_free(void *self, size_t buffer, size_t b, size_t c, size_t d, size_t e) {
  int captured = is_captured();
  note_buffer(FREE, (const void *)buffer);
  if (captured) real[FREE](self, buffer, b, c, d, e);
}

static void note_other(int what) {
  if (here.in_call)
    mix((uint64_t)what);
  else if (here.mode == BRIEF)
    here.astray = 1;
}

#define ON(name, slot)                                                             \
  static void name(void *self, size_t a, size_t b, size_t c, size_t d, size_t e) { \
    note_other(slot);                                                              \
    if (is_captured()) real[slot](self, a, b, c, d, e);                            \
  }
/* What programs have. */
ON(on_circular, CIRCULAR)
ON(on_dataflow, DATAFLOW)
ON(on_scratchpad, SCRATCHPAD)

static void on_program(void *self, size_t a, size_t b, size_t c, size_t d, size_t e) {
  here.programs++;
  note_other(PROGRAM);
  if (is_captured()) real[PROGRAM](self, a, b, c, d, e);
}

static const function slots[SLOTS] = {
    [START] = on_start,     [END] = on_end,           [END_WITH] = on_end_with, [ALLOCATE] = on_allocate,
    [FREE] = on_free,       [CIRCULAR] = on_circular, [DATAFLOW] = on_dataflow, [SCRATCHPAD] = on_scratchpad,
    [PROGRAM] = on_program,
};

/* ---- Set-up -------------------------------------------------------------------------------------------------------- */

static int find(void *library, const char *name, void *out) {
  void *found = dlsym(library, name);
  memcpy(out, &found, sizeof found);
  return found != NULL;
}

/* A copy of the table with ours in it. */
static int copy_table(void) {
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  if (!dladdr1(table, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) return 0;
  size_t n = symbol->st_size / sizeof *table;
  int seen = 0;
  if (!(ours = malloc(n * sizeof *ours))) return 0;
  memcpy(ours, table, n * sizeof *ours);
  for (size_t i = 2; i < n; i++)
    for (int slot = 0; slot < SLOTS; slot++) {
      if (memcmp(&table[i], &real[slot], sizeof *table) != 0) continue;
      memcpy(&ours[i], &slots[slot], sizeof *ours);
      seen += 1 << slot;
    }
  if (!(ours_brief = malloc(n * sizeof *ours))) return 0;
  memcpy(ours_brief, ours, n * sizeof *ours);
  ours_brief[1] = base_class;
  return seen == (1 << SLOTS) - 1; /* each once */
}

/* 1: captures can be followed. The paths are those of ttnn's libraries, which the process has loaded. */
EXPORTED int ttmem_native_set_up(const char *ttnn_path, const char *metal_path) {
#if !defined __x86_64__ && !defined __aarch64__
  return 0; /* how arguments are passed is not known */
#endif
  void *ttnn = dlopen(ttnn_path, RTLD_LAZY | RTLD_NOLOAD), *metal = dlopen(metal_path, RTLD_LAZY | RTLD_NOLOAD);
  if (!ttnn || !metal) return 0;
  for (int slot = 0; slot < SLOTS; slot++)
    if (!find(ttnn, slot_names[slot], &real[slot])) return 0;
  return find(ttnn, "_ZTVN4ttnn5graph14GraphProcessorE", &table) && find(metal, BUFFER "7addressEv", &address_of) &&
         find(metal, BUFFER "4sizeEv", &size_of) && find(metal, BUFFER "21aligned_size_per_bankEv", &bank_size_of) &&
         find(metal, BUFFER "11buffer_typeEv", &type_of) && find(metal, BUFFER "6deviceEv", &device_of) &&
         find(metal, "_ZNK2tt8tt_metal11distributed10MeshDevice2idEv", &id_of_mesh) &&
         find(metal, "_ZTVN2tt8tt_metal11distributed10MeshDeviceE", &mesh_table) &&
         find(metal, "_ZTIN2tt8tt_metal15IGraphProcessorE", &base_class) &&
         find(metal, "_ZN2tt8tt_metal12GraphTracker8instanceEv", &tracker) &&
         find(metal, "_ZNK2tt8tt_metal12GraphTracker14get_processorsEv", &processors_of) && copy_table();
}

/* ---- Calls --------------------------------------------------------------------------------------------------------- */

/* A capture was begun in this thread, and is followed until ttmem_native_leave, before it ends. 0: it is not of the kind we know. */
EXPORTED int ttmem_native_follow(void) {
  void **all = processors_of(tracker()); /* std::vector of std::shared_ptr: begin, end */
  if (all[0] == all[1]) return 0;
  void **processor = ((void ***)all[1])[-2];
  if (*processor != table + 2) return 0;
  *processor = ours + 2;
  here.processor = processor;
  here.mode = WHOLE;
  here.astray = here.freeing = 0;
  return 1;
}

EXPORTED void ttmem_native_leave(void) {
  if (here.processor) *here.processor = table + 2;
  here.processor = NULL;
  here.mode = here.in_call = OFF;
}

/* An operation begins; `brief`: its capture would bring nothing new. Returns 1 when something has to be captured before, and nothing was begun. */
EXPORTED int ttmem_native_begin(int brief) {
  if (!here.processor) return 0;
  if (brief && here.astray) return 1;
  here.mode = brief ? BRIEF : WHOLE;
  *here.processor = (brief ? ours_brief : ours) + 2;
  here.in_call = 1;
  here.events = here.programs = 0;
  here.path = FIRST_PATH;
  here.addresses.n = here.details.n = 0;
  return 0;
}

/* It ended. Until the next one the thread stays brief or captured. Returns what it did, as a number. */
EXPORTED uint64_t ttmem_native_end(void) {
  here.in_call = 0;
  return here.path;
}

/* How many allocations and frees it had, and ",1,2" their addresses in order. */
EXPORTED uint32_t ttmem_native_events(void) { return here.events; }
EXPORTED uint32_t ttmem_native_programs(void) { return here.programs; }
EXPORTED const char *ttmem_native_details(void) { return here.details.n ? here.details.at : ""; }
const text *ttmem_native_addresses(void) { return &here.addresses; }

/* 1: between calls something happened that has to be captured. */
EXPORTED int ttmem_native_is_astray(void) { return here.astray; }

/* What was freed between brief calls since the last time: ",device,memory,address" each. */
text *ttmem_native_freed(void) { return &here.freed; }
