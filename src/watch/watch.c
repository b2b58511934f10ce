/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "watch/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/hash.h"
#include "watch/chip_board.h"

void ttm_watch_init(ttm_watch *watch, const ttm_watch_options *options) {
  *watch = (ttm_watch){.options = *options};
  if (!watch->options.dir) watch->options.dir = "/dev/shm";
  if (!watch->options.sysfs) watch->options.sysfs = "/sys/class/tenstorrent";
}

static void free_device(ttm_watch_device *device) {
  ttm_vec_free(&device->processes);
  ttm_free(device);
}

void ttm_watch_free(ttm_watch *watch) {
  for (size_t i = 0; i < watch->devices.n; i++) free_device(watch->devices.at[i]);
  ttm_vec_free(&watch->devices);
  ttm_vec_free(&watch->problems);
  ttm_vec_free(&watch->looked_at);
}

double ttm_watch_percent(const ttm_watch_device *device, ttm_use use) {
  if (!device->capacity[use]) return -1;
  return (double)device->used[use] / (double)device->capacity[use] * 100.0;
}

bool ttm_watch_is_idle(const ttm_watch_device *device) {
  uint64_t any = 0;
  for (int u = 0; u < TTM_USES; u++) any |= device->used[u];
  return !any && !device->alive;
}

static bool is_own(uid_t owner) { return !owner || owner == geteuid(); }

bool ttm_watch_is_own(const ttm_watch_device *device) { return is_own(device->owner); }

bool ttm_watch_is_mock_beside_real(const ttm_watch *watch, const ttm_watch_device *device) {
  bool real = watch->driver_board != NULL;
  for (size_t i = 0; i < watch->devices.n; i++) {
    const ttm_watch_device *other = watch->devices.at[i];
    real |= other->board_from != TTM_BOARD_MOCK && !ttm_watch_is_idle(other);
  }
  return real && device->board_from == TTM_BOARD_MOCK;
}

/* ---- Reading a file -------------------------------------------------------------------------------------------------- */

static int complain(ttm_watch *watch, const char *file, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int complain(ttm_watch *watch, const char *file, const char *format, ...) {
  ttm_watch_problem problem = {0}; /* also behind the texts: looks are compared by their bytes */
  va_list args;
  snprintf(problem.file, sizeof problem.file, "%s", file);
  va_start(args, format);
  vsnprintf(problem.why, sizeof problem.why, format, args);
  va_end(args);
  return ttm_vec_push(&watch->problems, problem);
}

/* Who has it, as a name where there is one. */
static int complain_owner(ttm_watch *watch, int dir, const char *file) {
  struct stat st;
  struct passwd room, *owner = NULL;
  char names[2048];
  bool named = !fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) &&
               !getpwuid_r(st.st_uid, &room, names, sizeof names, &owner) && owner;
  return complain(watch, file, "belongs to %s%s: only that user and root may read it", named ? "user " : "another user",
                  named ? owner->pw_name : "");
}

static bool read_all(int fd, char *out, size_t *n) {
  ssize_t got = 1;
  *n = 0;
  while (*n < TTM_SHM_BYTES && (got = pread(fd, out + *n, TTM_SHM_BYTES - *n, (off_t)*n)) > 0) *n += (size_t)got;
  return got >= 0;
}

typedef enum reading { READ_WHOLE, READ_SHORT, READ_TORN, READ_ERROR } reading;

/* Copies until two in a row are equal: the writers take no lock. What the last look found counts as one. */
static reading read_stable(int fd, const ttm_watch_device *known, char *out, size_t *n) {
  enum { TRIES = 16 };
  char other[TTM_SHM_BYTES];
  const char *before = known ? known->raw : NULL;
  for (int i = 0; i < TRIES; i++) {
    char *to = before == out ? other : out;
    if (!read_all(fd, to, n)) return READ_ERROR;
    if (*n < TTM_SHM_BYTES) return READ_SHORT;
    if (before && !memcmp(before, to, TTM_SHM_BYTES)) {
      if (to != out) memcpy(out, to, TTM_SHM_BYTES);
      return READ_WHOLE;
    }
    before = to;
  }
  return READ_TORN;
}

/* ---- Devices --------------------------------------------------------------------------------------------------------- */

static ttm_watch_device *find_device(const ttm_watch *watch, uint64_t asic_id) {
  for (size_t i = 0; i < watch->devices.n; i++) {
    if (watch->devices.at[i]->asic_id == asic_id) return watch->devices.at[i];
  }
  return NULL;
}

static ttm_watch_device *add_device(ttm_watch *watch, uint64_t asic_id) {
  ttm_watch_device *device = ttm_alloc(sizeof *device);
  if (!device) return NULL;
  device->asic_id = asic_id;
  if (!ttm_vec_push(&watch->devices, device)) return device;
  ttm_free(device);
  return NULL;
}

static const ttm_watch_process *find_process(const ttm_watch_process *rows, size_t n, int32_t pid) {
  for (size_t i = 0; i < n; i++) {
    if (rows[i].slot.pid == pid) return &rows[i];
  }
  return NULL;
}

static ttm_process look_at_process(ttm_watch *watch, int32_t pid) {
  for (size_t i = 0; i < watch->looked_at.n; i++) {
    if (watch->looked_at.at[i].pid == pid) return watch->looked_at.at[i];
  }
  ttm_process process = ttm_process_look(pid);
  bool kept = !ttm_vec_push(&watch->looked_at, process);
  (void)kept; /* otherwise it is asked for again */
  return process;
}

/* What is known of the process from the look before is not asked for again, where it cannot have changed. */
static ttm_watch_process judge(ttm_watch *watch, const ttm_shm_slot *slot, const ttm_watch_process *before) {
  ttm_watch_process row = {.slot = *slot};
  bool same = before && before->slot.updated_ns == slot->updated_ns;
  if (!same || before->alive) {
    ttm_process process = look_at_process(watch, slot->pid);
    /* The one we know is alive, also when the clock was set since. */
    bool known = before && before->alive && process.there && process.start && process.start == before->start;
    row.alive = known || ttm_process_wrote(&process, slot->updated_ns, slot->name);
    row.start = process.start;
  }
  if (before && (before->alive || same))
    row.board = before->board;
  else if (row.alive)
    row.board = ttm_chip_board_of_process(slot->pid);
  return row;
}

/* A living process of somebody else: who has the file cannot know what that one holds. Root can. 0: there is none. */
static int32_t find_invented(ttm_watch *watch, const ttm_watch_device *known, uid_t owner,
                             const ttm_shm_segment *segment) {
  for (uint32_t i = 0; owner && i < segment->slot_count; i++) {
    const ttm_shm_slot *slot = &segment->slots[i];
    const ttm_watch_process *before = known ? find_process(known->processes.at, known->processes.n, slot->pid) : NULL;
    ttm_watch_process row = judge(watch, slot, before);
    bool same = before && before->alive && before->start == row.start && known->owner == owner;
    if (row.alive && !same && !ttm_process_is_of(slot->pid, owner)) return slot->pid;
  }
  return 0;
}

static int take_slots(ttm_watch *watch, ttm_watch_device *device, const ttm_shm_segment *segment) {
  size_t before_count = device->processes.n;
  if (ttm_vec_reserve(&device->processes, segment->slot_count)) return TTM_ENOMEM;
  ttm_watch_process *rows = device->processes.at;
  for (uint32_t i = 0; i < segment->slot_count; i++) {
    const ttm_shm_slot *slot = &segment->slots[i];
    rows[before_count + i] = judge(watch, slot, find_process(rows, before_count, slot->pid));
  }
  if (segment->slot_count) memmove(rows, rows + before_count, segment->slot_count * sizeof *rows);
  device->processes.n = segment->slot_count;
  return TTM_OK;
}

/* Sums over the slots. When all are taken, the total tells what the processes without one hold. */
static void sum_up(ttm_watch_device *device, const ttm_shm_segment *segment) {
  uint64_t used[TTM_USES] = {0}, dead[TTM_USES] = {0}, before[TTM_USES];
  size_t alive_before = device->alive;
  memcpy(before, device->used, sizeof before);
  device->alive = 0;
  for (size_t i = 0; i < device->processes.n; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    device->alive += process->alive;
    for (int u = 0; u < TTM_USES; u++) (process->alive ? used : dead)[u] += process->slot.bytes[u];
  }
  for (int u = 0; u < TTM_USES; u++) {
    bool all_taken = segment->slot_count == TTM_SHM_SLOTS && u != TTM_USE_CB;
    uint64_t known = used[u] + dead[u];
    device->others[u] = all_taken && segment->total[u] > known ? segment->total[u] - known : 0;
    device->used[u] = used[u] + device->others[u];
    device->dead[u] = dead[u];
    if (device->used[u] > device->peak[u]) device->peak[u] = device->used[u];
  }
  device->changed += memcmp(before, device->used, sizeof before) != 0 || alive_before != device->alive;
}

/* Of the dead there is no telling on which chip they were. */
static void tell_chips_apart(ttm_watch_device *device, const ttm_shm_segment *segment) {
  device->chip_count = segment->chip_count > 1 ? segment->chip_count : 0;
  for (int u = 0; u < TTM_USE_CB; u++) {
    uint64_t sum = 0;
    for (size_t i = 0; i < device->chip_count; i++) sum += segment->chips[i].bytes[u];
    if (sum != device->used[u]) device->chip_count = 0;
  }
  memcpy(device->chips, segment->chips, device->chip_count * sizeof *device->chips);
}

static void set_capacity(ttm_watch_device *device, const ttm_board *board, ttm_board_source from) {
  device->board = board;
  device->board_from = board ? from : TTM_BOARD_UNKNOWN;
  memset(device->capacity, 0, sizeof device->capacity);
  if (!board) return;
  /* How much of it L1_SMALL and TRACE were given is told by nobody but the program. */
  uint64_t l1 = ttm_board_l1_bank(board, ttm_l1_base_newest(board->arch), 0);
  device->capacity[TTM_USE_DRAM] = ttm_mul_sat(ttm_board_dram_bank(board, 0, false), board->dram_banks);
  device->capacity[TTM_USE_L1] = device->capacity[TTM_USE_CB] = ttm_mul_sat(l1, board->l1_banks);
}

/* Mock boards may share one file: then there is no single capacity. An idle chip keeps the board it had. */
static void find_board(const ttm_watch *watch, ttm_watch_device *device) {
  const ttm_board *mock = NULL;
  bool one_kind = true;
  if (watch->options.board) return set_capacity(device, watch->options.board, TTM_BOARD_SAID);
  for (size_t i = 0; i < device->processes.n; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    if (!process->alive || !process->board) continue;
    one_kind &= !mock || mock == process->board;
    mock = process->board;
  }
  if (mock) return set_capacity(device, one_kind ? mock : NULL, TTM_BOARD_MOCK);
  if (device->alive || !device->board) set_capacity(device, watch->driver_board, TTM_BOARD_DRIVER);
}

static void keep_history(ttm_watch_device *device, uint64_t now_ms) {
  size_t last = device->history_count ? device->history_count - 1 : 0;
  if (!device->history_count || now_ms - device->history_ms >= TTM_WATCH_STEP_MS) {
    if (device->history_count == TTM_WATCH_HISTORY)
      memmove(device->history[0], device->history[1], (TTM_WATCH_HISTORY - 1) * sizeof device->history[0]);
    else
      device->history_count++;
    last = device->history_count - 1;
    memset(device->history[last], 0, sizeof device->history[last]);
    device->history_ms = now_ms;
  }
  for (int u = 0; u < TTM_USES; u++) {
    if (device->used[u] > device->history[last][u]) device->history[last][u] = device->used[u];
  }
}

/* ---- A look ---------------------------------------------------------------------------------------------------------- */

static int explain_fault(ttm_watch *watch, const char *file, reading how, ttm_shm_fault fault, size_t n,
                         const ttm_shm_segment *segment) {
  if (how == READ_ERROR) return complain(watch, file, "cannot be read: %s", strerror(errno));
  if (how == READ_TORN) return complain(watch, file, "changed during every attempt to read it");
  switch (fault) {
    case TTM_SHM_UNSET:
      return complain(watch, file, "is not initialized yet");
    case TTM_SHM_OTHER_VERSION:
      return complain(watch, file, "has layout version %u of tt-metal; this ttmem reads version %d", segment->version,
                      TTM_SHM_VERSION);
    case TTM_SHM_IMPOSSIBLE:
      return complain(watch, file, "has impossible numbers: damaged, or not written by tt-metal");
    case TTM_SHM_SHORT:
      return complain(watch, file, "has %zu of %d bytes: truncated, or just being created", n, TTM_SHM_BYTES);
    case TTM_SHM_FINE:
      break;
  }
  return complain(watch, file, "says it belongs to chip %llu: not made by tt-metal",
                  (unsigned long long)segment->asic_id);
}

static int take_segment(ttm_watch *watch, uid_t owner, const char *raw, const ttm_shm_segment *segment,
                        uint64_t now_ms) {
  uint64_t asic_id = segment->asic_id;
  ttm_watch_device *device = find_device(watch, asic_id);
  if (!device) device = add_device(watch, asic_id);
  if (!device) return TTM_ENOMEM;
  bool fresh = memcmp(device->raw, raw, TTM_SHM_BYTES) != 0;
  uint64_t changed = device->changed;
  memcpy(device->raw, raw, TTM_SHM_BYTES);
  device->device_id = segment->device_id;
  device->owner = owner;
  device->seen = true;
  device->stale = false;
  if (take_slots(watch, device, segment)) return TTM_ENOMEM;
  sum_up(device, segment);
  tell_chips_apart(device, segment);
  watch->changes += fresh || changed != device->changed;
  find_board(watch, device);
  keep_history(device, now_ms);
  return TTM_OK;
}

static int look_at(ttm_watch *watch, int dir, const char *file, uint64_t asic_id, uint64_t now_ms) {
  ttm_watch_device *known = find_device(watch, asic_id);
  char raw[TTM_SHM_BYTES];
  ttm_shm_segment segment = {0};
  struct stat st;
  size_t n = 0;
  if (known) known->seen = known->stale = true;
  int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) { /* removed since the folder was read */
    if (known) known->seen = false;
    return TTM_OK;
  }
  if (fd < 0 && errno == EACCES) return complain_owner(watch, dir, file);
  if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
    if (fd >= 0) close(fd);
    return complain(watch, file, "is not a regular file");
  }
  if (st.st_mode & (S_IWGRP | S_IWOTH)) {
    close(fd);
    return complain(watch, file, "may be written by other users: not made by tt-metal");
  }
  reading how = read_stable(fd, known, raw, &n);
  close(fd);
  ttm_shm_fault fault = ttm_shm_segment_read(&segment, (ttm_str){raw, how == READ_WHOLE ? TTM_SHM_BYTES : 0});
  if (how != READ_WHOLE || fault || segment.asic_id != asic_id)
    return explain_fault(watch, file, how, fault, n, &segment);
  int32_t invented = find_invented(watch, known, st.st_uid, &segment);
  if (invented) return complain(watch, file, "names process %d, which another user runs: not believed", (int)invented);
  return take_segment(watch, st.st_uid, raw, &segment, now_ms);
}

static void drop_unseen(ttm_watch *watch) {
  size_t kept = 0;
  for (size_t i = 0; i < watch->devices.n; i++) {
    if (watch->devices.at[i]->seen)
      watch->devices.at[kept++] = watch->devices.at[i];
    else
      free_device(watch->devices.at[i]);
  }
  watch->devices.n = kept;
}

static int by_id(const void *left, const void *right) {
  const ttm_watch_device *a = *(ttm_watch_device *const *)left, *b = *(ttm_watch_device *const *)right;
  if (a->device_id != b->device_id) return a->device_id < b->device_id ? -1 : 1;
  return a->asic_id < b->asic_id ? -1 : a->asic_id > b->asic_id;
}

static int by_file(const void *left, const void *right) {
  return strcmp(((const ttm_watch_problem *)left)->file, ((const ttm_watch_problem *)right)->file);
}

/* Those of this user and root, or those of others. */
static int look_at_all(ttm_watch *watch, DIR *dir, bool own, uint64_t now_ms, size_t *left, size_t *more) {
  int status = TTM_OK;
  uint64_t asic_id;
  rewinddir(dir);
  for (struct dirent *entry; !status && (entry = readdir(dir));) {
    struct stat st;
    if (!ttm_shm_file_name(ttm_str_of(entry->d_name), &asic_id)) continue;
    bool there = !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW);
    if ((there && is_own(st.st_uid)) != own) continue;
    if (*left)
      status = look_at(watch, dirfd(dir), entry->d_name, asic_id, now_ms), --*left;
    else
      ++*more;
  }
  return status;
}

int ttm_watch_look(ttm_watch *watch, uint64_t now_ms, ttm_error *err) {
  int status = TTM_OK;
  watch->problems.n = watch->looked_at.n = 0;
  if (!watch->looks++) watch->driver_board = ttm_chip_board_of_driver(watch->options.sysfs);
  DIR *dir = opendir(watch->options.dir);
  if (!dir) return ttm_error_set(err, TTM_EIO, "cannot read the folder '%s': %s", watch->options.dir, strerror(errno));
  for (size_t i = 0; i < watch->devices.n; i++) watch->devices.at[i]->seen = false;
  size_t left = TTM_WATCH_FILES, more = 0;
  if (!status) status = look_at_all(watch, dir, true, now_ms, &left, &more);
  if (!status) status = look_at_all(watch, dir, false, now_ms, &left, &more);
  if (!status && more)
    status = complain(watch, watch->options.dir, "has %zu more files like those of chips: not read", more);
  closedir(dir);
  if (status) return ttm_error_nomem(err);
  size_t before = watch->devices.n;
  drop_unseen(watch);
  if (watch->devices.n) qsort(watch->devices.at, watch->devices.n, sizeof *watch->devices.at, by_id);
  if (watch->problems.n) qsort(watch->problems.at, watch->problems.n, sizeof *watch->problems.at, by_file);
  uint64_t told = ttm_hash(watch->problems.at, watch->problems.n * sizeof *watch->problems.at, 0);
  bool others = told != watch->told;
  watch->complaints += others;
  watch->changes += others || before != watch->devices.n;
  watch->told = told;
  return TTM_OK;
}
