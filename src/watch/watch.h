/* SPDX-License-Identifier: Apache-2.0 */
/* Watching the chips of this machine: every look reads the live files of running ttnn processes (parse/shm_segment.h) into a table of
 * devices and processes. A file is believed when two copies in a row are equal and make sense, nobody but its owner may write to it (tt-metal makes
 * it so), and the processes it names are that user's; otherwise the last good reading
 * stays, marked, and a problem says why. Everything in a ttm_watch is borrowed and changes with the next look. */
#ifndef TTM_WATCH_WATCH_H
#define TTM_WATCH_WATCH_H

#include "base/boards.h"
#include "base/error.h"
#include "base/vec.h"
#include "parse/shm_segment.h"
#include "watch/process.h"

enum {
  TTM_WATCH_FILES = 256
}; /* that are read; those of this user and of root first. A machine has 32 chips, or 128 */
enum { TTM_WATCH_HISTORY = 60, TTM_WATCH_STEP_MS = 1000 };

typedef struct ttm_watch_process {
  ttm_shm_slot slot;
  bool alive;             /* dead: it was killed and left its slot, which is not counted as use */
  const ttm_board *board; /* the mock board it runs on, NULL */
  uint64_t start;         /* of the process, see watch/process.h */
} ttm_watch_process;

/* How the board, and so the capacity, is known. */
typedef enum ttm_board_source { TTM_BOARD_UNKNOWN, TTM_BOARD_SAID, TTM_BOARD_MOCK, TTM_BOARD_DRIVER } ttm_board_source;

typedef struct ttm_watch_device {
  uint64_t asic_id;
  uint32_t device_id;
  uid_t owner;                 /* of the file */
  uint64_t used[TTM_USES];     /* by processes that live */
  uint64_t dead[TTM_USES];     /* in the slots of processes that do not */
  uint64_t others[TTM_USES];   /* part of `used`: by processes that found all slots taken */
  uint64_t peak[TTM_USES];     /* since the watching began */
  uint64_t capacity[TTM_USES]; /* 0: not known. L1 and circular buffers share theirs */
  const ttm_board *board;      /* NULL: not known */
  ttm_board_source board_from;
  /* The chips that one file counts together, where the file tells them apart: a gateway and the remote chips behind it. */
  ttm_shm_chip chips[TTM_SHM_CHIPS];
  size_t chip_count;                    /* 0: one chip, or its counters do not add up to `used` */
  TTM_VEC(ttm_watch_process) processes; /* in the order of their slots */
  size_t alive;                         /* of them */
  bool stale;                           /* the file cannot be read now: these are the last good numbers */
  uint64_t changed;                     /* counts the looks that found other numbers */
  /* The highest use in each step of TTM_WATCH_STEP_MS, oldest first; the last one is still growing. */
  uint64_t history[TTM_WATCH_HISTORY][TTM_USES];
  size_t history_count;
  uint64_t history_ms; /* when the last step began */
  bool seen;           /* in this look */
  char raw[TTM_SHM_BYTES];
} ttm_watch_device;

/* A file that is not believed. */
typedef struct ttm_watch_problem {
  char file[64];
  char why[200]; /* one sentence, may quote foreign text */
} ttm_watch_problem;

typedef struct ttm_watch_options {
  const char *dir;        /* NULL: /dev/shm */
  const char *sysfs;      /* NULL: /sys/class/tenstorrent */
  const ttm_board *board; /* what the user says, NULL */
} ttm_watch_options;

typedef struct ttm_watch {
  TTM_VEC(ttm_watch_device *) devices; /* by device id, then asic id */
  TTM_VEC(ttm_watch_problem) problems; /* of the last look, by file name */
  uint64_t looks;
  uint64_t changes;    /* grows with every look that found anything new */
  uint64_t complaints; /* grows with every look whose problems are others than those of the look before */
  /* Private. */
  ttm_watch_options options;
  const ttm_board *driver_board;
  uint64_t told;                  /* of the problems of the last look */
  TTM_VEC(ttm_process) looked_at; /* in this look: a program of many chips is asked for once */
} ttm_watch;

/* The options are borrowed. Nothing is read yet. */
void ttm_watch_init(ttm_watch *watch, const ttm_watch_options *options);
void ttm_watch_free(ttm_watch *watch);

/* Reads everything anew; `now_ms` is of a clock that never goes back. 0, TTM_ENOMEM, or TTM_EIO when the folder cannot be read. */
int ttm_watch_look(ttm_watch *watch, uint64_t now_ms, ttm_error *err);

/* Nobody uses it. */
bool ttm_watch_is_idle(const ttm_watch_device *device);
/* Of a mock board, on a machine that has a real one. */
bool ttm_watch_is_mock_beside_real(const ttm_watch *watch, const ttm_watch_device *device);

/* The file is of this user, or of root: nobody else says what is in it. */
bool ttm_watch_is_own(const ttm_watch_device *device);

/* In percent of the capacity; -1 when that is not known. */
double ttm_watch_percent(const ttm_watch_device *device, ttm_use use);

#endif
