/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "watch/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out_file.h"

#define FIRST_LINE "ttmem-live 1\n"

/* A process on a device, as the file knows it. */
typedef struct known_process {
  uint32_t number;
  int32_t pid;
  char name[TTM_SHM_NAME + 1];
  bool here;                  /* in this look */
  uint64_t written[TTM_USES]; /* in its last line */
} known_process;

typedef struct known_device {
  uint64_t asic_id;
  uint64_t written[TTM_USES]; /* in the last line */
  uint64_t highest[TTM_USES]; /* since the last time a line could be written */
  uint64_t since_ms;          /* when that began */
  bool any;                   /* a line was written */
  const ttm_board *board;
  TTM_VEC(known_process) processes;
} known_device;

struct ttm_recorder {
  int fd;
  char *path;
  uint64_t size;     /* of the file */
  uint64_t interval; /* ms between samples at the start */
  bool full;
  TTM_VEC(known_device) devices;
  uint32_t process_count;
  ttm_buf line;
};

/* ---- Open and close -------------------------------------------------------------------------------------------------- */

/* What is there must begin as a recording does; a last line that a crash cut short is ended. */
static int check_file(ttm_recorder *r, ttm_error *err) {
  char first[sizeof FIRST_LINE] = "", last = '\n';
  struct stat st;
  if (fstat(r->fd, &st)) return ttm_error_set(err, TTM_EIO, "cannot read '%s': %s", r->path, strerror(errno));
  if (!S_ISREG(st.st_mode))
    return ttm_error_set(err, TTM_EUSAGE, "--record needs a regular file, '%s' is none", r->path);
  r->size = (uint64_t)st.st_size;
  if (!r->size) return ttm_buf_puts(&r->line, FIRST_LINE), TTM_OK;
  ssize_t n = pread(r->fd, first, sizeof first - 1, 0);
  if (n != sizeof first - 1 || strcmp(first, FIRST_LINE) != 0)
    return ttm_error_set(err, TTM_EUSAGE, "'%s' exists and was not written by ttmem live --record; it was not changed",
                         r->path);
  if (pread(r->fd, &last, 1, st.st_size - 1) == 1 && last != '\n') ttm_buf_char(&r->line, '\n');
  return TTM_OK;
}

static int write_line(ttm_recorder *r, ttm_error *err) {
  if (r->line.failed) return ttm_error_nomem(err);
  int failed = ttm_write_all(r->fd, r->line.at, r->line.n);
  r->size += r->line.n;
  ttm_buf_clear(&r->line);
  return failed ? ttm_error_set(err, TTM_EIO, "cannot write '%s': %s", r->path, strerror(failed)) : TTM_OK;
}

static void free_recorder(ttm_recorder *r) {
  for (size_t i = 0; i < r->devices.n; i++) ttm_vec_free(&r->devices.at[i].processes);
  if (r->fd >= 0) close(r->fd);
  ttm_vec_free(&r->devices);
  ttm_buf_free(&r->line);
  ttm_free(r->path);
  ttm_free(r);
}

int ttm_recorder_open(ttm_recorder **out, const char *path, uint64_t unix_ms, uint64_t interval_ms, ttm_error *err) {
  ttm_recorder *r = ttm_alloc(sizeof *r);
  if (!r) return ttm_error_nomem(err);
  int status = TTM_OK;
  r->interval = interval_ms;
  r->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  r->path = ttm_str_copy(ttm_str_of(path));
  if (!r->path) status = ttm_error_nomem(err);
  if (!status && r->fd < 0) status = ttm_error_set(err, TTM_EIO, "cannot open '%s': %s", path, strerror(errno));
  if (!status) status = check_file(r, err);
  if (!status) {
    ttm_buf_printf(&r->line, "start %llu %llu\n", (unsigned long long)unix_ms, (unsigned long long)interval_ms);
    status = write_line(r, err);
  }
  if (status) return free_recorder(r), status;
  *out = r;
  return TTM_OK;
}

bool ttm_recorder_full(const ttm_recorder *recorder) { return recorder->full; }

void ttm_recorder_close(ttm_recorder *r, uint64_t ms) {
  if (!r) return;
  if (!r->full) ttm_buf_printf(&r->line, "end %llu\n", (unsigned long long)ms);
  write_line(r, NULL); /* a file without its end is whole all the same */
  free_recorder(r);
}

/* ---- Samples --------------------------------------------------------------------------------------------------------- */

static void put_uses(ttm_buf *out, const uint64_t uses[TTM_USES], char between) {
  for (int u = 0; u < TTM_USES; u++) {
    if (u) ttm_buf_char(out, between);
    ttm_buf_u64(out, uses[u]);
  }
}

static size_t find_device(const ttm_recorder *r, uint64_t asic_id) {
  size_t i = 0;
  while (i < r->devices.n && r->devices.at[i].asic_id != asic_id) i++;
  return i;
}

/* Written again when the board becomes known later. */
static void put_device(ttm_recorder *r, size_t index, const ttm_watch_device *device) {
  known_device *known = &r->devices.at[index];
  if (known->any && known->board == device->board) return;
  known->board = device->board;
  ttm_buf_printf(&r->line, "device %zu %u %llu %s\n", index, device->device_id, (unsigned long long)device->asic_id,
                 device->board ? device->board->name : "-");
}

/* A name may hold anything; a line ends where we say. */
static void put_name(ttm_buf *out, const char *name) {
  for (; *name; name++) ttm_buf_char(out, (unsigned char)*name < 0x20 || *name == 0x7F ? '?' : *name);
}

static known_process *process_row(ttm_recorder *r, known_device *device, const ttm_shm_slot *slot) {
  for (size_t i = 0; i < device->processes.n; i++) {
    known_process *known = &device->processes.at[i];
    if (known->pid == slot->pid && !strcmp(known->name, slot->name)) return known;
  }
  known_process row = {.number = r->process_count, .pid = slot->pid};
  memcpy(row.name, slot->name, sizeof row.name);
  if (ttm_vec_push(&device->processes, row)) return NULL;
  ttm_buf_printf(&r->line, "process %u %d ", r->process_count++, (int)slot->pid);
  put_name(&r->line, slot->name);
  ttm_buf_char(&r->line, '\n');
  return &device->processes.at[device->processes.n - 1];
}

static void put_part(ttm_buf *out, known_process *known, const uint64_t uses[TTM_USES]) {
  if (!memcmp(known->written, uses, sizeof known->written)) return;
  memcpy(known->written, uses, sizeof known->written);
  ttm_buf_printf(out, " %u:", known->number);
  put_uses(out, uses, ',');
}

/* Behind the sample: the processes that changed, and zeros for those that are gone or dead. */
static int put_parts(ttm_recorder *r, known_device *known, const ttm_watch_device *device, ttm_buf *parts) {
  static const uint64_t nothing[TTM_USES];
  for (size_t i = 0; i < known->processes.n; i++) known->processes.at[i].here = false;
  for (size_t i = 0; i < device->processes.n; i++) {
    const ttm_watch_process *process = &device->processes.at[i];
    if (!process->alive) continue;
    known_process *row = process_row(r, known, &process->slot);
    if (!row) return TTM_ENOMEM;
    row->here = true;
    put_part(parts, row, process->slot.bytes);
  }
  for (size_t i = 0; i < known->processes.n; i++) {
    if (!known->processes.at[i].here) put_part(parts, &known->processes.at[i], nothing);
  }
  return parts->failed ? TTM_ENOMEM : TTM_OK;
}

/* How far apart samples are by now. */
static uint64_t spacing(const ttm_recorder *r) {
  uint64_t doubled = r->size / TTM_RECORD_PIECE;
  return doubled ? r->interval << doubled : 0;
}

static int take_device(ttm_recorder *r, const ttm_watch_device *device, uint64_t ms) {
  ttm_buf parts = {0};
  size_t index = find_device(r, device->asic_id);
  if (index == r->devices.n) {
    if (!device->alive) return TTM_OK; /* idle chips are not in the file */
    if (ttm_vec_push(&r->devices, (known_device){.asic_id = device->asic_id})) return TTM_ENOMEM;
  }
  known_device *known = &r->devices.at[index];
  for (int u = 0; u < TTM_USES; u++) {
    if (device->used[u] > known->highest[u]) known->highest[u] = device->used[u];
  }
  if (known->any && ms - known->since_ms < spacing(r)) return TTM_OK;
  known->since_ms = ms;
  put_device(r, index, device);
  int status = put_parts(r, known, device, &parts);
  if (!known->any || parts.n || memcmp(known->written, known->highest, sizeof known->written) != 0) {
    ttm_buf_printf(&r->line, "s %llu %zu ", (unsigned long long)ms, index);
    put_uses(&r->line, known->highest, ' ');
    ttm_buf_put(&r->line, ttm_buf_str(&parts));
    ttm_buf_char(&r->line, '\n');
  }
  memcpy(known->written, known->highest, sizeof known->written);
  memset(known->highest, 0, sizeof known->highest);
  known->any = true;
  ttm_buf_free(&parts);
  return status;
}

/* A chip whose file was removed holds nothing any more. */
static int take_missing(ttm_recorder *r, const ttm_watch *watch, uint64_t ms) {
  for (size_t i = 0; i < r->devices.n; i++) {
    size_t d = 0;
    while (d < watch->devices.n && watch->devices.at[d]->asic_id != r->devices.at[i].asic_id) d++;
    if (d < watch->devices.n) continue;
    ttm_watch_device gone = {.asic_id = r->devices.at[i].asic_id, .board = r->devices.at[i].board};
    if (take_device(r, &gone, ms)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

int ttm_recorder_take(ttm_recorder *r, const ttm_watch *watch, uint64_t ms, ttm_error *err) {
  if (r->full) return TTM_OK;
  for (size_t i = 0; i < watch->devices.n; i++) {
    if (!watch->devices.at[i]->stale && take_device(r, watch->devices.at[i], ms)) return ttm_error_nomem(err);
  }
  if (take_missing(r, watch, ms)) return ttm_error_nomem(err);
  if (!r->line.n) return TTM_OK;
  r->full = r->size + r->line.n > TTM_RECORD_MOST;
  if (r->full) ttm_buf_clear(&r->line), ttm_buf_printf(&r->line, "full %llu\n", (unsigned long long)ms);
  return write_line(r, err);
}
