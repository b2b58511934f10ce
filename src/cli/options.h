/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. One table of options and one of commands (option_table.c) drive parsing, --help and the suggestions in errors:
 * adding an option means adding one row. Values are borrowed from argv. */
#ifndef TTM_CLI_OPTIONS_H
#define TTM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum ttm_program { TTM_PROGRAM_TTMEM, TTM_PROGRAM_PROFILER } ttm_program;

/* "ttmem", "tt-memory-profiler". */
const char *ttm_program_name(ttm_program program);

typedef enum ttm_command {
  TTM_COMMAND_NONE,        /* nothing was asked for */
  TTM_COMMAND_LLM,         /* ttmem --llm */
  TTM_COMMAND_ANALYZE,     /* ttmem analyze */
  TTM_COMMAND_EXPLAIN,     /* ttmem explain */
  TTM_COMMAND_FIT,         /* ttmem fit */
  TTM_COMMAND_ASK,         /* ttmem ask */
  TTM_COMMAND_DIFF,        /* ttmem diff */
  TTM_COMMAND_HTML,        /* ttmem html */
  TTM_COMMAND_CB_SIMULATE, /* ttmem cb simulate */
  TTM_COMMAND_CB_SCAN,     /* ttmem cb scan */
  TTM_COMMAND_CB_LOG,      /* ttmem cb log */
  TTM_COMMAND_CB_ALL,      /* ttmem cb all */
  TTM_COMMAND_GRAPH,       /* ttmem graph */
  TTM_COMMAND_TRAIN,       /* ttmem train */
  TTM_COMMAND_SERVE,       /* ttmem serve */
  TTM_COMMAND_RUN,         /* ttmem run */
  TTM_COMMAND_LIVE,        /* ttmem live */
  TTM_COMMAND_LAST_RUN,    /* ttmem last-run */
  TTM_COMMAND_DOCTOR,      /* ttmem doctor */
  TTM_COMMAND_HELP,        /* ttmem help */
  TTM_COMMAND_PROFILE,     /* tt-memory-profiler */
  TTM_COMMANDS
} ttm_command;

typedef enum ttm_option {
  TTM_OPTION_LLM,
  TTM_OPTION_LOGFILE,
  TTM_OPTION_OUTPUT,
  TTM_OPTION_ANALYZE,
  TTM_OPTION_VISUALIZE,
  TTM_OPTION_LOG,
  TTM_OPTION_MARKER,
  TTM_OPTION_RUNS,
  TTM_OPTION_OUTPUT_DIR,
  TTM_OPTION_NAME,
  TTM_OPTION_NO_JSON,
  TTM_OPTION_NO_HTML,
  TTM_OPTION_LOGS,
  TTM_OPTION_DEVICE_MEMORY,
  TTM_OPTION_MODEL_SIZE,
  TTM_OPTION_OPTIMIZER_SIZE,
  TTM_OPTION_GRADIENTS_SIZE,
  TTM_OPTION_VISUALIZE_PEAK,
  TTM_OPTION_USE_ACTUAL_SIZES,
  TTM_OPTION_TITLE,
  TTM_OPTION_CHECK,
  TTM_OPTION_BUDGET,
  TTM_OPTION_TOLERANCE,
  TTM_OPTION_PORT,
  TTM_OPTION_HOST,
  TTM_OPTION_THREADS,
  TTM_OPTION_QUIET,
  TTM_OPTION_COLOR,
  TTM_OPTION_PER,
  TTM_OPTION_ARCH,
  TTM_OPTION_METAL_VERSION,
  TTM_OPTION_L1_BASE,
  TTM_OPTION_L1_SMALL,
  TTM_OPTION_DTYPE,
  TTM_OPTION_CB,
  TTM_OPTION_TENSOR,
  TTM_OPTION_STRATEGY,
  TTM_OPTION_KERNEL_BYTES,
  TTM_OPTION_DEFINE,
  TTM_OPTION_COMPARE,
  TTM_OPTION_MULTI,
  TTM_OPTION_LOG_FILE,
  TTM_OPTION_SOURCE,
  TTM_OPTION_JSON,
  TTM_OPTION_MD,
  TTM_OPTION_HTML,
  TTM_OPTION_SVG,
  TTM_OPTION_BOARD,
  TTM_OPTION_SCALE_BATCH,
  TTM_OPTION_WEIGHTS_DTYPE,
  TTM_OPTION_OP,
  TTM_OPTION_RANGE,
  TTM_OPTION_AT_PEAK,
  TTM_OPTION_FINDINGS,
  TTM_OPTION_MAX_TOKENS,
  TTM_OPTION_ONCE,
  TTM_OPTION_INTERVAL,
  TTM_OPTION_RECORD,
  TTM_OPTION_ALARM,
  TTM_OPTION_EXEC,
  TTM_OPTION_METRICS,
  TTM_OPTION_HELP,
  TTM_OPTION_VERSION,
  TTM_OPTIONS
} ttm_option;

/* What a value must be. */
typedef enum ttm_value_kind {
  TTM_VALUE_NONE,   /* a switch */
  TTM_VALUE_TEXT,   /* anything, not empty */
  TTM_VALUE_COUNT,  /* 1 to 256 */
  TTM_VALUE_PORT,   /* 0 to 65535 */
  TTM_VALUE_CHOICE, /* one of `value`, separated by | */
  TTM_VALUE_BYTES,  /* bytes, "1.2e10" or with a unit of 1024s: "12GB", "512KiB" */
  TTM_VALUE_MANY,   /* text; may be given again and again, all of them count */
} ttm_value_kind;

typedef struct ttm_option_row {
  const char *name; /* without the dashes */
  char letter;      /* short form, or 0 */
  ttm_value_kind kind;
  const char *value; /* what --help calls the value */
  unsigned commands; /* bit per ttm_command that takes it */
  const char *help;  /* one line */
} ttm_option_row;

/* Whether arguments may be a program and its own arguments: `rest`. */
typedef enum ttm_rest {
  TTM_REST_NEVER,
  TTM_REST_FIRST,         /* the first argument is the program; all words after it are its own */
  TTM_REST_BEHIND_DASHES, /* only behind "--" */
} ttm_rest;

typedef struct ttm_command_row {
  const char *name; /* word or two ("cb simulate") on the command line and for `help`; NULL for none */
  ttm_program program;
  const char *synopsis; /* after the program's name */
  const char *help;     /* one line */
  const char *more;     /* lines below the synopsis in its own help, or NULL */
  size_t max_inputs;    /* arguments that are no options */
  ttm_rest rest;
  const char *exits; /* what its exit status means, where that is more than 0 done and 2 could not; NULL */
} ttm_command_row;

extern const ttm_option_row ttm_option_table[TTM_OPTIONS];
extern const ttm_command_row ttm_command_table[TTM_COMMANDS];

/* A value of an option that may be given again and again. */
typedef struct ttm_option_value {
  ttm_option option;
  const char *value;
} ttm_option_value;

enum { TTM_MAX_MANY = 256 };
enum { TTM_MAX_INPUTS = 1024 }; /* what a shell makes of *.cpp */

/* What the user said. */
typedef struct ttm_options {
  ttm_program program;
  ttm_command command;
  bool given[TTM_OPTIONS];
  const char *value[TTM_OPTIONS];
  unsigned threads;                    /* 0 when not given */
  bool per_chip;                       /* --per chip: tables count a whole chip, not one of its banks */
  uint64_t bytes[TTM_OPTIONS];         /* of options that take a number of bytes, or a count */
  ttm_option_value many[TTM_MAX_MANY]; /* in the order given */
  size_t many_count;
  const char *group;                     /* first word of a command of two while the second is awaited */
  const char *input[TTM_MAX_INPUTS + 1]; /* with room for the one too many, so that it can be named */
  size_t inputs;
  char *const *rest; /* a program to run and its arguments, NULL-terminated as argv is; NULL when none was given */
} ttm_options;

/* 0, or TTM_EUSAGE with a message that says what is wrong and what was probably meant. A --help wins over errors in
 * what stands after it. */
int ttm_options_parse(ttm_options *out, ttm_program program, int argc, char *const *argv, ttm_error *err);

/* The command of one word, or of two when `second` is not NULL, TTM_COMMAND_NONE when there is none. */
ttm_command ttm_command_find(ttm_program program, const char *name, const char *second);
/* True for the first word of commands of two: "cb". */
bool ttm_command_is_group(ttm_program program, const char *word);

#endif
