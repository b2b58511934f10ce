/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a log as their modules say, one after another on a device. Private to src/profile/load. */
#ifndef TTM_PROFILE_LOAD_MODULE_H
#define TTM_PROFILE_LOAD_MODULE_H

#include "base/bank.h"
#include "profile/builder.h"
#include "profile/module_run.h"

enum { TTM_PLAYED_DRAM, TTM_PLAYED_L1, TTM_PLAYED };

/* The memories of a device, and what programs have left there. Zero before the first program. */
typedef struct ttm_device {
  const ttm_board *board;
  uint32_t bank_count[TTM_PLAYED];
  ttm_alignment align;
  ttm_bank banks[TTM_PLAYED];
  uint64_t unplaced[TTM_PLAYED]; /* taken although no free block is large enough */
  ttm_run_lessons lessons;
} ttm_device;

/* Opens the device with the memories that the log's states show, else with those of the board the module was compiled for. */
int ttm_device_open(ttm_device *device, const ttm_profile *p, const ttm_module *module);
void ttm_device_close(ttm_device *device);
static inline uint64_t ttm_device_held(const ttm_device *device, int memory) {
  return device->banks[memory].allocated + device->unplaced[memory];
}

/* A program on a device. Zero is the empty one. */
typedef struct ttm_device_program {
  ttm_buf text;
  ttm_module module;
  ttm_module_run run;
  uint32_t first_line; /* of the text in its log, less 1 */
  uint64_t *at;        /* by buffer: address, or TTM_NOT_TAKEN, TTM_UNPLACED */
  uint32_t *texts;     /* by operation of the module: text of the profile, TTM_NONE */
  uint32_t *keys;      /* by function: string, its key in the cache; TTM_NONE */
  ttm_op_line line;    /* scratch */
} ttm_device_program;
#define TTM_NOT_TAKEN UINT64_MAX
#define TTM_UNPLACED (UINT64_MAX - 1)

/* Runs a module that was read, so many times, with what is on the device. */
int ttm_device_program_run(ttm_device_program *program, ttm_device *device, ttm_runner runner, uint32_t times);
void ttm_device_program_free(ttm_device_program *program);

/* What a TAKE or GIVE is about: bytes per bank. */
uint64_t ttm_device_cost(const ttm_device *device, const ttm_device_program *program, uint32_t buffer, int *memory);
/* *placed is false when no free block is large enough. */
int ttm_device_take(ttm_device *device, ttm_device_program *program, uint32_t buffer, bool *placed);
int ttm_device_give(ttm_device *device, ttm_device_program *program, uint32_t buffer);

/* Begins the operation of an OP event as if the log had its line. */
int ttm_device_begin_op(ttm_builder *b, ttm_stream *s, ttm_device_program *program, const ttm_run_event *e);
/* Begins or ends the function of an ENTER or LEAVE event. */
int ttm_device_enter(ttm_builder *b, ttm_stream *s, const ttm_device_program *program, const ttm_run_event *e);
int ttm_device_leave(ttm_builder *b, ttm_stream *s, const ttm_device_program *program, const ttm_run_event *e);
uint32_t ttm_device_line(const ttm_device_program *program, const ttm_run_event *e);

/* Adds the runs that the modules of the log would be: nothing of the runtime is in it. */
int ttm_build_predicted(ttm_builder *b);
/* Gives operations without states, and programs of which only the ends are known, the levels that their modules predict, corrected by the
 * states that the log has (fill.c). For a profile that is otherwise complete. */
int ttm_build_filled(ttm_builder *b);

#endif
