/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables that decide what a log holds: the three that must be set, and those that get in the way. */
#ifndef TTM_LAUNCH_SWITCHES_H
#define TTM_LAUNCH_SWITCHES_H

#include <stddef.h>

typedef struct ttm_switch {
  const char *name;
  const char *value; /* that gives a full log */
  const char *gives; /* what the log then has: "operation lines" */
  const char *good;  /* values that are as good, separated by |; any letter case */
} ttm_switch;

enum { TTM_SWITCHES = 3 };
extern const ttm_switch ttm_switches[TTM_SWITCHES];

/* NULL when the value gives what the switch is for, else a sentence about what is lost. */
const char *ttm_switch_judge(const ttm_switch *s, const char *value);

/* A variable that ttnn reads. */
typedef struct ttm_ttnn_switch {
  const char *name;
  const char *example; /* a value that adds something to what ttmem can tell; NULL: it is only told when it is set */
  const char *does;    /* what it adds (a noun), or what a program with it does */
} ttm_ttnn_switch;

extern const ttm_ttnn_switch ttm_ttnn_switches[];
extern const size_t ttm_ttnn_switch_count;

/* NULL when the value does what the switch is for, else a sentence about what is lost. */
const char *ttm_ttnn_switch_judge(const ttm_ttnn_switch *s, const char *value);

/* A variable that is set and does harm, or nothing at all. */
typedef struct ttm_hindrance {
  const char *name;
  const char *why; /* one or more sentences, lines separated by \n */
  const char
      *unless; /* words that must all be in the value for it to be harmless, separated by |; NULL: never harmless */
  unsigned char harmful; /* it removes lines from the log; else it only has no effect */
} ttm_hindrance;

extern const ttm_hindrance ttm_hindrances[];
extern const size_t ttm_hindrance_count;

/* True when the variable, set to `value` (NULL: not set), gets in the way. */
int ttm_hindrance_applies(const ttm_hindrance *h, const char *value);

#endif
