/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "launch/host.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"

enum { TREE_EVERY = 4 };
static const uint64_t NO_LIMIT = UINT64_C(1) << 60;

/* ---- Files --------------------------------------------------------------------------------------------------------- */

/* The number behind a word at the start of a line; 0 when it is not there. An empty word: the first line. */
static uint64_t number_in(const char *path, const char *word) {
  char line[512];
  uint64_t found = 0;
  FILE *f = fopen(path, "re");
  if (!f) return 0;
  while (fgets(line, sizeof line, f)) {
    size_t n = strlen(word);
    if (strncmp(line, word, n) != 0) continue;
    found = strtoull(line + n, NULL, 10);
    break;
  }
  fclose(f);
  return found;
}

static uint64_t memory_info(const char *word) { return number_in("/proc/meminfo", word) * 1024; }

/* ---- Control groups -------------------------------------------------------------------------------------------------- */

/* The group of a process that limits memory; false when there is none. */
static bool find_group(pid_t pid, char folder[TTM_HOST_PATH], bool *unified) {
  char line[TTM_HOST_PATH];
  bool found = false;
  snprintf(line, sizeof line, "/proc/%ld/cgroup", (long)pid);
  FILE *f = fopen(line, "re");
  while (f && fgets(line, sizeof line, f)) {
    line[strcspn(line, "\n")] = '\0';
    bool old = strstr(line, ":memory:") != NULL, newer = !strncmp(line, "0::", 3);
    if (!(old || newer) || (found && newer)) continue;
    const char *path = strchr(strchr(line, ':') + 1, ':') + 1;
    int n = snprintf(folder, TTM_HOST_PATH, "/sys/fs/cgroup%s%s", old ? "/memory" : "", path);
    *unified = newer;
    found = n > 0 && n < TTM_HOST_PATH;
  }
  if (f) fclose(f);
  return found;
}

static uint64_t read_in(const char *folder, const char *name, const char *word) {
  char path[TTM_HOST_PATH + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return number_in(path, word);
}

/* The lowest of the group and of those around it. */
static uint64_t find_limit(const ttm_host_watch *w) {
  char folder[TTM_HOST_PATH];
  uint64_t lowest = 0;
  size_t root = strlen(w->unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
  snprintf(folder, sizeof folder, "%s", w->group);
  while (folder[0]) {
    uint64_t limit = read_in(folder, w->unified ? "memory.max" : "memory.limit_in_bytes", "");
    if (limit && limit < NO_LIMIT && (!lowest || limit < lowest)) lowest = limit;
    char *slash = strrchr(folder, '/');
    if ((size_t)(slash - folder) < root) break;
    *slash = '\0';
  }
  return lowest;
}

static uint64_t count_kills(const ttm_host_watch *w) {
  if (!w->group[0]) return 0;
  return read_in(w->group, w->unified ? "memory.events" : "memory.oom_control", "oom_kill ");
}

/* A program may go to another group after its start. */
static void follow_group(ttm_host_watch *w, pid_t pid) {
  char folder[TTM_HOST_PATH];
  if (!find_group(pid, folder, &w->unified) || !strcmp(folder, w->group)) return;
  snprintf(w->group, sizeof w->group, "%s", folder);
  w->cgroup = find_limit(w);
  w->kills_before = count_kills(w);
}

/* ---- Processes ------------------------------------------------------------------------------------------------------- */

typedef struct process {
  pid_t pid, parent;
  uint64_t bytes;
} process;

static bool read_process(pid_t pid, process *out) {
  char path[64], text[1024];
  long parent, resident;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
  FILE *f = fopen(path, "re");
  if (!f) return false;
  size_t n = fread(text, 1, sizeof text - 1, f);
  fclose(f);
  text[n] = '\0';
  const char *behind = strrchr(text, ')'); /* a name may hold anything */
  const char *form = " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %ld";
  if (!behind || sscanf(behind + 1, form, &parent, &resident) != 2) return false;
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  *out = (process){pid, (pid_t)parent, resident > 0 ? (uint64_t)resident * page : 0};
  return true;
}

static bool descends(const process *all, const ttm_map *of_pid, uint32_t i, pid_t from) {
  enum { DEEP = 64 };
  for (int steps = 0; steps < DEEP && i != UINT32_MAX; steps++) {
    if (all[i].parent == from) return true;
    i = ttm_map_get(of_pid, (uint64_t)all[i].parent, UINT32_MAX);
  }
  return false;
}

/* Bytes of all that descend from the process, and one that is no zombie; they are killed, if wanted. */
static uint64_t descendants_of(pid_t pid, bool end, pid_t *living) {
  TTM_VEC(process) all = {0};
  ttm_map of_pid = {0};
  uint64_t sum = 0;
  process one;
  DIR *dir = opendir("/proc");
  struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    long number = strtol(entry->d_name, NULL, 10);
    if (number <= 0 || !read_process((pid_t)number, &one)) continue;
    if (ttm_vec_push(&all, one) || ttm_map_set(&of_pid, (uint64_t)number, (uint32_t)(all.n - 1))) break;
  }
  if (dir) closedir(dir);
  for (uint32_t i = 0; i < all.n; i++) {
    if (!descends(all.at, &of_pid, i, pid)) continue;
    sum += all.at[i].bytes;
    if (all.at[i].bytes) *living = all.at[i].pid;
    if (end) kill(all.at[i].pid, SIGKILL);
  }
  ttm_map_free(&of_pid);
  ttm_vec_free(&all);
  return sum;
}

void ttm_host_kill_below(pid_t pid) {
  if (pid > 1) descendants_of(pid, true, &(pid_t){0}); /* all processes descend from 0 and 1 */
}

pid_t ttm_host_living_below(pid_t pid, char name[TTM_HOST_NAME]) {
  pid_t living = 0;
  char path[64];
  descendants_of(pid, false, &living);
  snprintf(path, sizeof path, "/proc/%ld/comm", (long)living);
  FILE *f = living ? fopen(path, "re") : NULL;
  if (!f || !fgets(name, TTM_HOST_NAME, f)) name[0] = '\0';
  name[strcspn(name, "\n")] = '\0';
  if (f) fclose(f);
  return living;
}

/* ---- The watch --------------------------------------------------------------------------------------------------------- */

uint64_t ttm_host_memory(void) {
  ttm_host_watch w = {.machine = memory_info("MemTotal:")};
  follow_group(&w, getpid());
  return w.cgroup && (!w.machine || w.cgroup < w.machine) ? w.cgroup : w.machine;
}

void ttm_host_watch_begin(ttm_host_watch *w) {
  *w = (ttm_host_watch){.machine = memory_info("MemTotal:"), .available = memory_info("MemAvailable:")};
  w->lowest = w->available;
}

void ttm_host_watch_look(ttm_host_watch *w, pid_t pid) {
  process one;
  if (!read_process(pid, &one) || !one.bytes) return;
  if (w->looks++ % TREE_EVERY == 0) {
    w->others = descendants_of(pid, false, &(pid_t){0});
    follow_group(w, pid);
  }
  uint64_t available = memory_info("MemAvailable:");
  w->now = one.bytes + w->others;
  if (w->now > w->peak) w->peak = w->now;
  if (available && available < w->lowest) w->lowest = available;
}

void ttm_host_watch_end(ttm_host_watch *w) {
  uint64_t now = count_kills(w);
  w->kills = now > w->kills_before ? now - w->kills_before : 0;
}

bool ttm_host_watch_exhausted(const ttm_host_watch *w, int signal) {
  uint64_t limit = w->cgroup && w->cgroup < w->machine ? w->cgroup : w->machine;
  if (signal != SIGKILL) return false;
  return w->kills || (limit && w->now >= limit / 10 * 9) || (w->machine && w->lowest < w->machine / 20);
}
