/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "cli/suggest.h"

#define LLM (1u << TTM_COMMAND_LLM)
#define ANALYZE (1u << TTM_COMMAND_ANALYZE)
#define EXPLAIN (1u << TTM_COMMAND_EXPLAIN)
#define ASK (1u << TTM_COMMAND_ASK)
#define FIT (1u << TTM_COMMAND_FIT)
#define HTML (1u << TTM_COMMAND_HTML)
#define GRAPH (1u << TTM_COMMAND_GRAPH)
#define TRAIN (1u << TTM_COMMAND_TRAIN)
#define SERVE (1u << TTM_COMMAND_SERVE)
#define PROFILE (1u << TTM_COMMAND_PROFILE)
#define CB_SIMULATE (1u << TTM_COMMAND_CB_SIMULATE)
#define CB_SCAN (1u << TTM_COMMAND_CB_SCAN)
#define RUN (1u << TTM_COMMAND_RUN)
#define LIVE (1u << TTM_COMMAND_LIVE)
#define LAST_RUN (1u << TTM_COMMAND_LAST_RUN)
#define DOCTOR (1u << TTM_COMMAND_DOCTOR)
#define CB_LOG (1u << TTM_COMMAND_CB_LOG)
#define CB_ALL (1u << TTM_COMMAND_CB_ALL)
#define CB_WORK (CB_SIMULATE | CB_ALL)
#define CB (CB_SIMULATE | CB_SCAN | CB_LOG | CB_ALL)
#define EVERY (~0u)

const ttm_option_row ttm_option_table[TTM_OPTIONS] = {
    [TTM_OPTION_LLM] = {"llm", 0, TTM_VALUE_NONE, NULL, LLM, "write the markdown report for people and agents"},
    [TTM_OPTION_LOGFILE] = {"logfile", 'l', TTM_VALUE_TEXT, "LOG", LLM, "runtime log to read, '-' for standard input"},
    [TTM_OPTION_OUTPUT] = {"output", 'o', TTM_VALUE_TEXT, "OUT", LAST_RUN | LLM | HTML | GRAPH | TRAIN | CB,
                           "write to OUT; --llm, graph, cb: instead of standard output"},
    [TTM_OPTION_ANALYZE] = {"analyze", 'a', TTM_VALUE_TEXT, "LOG", PROFILE,
                            "analyse an existing log, '-' for standard input"},
    [TTM_OPTION_VISUALIZE] = {"visualize", 'v', TTM_VALUE_TEXT, "DIR", PROFILE,
                              "write the HTML page of a report folder again"},
    [TTM_OPTION_LOG] = {"log", 0, TTM_VALUE_NONE, NULL, RUN | PROFILE, "stop after the log: no report"},
    [TTM_OPTION_MARKER] = {"marker", 0, TTM_VALUE_TEXT, "TEXT", LAST_RUN, "runs end with a line that holds TEXT"},
    [TTM_OPTION_RUNS] = {"runs", 0, TTM_VALUE_COUNT, "N", LAST_RUN, "keep the last N runs (default 1)"},
    [TTM_OPTION_OUTPUT_DIR] = {"output-dir", 'd', TTM_VALUE_TEXT, "DIR", ANALYZE | RUN | PROFILE,
                               "write into DIR, not ~/.ttmem/reports/NAME; a run: not ./logs"},
    [TTM_OPTION_NAME] = {"name", 'n', TTM_VALUE_TEXT, "NAME", ANALYZE | HTML | RUN,
                         "name of the report (default: from the log's name)"},
    [TTM_OPTION_NO_JSON] = {"no-json", 0, TTM_VALUE_NONE, NULL, ANALYZE, "write no files, only print the summary"},
    [TTM_OPTION_NO_HTML] = {"no-html", 0, TTM_VALUE_NONE, NULL, ANALYZE | RUN | PROFILE, "leave the HTML page out"},
    [TTM_OPTION_LOGS] = {"logs", 0, TTM_VALUE_TEXT, "FILE", TRAIN, "training log to read, '-' for standard input"},
    [TTM_OPTION_DEVICE_MEMORY] = {"device_memory", 0, TTM_VALUE_BYTES, "B", TRAIN,
                                  "memory of the device (default: from the log, else 12 GB)"},
    [TTM_OPTION_MODEL_SIZE] = {"model_size", 0, TTM_VALUE_BYTES, "B", TRAIN,
                               "expected size of the model (default: 2 bytes per parameter)"},
    [TTM_OPTION_OPTIMIZER_SIZE] = {"optimizer_size", 0, TTM_VALUE_BYTES, "B", TRAIN,
                                   "expected size of its state (default: 2 x model size)"},
    [TTM_OPTION_GRADIENTS_SIZE] = {"gradients_size", 0, TTM_VALUE_BYTES, "B", TRAIN,
                                   "expected size of the gradients (default: model size)"},
    [TTM_OPTION_VISUALIZE_PEAK] = {"visualize_peak", 0, TTM_VALUE_NONE, NULL, TRAIN,
                                   "draw the histogram: memory_peak_visualization.png, or OUT"},
    [TTM_OPTION_USE_ACTUAL_SIZES] = {"use_actual_sizes", 0, TTM_VALUE_NONE, NULL, TRAIN,
                                     "break the peak down by measured, not expected sizes"},
    [TTM_OPTION_TITLE] = {"title", 0, TTM_VALUE_TEXT, "TITLE", TRAIN, "title of the histogram"},
    [TTM_OPTION_CHECK] = {"check", 0, TTM_VALUE_NONE, NULL, TRAIN | CB_SCAN | ANALYZE,
                          "exit 1 when something does not fit"},
    [TTM_OPTION_BUDGET] = {"budget", 0, TTM_VALUE_MANY, "[MEM:]N%", ANALYZE,
                           "exit 1 when a peak is above: dram:90%, l1:1.2MB; repeat"},
    [TTM_OPTION_PORT] = {"port", 'p', TTM_VALUE_PORT, "N", SERVE,
                         "port to listen on (default: the first free one from 8000)"},
    [TTM_OPTION_HOST] = {"host", 0, TTM_VALUE_TEXT, "ADDRESS", SERVE,
                         "address to listen on; others than 127.0.0.1 need a token"},
    [TTM_OPTION_THREADS] = {"threads", 'j', TTM_VALUE_COUNT, "N", LLM | ANALYZE | ASK | FIT | HTML | PROFILE | CB_SCAN,
                            "scan with N threads (default: one per processor, at most 8)"},
    [TTM_OPTION_QUIET] = {"quiet", 'q', TTM_VALUE_NONE, NULL, ANALYZE | RUN | LAST_RUN | HTML | FIT | PROFILE,
                          "print no summary and no progress"},
    [TTM_OPTION_COLOR] = {"color", 0, TTM_VALUE_CHOICE, "auto|always|never",
                          ANALYZE | RUN | LIVE | DOCTOR | EXPLAIN | FIT | GRAPH | TRAIN | PROFILE | CB,
                          "colour the output (default auto: on a terminal)"},
    [TTM_OPTION_ARCH] = {"arch", 0, TTM_VALUE_CHOICE, "wormhole|blackhole|grayskull", CB,
                         "the chip (default wormhole, or what the log tells)"},
    [TTM_OPTION_METAL_VERSION] = {"version", 0, TTM_VALUE_TEXT, "V", CB,
                                  "of tt-metal or ttnn: decides the L1 base (default: newest)"},
    [TTM_OPTION_L1_BASE] = {"l1-base", 0, TTM_VALUE_BYTES, "BYTES", CB, "the L1 base itself"},
    [TTM_OPTION_L1_SMALL] = {"l1-small", 0, TTM_VALUE_BYTES, "BYTES", CB, "l1_small_size of the device (default 0)"},
    [TTM_OPTION_DTYPE] = {"dtype", 0, TTM_VALUE_TEXT, "DTYPE", CB_WORK | CB_LOG,
                          "of the tiles: float32 (default), bfloat16, bfloat8_b, ..."},
    [TTM_OPTION_CB] = {"cb", 0, TTM_VALUE_MANY, "NAME=TILES", CB_WORK,
                       "your own buffer, NAME=TILES[/NEEDED][:DTYPE][@CORES]; repeat"},
    [TTM_OPTION_TENSOR] = {"tensor", 0, TTM_VALUE_MANY, "NAME[=BYTES]", CB_WORK | ASK,
                           "cb: an L1 tensor, bytes per core; ask: a weight or location"},
    [TTM_OPTION_STRATEGY] = {"strategy", 0, TTM_VALUE_MANY, "FILE", CB_WORK,
                             "compare a strategy of your own (docs/l1.md); repeat"},
    [TTM_OPTION_KERNEL_BYTES] = {"kernel-bytes", 0, TTM_VALUE_BYTES, "BYTES", CB_WORK,
                                 "size of the program's kernels (default: an estimate)"},
    [TTM_OPTION_DEFINE] = {"define", 'D', TTM_VALUE_MANY, "NAME=VALUE", CB_SCAN | CB_ALL,
                           "the value of a name or expression in the source; repeat"},
    [TTM_OPTION_COMPARE] = {"compare", 0, TTM_VALUE_NONE, NULL, CB_SCAN, "two paths: two versions of a program"},
    [TTM_OPTION_MULTI] = {"multi", 0, TTM_VALUE_NONE, NULL, CB_ALL,
                          "a table over workloads of 2 to 64 tiles (the default)"},
    [TTM_OPTION_SOURCE] = {"source", 0, TTM_VALUE_TEXT, "PATH", CB_ALL, "file or folder of sources to scan as well"},
    [TTM_OPTION_LOG_FILE] = {"log", 0, TTM_VALUE_TEXT, "FILE", CB_ALL, "TT-Metal log or memory report to read as well"},
    [TTM_OPTION_JSON] = {"json", 0, TTM_VALUE_NONE, NULL, GRAPH | TRAIN | FIT | LIVE | CB | ANALYZE | EXPLAIN,
                         "write JSON"},
    [TTM_OPTION_MD] = {"md", 0, TTM_VALUE_NONE, NULL, GRAPH | TRAIN | CB, "write markdown"},
    [TTM_OPTION_HTML] = {"html", 0, TTM_VALUE_NONE, NULL, GRAPH | CB, "write a page of HTML that needs no network"},
    [TTM_OPTION_SVG] = {"svg", 0, TTM_VALUE_NONE, NULL, CB_SIMULATE, "write the picture of L1 only"},
    [TTM_OPTION_BOARD] = {"board", 0, TTM_VALUE_TEXT, "B", FIT | RUN | LIVE,
                          "the board: n150, n300, t3k, galaxy, p100, p150, p300"},
    [TTM_OPTION_SCALE_BATCH] = {"scale-batch", 0, TTM_VALUE_TEXT, "N", FIT, "with N times the recorded batch"},
    [TTM_OPTION_WEIGHTS_DTYPE] = {"weights-dtype", 0, TTM_VALUE_CHOICE, "bf16|bfp8|bfp4", FIT,
                                  "with the matrix weights in this dtype"},
    [TTM_OPTION_OP] = {"op", 0, TTM_VALUE_TEXT, "N", ASK, "about operation N of the reports"},
    [TTM_OPTION_RANGE] = {"range", 0, TTM_VALUE_TEXT, "A-B", ASK, "about operations A to B"},
    [TTM_OPTION_AT_PEAK] = {"at-peak", 0, TTM_VALUE_NONE, NULL, ASK, "what is alive at the DRAM peak"},
    [TTM_OPTION_FINDINGS] = {"findings", 0, TTM_VALUE_NONE, NULL, ASK, "every analysis, with its evidence"},
    [TTM_OPTION_MAX_TOKENS] = {"max-tokens", 0, TTM_VALUE_TEXT, "N", LLM,
                               "at most N tokens: less important sections are left out"},
    [TTM_OPTION_ONCE] = {"once", 0, TTM_VALUE_NONE, NULL, LIVE, "look once, print, end"},
    [TTM_OPTION_INTERVAL] = {"interval", 0, TTM_VALUE_TEXT, "S", LIVE,
                             "seconds between looks (default 0.1; on a pipe 1)"},
    [TTM_OPTION_RECORD] = {"record", 0, TTM_VALUE_TEXT, "FILE", LIVE,
                           "keep it all in FILE, for ttmem analyze and ttmem html"},
    [TTM_OPTION_ALARM] = {"alarm", 0, TTM_VALUE_MANY, "[MEM:]N%", LIVE,
                          "end with 1 when a memory (dram, l1, cb; or any) passes N%"},
    [TTM_OPTION_EXEC] = {"exec", 0, TTM_VALUE_TEXT, "CMD", LIVE, "do not end at an alarm, but run CMD"},
    [TTM_OPTION_METRICS] = {"metrics", 0, TTM_VALUE_NONE, NULL, SERVE, "serve /metrics for Prometheus as well"},
    [TTM_OPTION_HELP] = {"help", 'h', TTM_VALUE_NONE, NULL, EVERY, "show this help"},
    [TTM_OPTION_VERSION] = {"version", 'V', TTM_VALUE_NONE, NULL, EVERY & ~CB, "show the version"},
};

const ttm_command_row ttm_command_table[TTM_COMMANDS] = {
    [TTM_COMMAND_LLM] = {"--llm", TTM_PROGRAM_TTMEM, "--llm --logfile LOG [-o OUT]",
                         "markdown report for people and agents",
                         "Standard output carries the report and nothing else. Every number names the log line it\n"
                         "comes from. LOG may be compressed (.gz, .zst), or '-' for standard input.\n",
                         1, false},
    [TTM_COMMAND_ANALYZE] = {"analyze", TTM_PROGRAM_TTMEM, "analyze LOG [options]",
                             "summary on the terminal, JSON and HTML report",
                             "LOG may be compressed (.gz, .zst), or '-' for standard input. The files go to\n"
                             "~/.ttmem/reports/NAME/ (TTMEM_HOME replaces ~/.ttmem); an earlier report of that name\n"
                             "is replaced only when the new one is complete. --json prints what findings.json has\n"
                             "instead of the summary. --check is broken by an incident or a leak.\n",
                             1, false},
    [TTM_COMMAND_EXPLAIN] = {"explain", TTM_PROGRAM_TTMEM, "explain [TEXT|FILE|-]",
                             "what an error message means, and what would have fitted",
                             "TEXT is a pasted out-of-memory or clash message; FILE a log that holds some; without\n"
                             "either, or with '-', standard input is read.\n",
                             1, false},
    [TTM_COMMAND_FIT] =
        {"fit", TTM_PROGRAM_TTMEM, "fit [--board B,...] [--json] -- COMMAND | LOG", "which board would hold it",
         "With a COMMAND (python model.py ARGS) the program runs on a mock board of each kind in turn:\n"
         "ttnn's real allocator, no hardware. With a LOG its allocations are replayed with the banks of\n"
         "every board, and the largest batch is told. With --board only those boards are asked, and the\n"
         "exit status is 1 when it does not fit. It is 2 when the program fails for another reason.\n",
         1, TTM_REST_BEHIND_DASHES},
    [TTM_COMMAND_ASK] = {"ask", TTM_PROGRAM_TTMEM,
                         "ask LOG --op N | --tensor NAME | --range A-B | --at-peak | --findings",
                         "one detail in a few lines, for people and agents", NULL, 1, false},
    [TTM_COMMAND_HTML] = {"html", TTM_PROGRAM_TTMEM, "html INPUT [-o OUT]",
                          "self-contained HTML page of a log or report folder",
                          "INPUT is a log (.gz and .zst too, '-' for standard input) or a report folder, also one of\n"
                          "the Python tool. The page goes to OUT ('-' for standard output), else into the report\n"
                          "folder, else to NAME_report.html here. It needs no network and no other file.\n",
                          1, false},
    [TTM_COMMAND_CB_SIMULATE] =
        {"cb simulate", TTM_PROGRAM_TTMEM, "cb simulate R_TILES TILES_PER_SHARD",
         "circular buffers of a kernel: fixed against adaptive sizes",
         "R_TILES tiles are used again and again, TILES_PER_SHARD stream by. Shows bytes, misses,\n"
         "pressure and the core's L1 with addresses, placed by tt-metal's own rule.\n",
         2, false},
    [TTM_COMMAND_CB_SCAN] =
        {"cb scan", TTM_PROGRAM_TTMEM, "cb scan PATH...", "circular buffers in TT-Metal sources, host against kernel",
         "PATH is a C++ file or a folder. Finds every circular and dataflow buffer host code creates, works\n"
         "out sizes, matches kernels that fill and empty them, and says what cannot work.\n",
         TTM_MAX_INPUTS, false},
    [TTM_COMMAND_GRAPH] =
        {"graph", TTM_PROGRAM_TTMEM, "graph CAPTURE.json... [options]",
         "ttnn graph captures: tt-metal's numbers and the true ones",
         "CAPTURE.json is what ttnn.graph.end_graph_capture or end_graph_capture_to_file gives, of any\n"
         "version, plain or compressed; several are several ranks. The other reports take captures too.\n",
         TTM_MAX_INPUTS, false},
    [TTM_COMMAND_TRAIN] = {"train", TTM_PROGRAM_TTMEM, "train --logs FILE [options]",
                           "memory of a training run: phases, sizes, does it fit",
                           "FILE holds the summaries that tt-train prints, one or many, plain or compressed. B is in\n"
                           "bytes; 12GB and 512MB work too. OUT is the histogram and ends in .png or .svg.\n",
                           1, false},
    [TTM_COMMAND_SERVE] = {"serve", TTM_PROGRAM_TTMEM, "serve [REPORT|DIR]", "reports in a browser, also over SSH",
                           "REPORT is the folder of a report, or its name in ~/.ttmem/reports; DIR holds reports;\n"
                           "without either, all of ~/.ttmem/reports is served. The address is printed; Ctrl-C stops.\n",
                           1, false},
    [TTM_COMMAND_RUN] =
        {"run", TTM_PROGRAM_TTMEM, "run [options] -- COMMAND", "run a program, keep its log, write the report",
         "The program's output is shown as it comes (both streams, in order, on standard output) and\n"
         "written to ./logs/NAME_YYYYMMDD_HHMMSS/NAME_profile.log; the report goes beside it. A .py file\n"
         "is run by python3 -u, of the active virtual environment if there is one. The logger variables\n"
         "of a full log are set where you have not. The exit status is the program's.\n"
         "What a Python program allocates with ttnn is recorded, with the lines of the program. With\n"
         "--board B it runs on a mock board: ttnn's real allocator, no hardware (B: n150, n300, t3k,\n"
         "galaxy, p100, p150, p300, or the path of a cluster descriptor).\n",
         1, true},
    [TTM_COMMAND_LIVE] =
        {"live", TTM_PROGRAM_TTMEM, "live [options]", "what running programs hold on the chips of this machine",
         "Reads what every ttnn process (0.70 and later) keeps in /dev/shm (TTMEM_SHM_DIR replaces it); the\n"
         "programs are not touched. A screen on a terminal, else a line for each change; --json gives the\n"
         "devices as JSON. Numbers are bytes over all banks, of processes that live.\n",
         0, false},
    [TTM_COMMAND_CB_LOG] =
        {"cb log", TTM_PROGRAM_TTMEM, "cb log [FILE|-]", "L1, kernels and clashes in a TT-Metal log or memory report",
         "FILE is a log of TT-Metal's own logger (any version, coloured or not, compressed or not) or one\n"
         "of the CSV files of ttnn.dump_device_memory_state. Without FILE a demonstration log is read.\n",
         1, false},
    [TTM_COMMAND_CB_ALL] = {"cb all", TTM_PROGRAM_TTMEM, "cb all [R T | --multi] [--source PATH] [--log FILE]",
                            "simulation, source and log together, over workloads",
                            "With two numbers of tiles one workload in detail, else a table over many.\n", 2, false},
    [TTM_COMMAND_LAST_RUN] =
        {"last-run", TTM_PROGRAM_TTMEM, "last-run LOG [-o OUT]", "the log of the last run only, without warm-up",
         "Copies the last top-level run of a program to the end of the log, and the dumps of the modules\n"
         "it executes, to OUT or standard output. LOG itself is never changed; it may be compressed, or\n"
         "'-' for standard input. With --marker a run is what stands between two lines with TEXT.\n",
         1, false},
    [TTM_COMMAND_DOCTOR] =
        {"doctor", TTM_PROGRAM_TTMEM, "doctor [LOG]", "what is missing from a log, and how to get it",
         "Checks the log, the environment and the build, and gives the commands that help. Exit status 1\n"
         "when something was found.\n",
         1, false},
    [TTM_COMMAND_HELP] = {"help", TTM_PROGRAM_TTMEM, "help [COMMAND]", "help on a command", NULL, 2, false},
    [TTM_COMMAND_PROFILE] = {NULL, TTM_PROGRAM_PROFILER, "[options] SCRIPT.py [ARGS]",
                             "run a script, keep its log, write the report",
                             "  tt-memory-profiler SCRIPT.py [ARGS]   run, log, JSON files and HTML page (ttmem run)\n"
                             "  tt-memory-profiler --log SCRIPT.py    run and log only\n"
                             "  tt-memory-profiler --analyze LOG      report of an existing log (ttmem analyze)\n"
                             "  tt-memory-profiler --visualize DIR    HTML page of a report folder (ttmem html)\n\n"
                             "A run goes to ./logs/SCRIPT_YYYYMMDD_HHMMSS/, never to a folder that is there already.\n"
                             "Its exit status is the script's. Options stand before the script.\n",
                             1, true},
};

const char *ttm_program_name(ttm_program program) {
  return program == TTM_PROGRAM_PROFILER ? "tt-memory-profiler" : "ttmem";
}

/* ---- Looking up --------------------------------------------------------------------------------------------------- */

static bool row_is_of(const ttm_option_row *row, ttm_program program) {
  for (int c = 1; c < TTM_COMMANDS; c++) {
    if (ttm_command_table[c].program == program && (row->commands >> c & 1)) return true;
  }
  return false;
}

/* '-' and '_' between words are one: tools before this one used both. */
static bool is_name(const char *name, const char *word, size_t length) {
  if (strlen(name) != length) return false;
  for (size_t i = 0; i < length; i++) {
    bool dashes = (name[i] == '-' || name[i] == '_') && (word[i] == '-' || word[i] == '_');
    if (name[i] != word[i] && !dashes) return false;
  }
  return true;
}

/* Two commands may give one name two meanings: the command's own comes first, when it is known already; without
 * a command --version asks for ours. */
static int find_long(const ttm_options *out, const char *name, size_t length) {
  int found = TTM_OPTIONS;
  for (int o = 0; o < TTM_OPTIONS; o++) {
    const ttm_option_row *row = &ttm_option_table[o];
    if (!row_is_of(row, out->program) || !is_name(row->name, name, length)) continue;
    if (out->command != TTM_COMMAND_NONE && (row->commands >> out->command & 1)) return o;
    if (found == TTM_OPTIONS || row == &ttm_option_table[TTM_OPTION_VERSION]) found = o;
  }
  return found;
}

static int find_short(ttm_program program, char letter) {
  for (int o = 0; o < TTM_OPTIONS; o++) {
    if (ttm_option_table[o].letter == letter && row_is_of(&ttm_option_table[o], program)) return o;
  }
  return TTM_OPTIONS;
}

/* True when the row's name is `first`, or "first second". */
static bool is_called(const ttm_command_row *row, const char *first, const char *second) {
  size_t n = strlen(first);
  if (!second) return !strcmp(row->name, first) || (row->name[0] == '-' && !strcmp(row->name + 2, first));
  return !strncmp(row->name, first, n) && row->name[n] == ' ' && !strcmp(row->name + n + 1, second);
}

ttm_command ttm_command_find(ttm_program program, const char *name, const char *second) {
  for (int c = 1; c < TTM_COMMANDS; c++) {
    const ttm_command_row *row = &ttm_command_table[c];
    if (row->program == program && row->name && is_called(row, name, second)) return (ttm_command)c;
  }
  return TTM_COMMAND_NONE;
}

bool ttm_command_is_group(ttm_program program, const char *word) {
  size_t n = strlen(word);
  for (int c = 1; c < TTM_COMMANDS; c++) {
    const ttm_command_row *row = &ttm_command_table[c];
    if (row->program == program && row->name && !strncmp(row->name, word, n) && row->name[n] == ' ') return true;
  }
  return false;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------- */

static int unknown_option(ttm_program program, const char *word, size_t length, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word + 2, length - 2);
  for (int o = 0; o < TTM_OPTIONS; o++) {
    if (row_is_of(&ttm_option_table[o], program)) ttm_suggest_try(&best, ttm_option_table[o].name);
  }
  const char *program_name = ttm_program_name(program);
  if (best.word) {
    return ttm_error_set(err, TTM_EUSAGE, "unknown option '%.*s'; did you mean '--%s'?", (int)length, word, best.word);
  }
  return ttm_error_set(err, TTM_EUSAGE, "unknown option '%.*s'; '%s --help' lists all of them", (int)length, word,
                       program_name);
}

/* The second word of a command of two is missing or wrong. */
static int unknown_in_group(const char *group, const char *word, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word, strlen(word));
  char all[200] = "";
  size_t n = strlen(group);
  for (int c = 1; c < TTM_COMMANDS; c++) {
    const char *name = ttm_command_table[c].name;
    if (!name || strncmp(name, group, n) != 0 || name[n] != ' ') continue;
    ttm_suggest_try(&best, name + n + 1);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? ", " : "", name + n + 1);
  }
  if (!*word) return ttm_error_set(err, TTM_EUSAGE, "'%s' needs to know what: %s", group, all);
  if (best.word)
    return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s %s'; did you mean '%s %s'?", group, word, group,
                         best.word);
  return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s %s'; there are: %s", group, word, all);
}

static int unknown_command(const char *word, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word, strlen(word));
  for (int c = 1; c < TTM_COMMANDS; c++) {
    const ttm_command_row *row = &ttm_command_table[c];
    if (row->program == TTM_PROGRAM_TTMEM && row->name[0] != '-' && !strchr(row->name, ' '))
      ttm_suggest_try(&best, row->name);
  }
  if (best.word) return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; did you mean '%s'?", word, best.word);
  if (strpbrk(word, "./")) {
    return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; if this is a log, run 'ttmem analyze %s'", word, word);
  }
  return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; 'ttmem --help' lists all of them", word);
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static bool is_choice(const char *choices, const char *value) {
  size_t length = strlen(value);
  for (const char *at = choices;; at++) {
    size_t n = strcspn(at, "|");
    if (n == length && !memcmp(at, value, n)) return true;
    at += n;
    if (!*at) return false;
  }
}

/* A whole number as it stands; with a point, an exponent or a unit of 1024s the nearest one. */
static bool read_bytes(const char *text, uint64_t *out) {
  static const char units[] = "KMGT";
  ttm_view rest = ttm_view_of(text);
  char *end;
  if (ttm_view_take_u64(&rest, out) && !rest.n) return true;
  if (text[0] < '0' || text[0] > '9' || text[1] == 'x' || text[1] == 'X') return false;
  double value = strtod(text, &end);
  const char *unit = *end ? strchr(units, *end) : NULL;
  for (const char *u = units; unit && u <= unit; u++) value *= 1024;
  if (unit) end += end[1] == 'i' ? 2 : 1;
  if (*end == 'B') end++;
  if (*end || !(value < 0x1p62)) return false;
  *out = (uint64_t)(value + 0.5);
  return true;
}

static int check_value(ttm_options *out, int option, const char *value, ttm_error *err) {
  const ttm_option_row *row = &ttm_option_table[option];
  if (!*value)
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a %s, not an empty text", row->name, row->value);
  if (row->kind == TTM_VALUE_CHOICE && !is_choice(row->value, value)) {
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes %s, not '%s'", row->name, row->value, value);
  }
  if (row->kind == TTM_VALUE_PORT) {
    size_t digits = strspn(value, "0123456789");
    if (!digits || value[digits] || digits > 5 || atoi(value) > 65535) {
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes a number from 0 to 65535, not '%s'", row->name, value);
    }
  }
  if (row->kind == TTM_VALUE_COUNT) {
    char *end;
    unsigned long n = value[0] >= '0' && value[0] <= '9' ? strtoul(value, &end, 10) : 0;
    if (n < 1 || n > 256 || *end) {
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes a number from 1 to 256, not '%s'", row->name, value);
    }
    out->bytes[option] = n;
    if (option == TTM_OPTION_THREADS) out->threads = (unsigned)n;
  }
  if (row->kind == TTM_VALUE_BYTES) {
    if (!read_bytes(value, &out->bytes[option]))
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes a number of bytes, not '%s'", row->name, value);
  }
  if (row->kind == TTM_VALUE_MANY) {
    if (out->many_count == TTM_MAX_MANY)
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' is given too often", row->name);
    out->many[out->many_count++] = (ttm_option_value){(ttm_option)option, value};
  }
  out->value[option] = value;
  return TTM_OK;
}

/* ---- Parsing ------------------------------------------------------------------------------------------------------ */

typedef struct words {
  int argc, at;
  char *const *argv;
} words;

/* The value of an option: what follows it in the same word, or the next word. A word that looks like an option is no value. */
static int take_value(ttm_options *out, words *w, int option, const char *attached, ttm_error *err) {
  const ttm_option_row *row = &ttm_option_table[option];
  out->given[option] = true;
  if (row->kind == TTM_VALUE_NONE) {
    if (!attached) return TTM_OK;
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes no value", row->name);
  }
  if (!attached) {
    const char *next = w->at + 1 < w->argc ? w->argv[w->at + 1] : NULL;
    if (!next || (next[0] == '-' && next[1])) {
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a value: --%s %s", row->name, row->name, row->value);
    }
    attached = next;
    w->at++;
  }
  return check_value(out, option, attached, err);
}

static int parse_long(ttm_options *out, words *w, ttm_error *err) {
  const char *word = w->argv[w->at];
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  int option = find_long(out, word + 2, length - 2);
  if (option == TTM_OPTIONS) return unknown_option(out->program, word, length, err);
  return take_value(out, w, option, equals ? equals + 1 : NULL, err);
}

/* One word of short options: -q, -qh, -oFILE, -o FILE. */
static int parse_short(ttm_options *out, words *w, ttm_error *err) {
  for (const char *letter = w->argv[w->at] + 1; *letter; letter++) {
    int option = find_short(out->program, *letter);
    if (option == TTM_OPTIONS) {
      return ttm_error_set(err, TTM_EUSAGE, "unknown option '-%.1s'; '%s --help' lists all of them", letter,
                           ttm_program_name(out->program));
    }
    bool takes_value = ttm_option_table[option].kind != TTM_VALUE_NONE;
    int status = take_value(out, w, option, takes_value && letter[1] ? letter + 1 : NULL, err);
    if (status || takes_value) return status;
  }
  return TTM_OK;
}

/* True when --llm stands anywhere among the options: the first plain word is then the log, not a command. */
static bool asks_for_llm(const words *w) {
  for (int i = 1; i < w->argc && strcmp(w->argv[i], "--") != 0; i++) {
    if (!strcmp(w->argv[i], "--llm")) return true;
  }
  return false;
}

/* True when the words from here on are a program and its own arguments. */
static bool starts_rest(const ttm_options *out, bool behind_dashes) {
  ttm_command command = out->program == TTM_PROGRAM_PROFILER ? TTM_COMMAND_PROFILE : out->command;
  ttm_rest rest = ttm_command_table[command].takes_rest;
  return out->inputs == 1 && (rest == TTM_REST_FIRST || (rest == TTM_REST_BEHIND_DASHES && behind_dashes));
}

static int take_input(ttm_options *out, const words *w, ttm_error *err) {
  const char *word = w->argv[w->at];
  bool may_be_command = out->program == TTM_PROGRAM_TTMEM && out->command == TTM_COMMAND_NONE && !out->inputs;
  if (out->group && may_be_command) {
    out->command = ttm_command_find(out->program, out->group, word);
    return out->command == TTM_COMMAND_NONE ? unknown_in_group(out->group, word, err) : TTM_OK;
  }
  if (may_be_command && ttm_command_is_group(out->program, word)) return out->group = word, TTM_OK;
  ttm_command command = may_be_command ? ttm_command_find(out->program, word, NULL) : TTM_COMMAND_NONE;
  if (command != TTM_COMMAND_NONE) return out->command = command, TTM_OK;
  if (may_be_command && !asks_for_llm(w)) return unknown_command(word, err);
  if (out->inputs < TTM_MAX_INPUTS) out->input[out->inputs] = word;
  out->inputs++;
  return TTM_OK;
}

/* What only makes sense once all words are known: which command, and whether its options and arguments fit. */
static int settle(ttm_options *out, ttm_error *err) {
  if (out->program == TTM_PROGRAM_PROFILER) out->command = TTM_COMMAND_PROFILE;
  if (out->given[TTM_OPTION_LLM] && out->command == TTM_COMMAND_HELP) { /* help --llm: the option is the topic */
    out->given[TTM_OPTION_LLM] = false;
    out->input[0] = "--llm";
    out->inputs++;
  }
  if (out->given[TTM_OPTION_LLM]) {
    if (out->command != TTM_COMMAND_NONE) {
      return ttm_error_set(err, TTM_EUSAGE, "'--llm' and '%s' are two commands; give one of them",
                           ttm_command_table[out->command].name);
    }
    out->command = TTM_COMMAND_LLM;
  }
  if (out->given[TTM_OPTION_HELP] || out->given[TTM_OPTION_VERSION]) return TTM_OK;
  if (out->group && out->command == TTM_COMMAND_NONE) return unknown_in_group(out->group, "", err);
  const ttm_command_row *command = &ttm_command_table[out->command];
  for (int o = 0; o < TTM_OPTIONS; o++) {
    if (!out->given[o] || (ttm_option_table[o].commands >> out->command & 1)) continue;
    if (out->command == TTM_COMMAND_NONE) {
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a command; 'ttmem --help' lists them",
                           ttm_option_table[o].name);
    }
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' does not go with '%s'", ttm_option_table[o].name,
                         command->name);
  }
  if (out->inputs > command->max_inputs) {
    return ttm_error_set(err, TTM_EUSAGE, "'%s' is one argument too many", out->input[command->max_inputs]);
  }
  return TTM_OK;
}

int ttm_options_parse(ttm_options *out, ttm_program program, int argc, char *const *argv, ttm_error *err) {
  words w = {argc, 1, argv};
  bool options_over = false;
  *out = (ttm_options){.program = program};
  for (; w.at < argc; w.at++) {
    const char *word = argv[w.at];
    int status;
    if (options_over || word[0] != '-' || !word[1])
      status = take_input(out, &w, err);
    else if (!strcmp(word, "--"))
      status = TTM_OK, options_over = true;
    else if (word[1] == '-')
      status = parse_long(out, &w, err);
    else
      status = parse_short(out, &w, err);
    if (status && !out->given[TTM_OPTION_HELP]) return status;
    if (status) break; /* who asks for help gets it */
    if (starts_rest(out, options_over && strcmp(word, "--") != 0)) {
      out->rest = argv + w.at;
      break;
    }
  }
  return settle(out, err);
}
