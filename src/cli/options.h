/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. The table of options (option_table.c) and the rows of the commands (one in each command_*.c) drive parsing, --help
 * and the suggestions in errors. Values are borrowed from argv. */
#ifndef TTM_CLI_OPTIONS_H
#define TTM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum ttm_program { TTM_PROGRAM_TTMEM, TTM_PROGRAM_PROFILER } ttm_program;

/* "ttmem", "tt-memory-profiler". */
const char *ttm_program_name(ttm_program program);

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
  TTM_OPTION_BASELINE,
  TTM_OPTION_ALLOW_PARTIAL,
  TTM_OPTION_JUNIT,
  TTM_OPTION_GITHUB,
  TTM_OPTION_SARIF,
  TTM_OPTION_BENCHMARK,
  TTM_OPTION_PORT,
  TTM_OPTION_HOST,
  TTM_OPTION_TOKEN,
  TTM_OPTION_NO_TOKEN,
  TTM_OPTION_THREADS,
  TTM_OPTION_MAX_MEMORY,
  TTM_OPTION_NO_SYNC,
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
  TTM_OPTION_MARKDOWN,
  TTM_OPTION_HTML,
  TTM_OPTION_SVG,
  TTM_OPTION_CSV,
  TTM_OPTION_ARROW,
  TTM_OPTION_PARQUET,
  TTM_OPTION_VISUALIZER,
  TTM_OPTION_PERFETTO,
  TTM_OPTION_CHROME,
  TTM_OPTION_PPROF,
  TTM_OPTION_TABLE,
  TTM_OPTION_TIMES,
  TTM_OPTION_DECISION_TRACE,
  TTM_OPTION_BOARD,
  TTM_OPTION_ALL,
  TTM_OPTION_MAN,
  TTM_OPTION_FIND,
  TTM_OPTION_NO_CACHE,
  TTM_OPTION_JOBS,
  TTM_OPTION_TRACE_REGION,
  TTM_OPTION_SCALE_BATCH,
  TTM_OPTION_WEIGHTS_DTYPE,
  TTM_OPTION_CHANGE,
  TTM_OPTION_RUNNER,
  TTM_OPTION_OP,
  TTM_OPTION_RANGE,
  TTM_OPTION_OPS,
  TTM_OPTION_AT,
  TTM_OPTION_AT_PEAK,
  TTM_OPTION_FINDINGS,
  TTM_OPTION_MAX_TOKENS,
  TTM_OPTION_ONCE,
  TTM_OPTION_INTERVAL,
  TTM_OPTION_RECORD,
  TTM_OPTION_ALARM,
  TTM_OPTION_EXEC,
  TTM_OPTION_METRICS,
  TTM_OPTION_ROOT,
  TTM_OPTION_ALLOW_RUN,
  TTM_OPTION_MODEL,
  TTM_OPTION_NO_HISTORY,
  TTM_OPTION_STORE,
  TTM_OPTION_SINCE,
  TTM_OPTION_KEEP,
  TTM_OPTION_DRY_RUN,
  TTM_OPTION_HELP,
  TTM_OPTION_VERSION,
  TTM_OPTIONS
} ttm_option;

/* What a value must be. */
typedef enum ttm_value_kind {
  TTM_VALUE_NONE,   /* a switch */
  TTM_VALUE_TEXT,   /* anything, not empty */
  TTM_VALUE_INPUT,  /* the same; it is the command's argument, as if it stood without the option */
  TTM_VALUE_COUNT,  /* 1 to 256 */
  TTM_VALUE_PORT,   /* 0 to 65535 */
  TTM_VALUE_CHOICE, /* one of `value`, separated by | */
  TTM_VALUE_MAYBE,  /* the same, or nothing */
  TTM_VALUE_BYTES,  /* bytes, "1.2e10" or with a unit of 1024s: "12GB", "512KiB" */
  TTM_VALUE_MANY,   /* text; may be given again and again, all of them count */
} ttm_value_kind;

typedef struct ttm_option_row {
  const char *name; /* without the dashes */
  char letter;      /* short form, or 0 */
  ttm_value_kind kind;
  const char *value; /* what --help calls the value */
  const char *help;
} ttm_option_row;

extern const ttm_option_row ttm_option_table[TTM_OPTIONS];

/* Whether arguments may be a program and its own arguments: `rest`. */
typedef enum ttm_rest_rule {
  TTM_REST_NEVER,
  TTM_REST_FIRST,         /* the first argument is the program; all words after it are its own */
  TTM_REST_BEHIND_DASHES, /* only behind "--" */
} ttm_rest_rule;

typedef struct ttm_options ttm_options;

/* A command: what it is called, what it takes, what its help says, what it does. */
typedef struct ttm_command {
  const char *name; /* word or two ("cb simulate"); NULL: the program by itself */
  ttm_program program;
  const char *synopsis;          /* after the program's name */
  const char *help;              /* one line */
  const char *more;              /* paragraphs, one per line, or NULL */
  const char *examples;          /* command lines, one per line, or NULL */
  const char *exits;             /* what its exit status means, where that is more than 0 done and 2 could not; NULL */
  size_t min_inputs, max_inputs; /* arguments that are no options */
  const char *needs;             /* what is missing when there are fewer: "a log: ttmem analyze LOG" */
  size_t logs;                   /* so many arguments name a log: a folder stands for the log in it */
  bool ranks;                    /* arguments may be the files of many ranks: no folder stands for its log then */
  bool named;                    /* the first argument may be the name of a report or a run, as those of `logs` may */
  bool reports;                  /* the folder of a report whose log is gone will do */
  ttm_rest_rule rest;
  const ttm_option *takes; /* see TTM_TAKES; every command takes --help and --version */
  /* The exit status of the program; or a negative ttm_status and `err`, which is then printed, and TTM_EXIT_WRONG. */
  int (*run)(const ttm_options *options, ttm_error *err);
} ttm_command;

#define TTM_TAKES(...) ((const ttm_option[]){__VA_ARGS__, TTM_OPTIONS})

/* Every command in the order of --help. A new one is a word here and a file command_*.c with its row. */
#define TTM_COMMANDS(each)                                                                                           \
  each(llm) each(analyze) each(explain) each(fit) each(plan) each(verify) each(predict) each(ask) each(diff)         \
      each(baseline_update) each(baseline_show) each(html) each(export) each(cb_simulate) each(cb_scan) each(cb_log) \
          each(cb_all) each(graph) each(train) each(serve) each(mcp) each(run) each(live) each(history)              \
              each(history_bisect) each(ls) each(open) each(rm) each(prune) each(last_run) each(doctor)              \
                  each(completion) each(help) each(profile)
#define TTM_DECLARE_COMMAND(name) extern const ttm_command ttm_command_##name;
TTM_COMMANDS(TTM_DECLARE_COMMAND)

/* All of them, ended by NULL. */
extern const ttm_command *const ttm_commands[];

/* A value of an option that may be given again and again. */
typedef struct ttm_option_value {
  ttm_option option;
  const char *value;
} ttm_option_value;

enum { TTM_MAX_MANY = 256 };
enum { TTM_MAX_INPUTS = 1024 }; /* what a shell makes of *.cpp */

/* An input that was read before the command that wants it: `ttmem mcp`. */
struct ttm_kept_subject;

/* What the user said. */
struct ttm_options {
  ttm_program program;
  const ttm_command *command; /* NULL: none */
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
  struct ttm_kept_subject *kept; /* NULL */
  char *const *rest; /* a program to run and its arguments, NULL-terminated as argv is; NULL when none was given */
};

/* 0, or TTM_EUSAGE with a message that says what is wrong and what was probably meant. A --help wins over errors in
 * what stands after it. */
int ttm_options_parse(ttm_options *out, ttm_program program, int argc, char *const *argv, ttm_error *err);

/* As if `--option value` stood first: checked in any case, used where the command takes it and was not given another. 0 or TTM_EUSAGE. */
int ttm_options_default(ttm_options *options, ttm_option option, const char *value, ttm_error *err);

/* The command of one word, or of two when `second` is not NULL; NULL when there is none. */
const ttm_command *ttm_command_find(ttm_program program, const char *name, const char *second);
/* Whether it is one of the command's; every command takes --help and --version. */
bool ttm_command_takes(const ttm_command *command, ttm_option option);
/* True when the command is of that program and, with a `group`, its name is of two words and starts with that one: "cb". */
bool ttm_command_is_in(const ttm_command *command, ttm_program program, const char *group);
/* True for the first word of commands of two. */
bool ttm_command_is_group(ttm_program program, const char *word);

#endif
