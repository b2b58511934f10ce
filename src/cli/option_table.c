/* SPDX-License-Identifier: Apache-2.0 */
/* Every option and every command, one row each. */
#include "cli/options.h"

#define LLM (1u << TTM_COMMAND_LLM)
#define ANALYZE (1u << TTM_COMMAND_ANALYZE)
#define EXPLAIN (1u << TTM_COMMAND_EXPLAIN)
#define ASK (1u << TTM_COMMAND_ASK)
#define FIT (1u << TTM_COMMAND_FIT)
#define DIFF (1u << TTM_COMMAND_DIFF)
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
    [TTM_OPTION_OUTPUT] = {"output", 'o', TTM_VALUE_TEXT, "OUT", LAST_RUN | LLM | HTML | GRAPH | TRAIN | CB | DIFF,
                           "write to OUT, '-' for standard output (train: a picture)"},
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
    [TTM_OPTION_CHECK] = {"check", 0, TTM_VALUE_NONE, NULL, TRAIN | CB_SCAN | ANALYZE | DIFF,
                          "exit 1 when something does not fit"},
    [TTM_OPTION_BUDGET] = {"budget", 0, TTM_VALUE_MANY, "[MEM:]N%", ANALYZE,
                           "exit 1 when a peak is above: dram:90%, l1:1.2MB; repeat"},
    [TTM_OPTION_TOLERANCE] = {"tolerance", 0, TTM_VALUE_TEXT, "N%", DIFF,
                              "let a peak grow by N percent before it is worse (default 1)"},
    [TTM_OPTION_PORT] = {"port", 'p', TTM_VALUE_PORT, "N", SERVE,
                         "port to listen on (default: the first free one from 8000)"},
    [TTM_OPTION_HOST] = {"host", 0, TTM_VALUE_TEXT, "ADDRESS", SERVE,
                         "address to listen on; others than 127.0.0.1 need a token"},
    [TTM_OPTION_THREADS] = {"threads", 'j', TTM_VALUE_COUNT, "N",
                            LLM | ANALYZE | EXPLAIN | ASK | FIT | HTML | LAST_RUN | DOCTOR | PROFILE | CB_SCAN |
                                CB_ALL | DIFF,
                            "scan with N threads (default: one per processor, at most 8)"},
    [TTM_OPTION_QUIET] = {"quiet", 'q', TTM_VALUE_NONE, NULL,
                          LLM | ANALYZE | EXPLAIN | ASK | RUN | LAST_RUN | HTML | FIT | PROFILE | DIFF,
                          "print no summary and no progress"},
    [TTM_OPTION_COLOR] = {"color", 0, TTM_VALUE_CHOICE, "auto|always|never",
                          ANALYZE | RUN | LIVE | DOCTOR | EXPLAIN | ASK | FIT | GRAPH | TRAIN | PROFILE | CB | DIFF,
                          "colour the output (default auto: on a terminal)"},
    [TTM_OPTION_PER] = {"per", 0, TTM_VALUE_CHOICE, "bank|chip",
                        LLM | ANALYZE | EXPLAIN | ASK | FIT | RUN | PROFILE | DIFF,
                        "tables count memory per bank (default) or per chip"},
    [TTM_OPTION_ARCH] = {"arch", 0, TTM_VALUE_CHOICE, "wormhole|blackhole|grayskull", CB,
                         "the chip (default: from the log, else wormhole)"},
    [TTM_OPTION_METAL_VERSION] = {"version", 0, TTM_VALUE_TEXT, "V", CB,
                                  "of tt-metal or ttnn: decides the L1 base (default: newest)"},
    [TTM_OPTION_L1_BASE] = {"l1-base", 0, TTM_VALUE_BYTES, "BYTES", CB, "L1 base address (instead of --version)"},
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
    [TTM_OPTION_COMPARE] = {"compare", 0, TTM_VALUE_NONE, NULL, CB_SCAN,
                            "compare two versions of a program: two paths"},
    [TTM_OPTION_MULTI] = {"multi", 0, TTM_VALUE_NONE, NULL, CB_ALL,
                          "a table over workloads of 2 to 64 tiles (the default)"},
    [TTM_OPTION_SOURCE] = {"source", 0, TTM_VALUE_TEXT, "PATH", CB_ALL, "file or folder of sources to scan as well"},
    [TTM_OPTION_LOG_FILE] = {"log", 0, TTM_VALUE_TEXT, "FILE", CB_ALL, "TT-Metal log or memory report to read as well"},
    [TTM_OPTION_JSON] = {"json", 0, TTM_VALUE_NONE, NULL, GRAPH | TRAIN | FIT | LIVE | CB | ANALYZE | EXPLAIN | DIFF,
                         "write JSON"},
    [TTM_OPTION_MD] = {"md", 0, TTM_VALUE_NONE, NULL, GRAPH | TRAIN | CB | DIFF, "write markdown"},
    [TTM_OPTION_HTML] = {"html", 0, TTM_VALUE_NONE, NULL, GRAPH | CB | DIFF,
                         "write a page of HTML that needs no network"},
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

#define EXIT_CHECK "0 a report was made; 1 --check, and it does not hold; 2 wrong usage, or nothing to report on"
#define EXIT_PROGRAM                                    \
  "the program's own, 128 + N when signal N ended it; " \
  "2 when it could not be started, or ended well but its log or report could not be made"

const ttm_command_row ttm_command_table[TTM_COMMANDS] = {
    [TTM_COMMAND_LLM] =
        {
            .name = "--llm",
            .synopsis = "--llm --logfile LOG [-o OUT]",
            .help = "markdown report for people and agents",
            .more = "Standard output carries the report and nothing else. Every number names the log line it\n"
                    "comes from. LOG may be compressed (.gz, .zst), or '-' for standard input.\n",
            .max_inputs = 1,
        },
    [TTM_COMMAND_ANALYZE] =
        {
            .name = "analyze",
            .synopsis = "analyze LOG [options]",
            .help = "summary on the terminal, JSON and HTML report",
            .more = "LOG may be compressed (.gz, .zst), or '-' for standard input. The files go to\n"
                    "~/.ttmem/reports/NAME/ (TTMEM_HOME replaces ~/.ttmem); an earlier report of that name\n"
                    "is replaced only when the new one is complete. --json prints what findings.json has\n"
                    "instead of the summary. --check is broken by an incident or a leak.\n",
            .exits = "0 a report was made; 1 --check or --budget, and it does not hold; "
                     "2 wrong usage, or nothing to report on",
            .max_inputs = 1,
        },
    [TTM_COMMAND_EXPLAIN] =
        {
            .name = "explain",
            .synopsis = "explain [TEXT|FILE|-]",
            .help = "what an error message means, and what would have fitted",
            .more = "TEXT is a pasted out-of-memory or clash message; FILE a log that holds some; without\n"
                    "either, or with '-', standard input is read.\n",
            .max_inputs = 1,
        },
    [TTM_COMMAND_FIT] =
        {
            .name = "fit",
            .synopsis = "fit [--board B,...] [--json] -- COMMAND | LOG",
            .help = "which board would hold it",
            .more = "With a COMMAND (python model.py ARGS) the program runs on a mock board of each kind in turn:\n"
                    "ttnn's real allocator, no hardware. With a LOG its allocations are replayed with the banks of\n"
                    "every board, and the largest batch is told. With --board only those boards are asked: one or\n"
                    "several, with commas between; with a COMMAND also paths of cluster descriptors.\n",
            .max_inputs = 1,
            .rest = TTM_REST_BEHIND_DASHES,
            .exits = "0 it fits, or without --board: there is an answer for every board; "
                     "1 with --board: it does not fit one of them; "
                     "2 wrong usage, no answer, or the program failed for another reason; 130 stopped by Ctrl-C",
        },
    [TTM_COMMAND_ASK] =
        {
            .name = "ask",
            .synopsis = "ask LOG --op N | --tensor NAME | --range A-B | --at-peak | --findings",
            .help = "one detail in a few lines, for people and agents",
            .max_inputs = 1,
        },
    [TTM_COMMAND_DIFF] =
        {
            .name = "diff",
            .synopsis = "diff BEFORE AFTER [options]",
            .help = "what changed between two logs: peaks, operations, failures",
            .more = "Operations are matched by name and location, so that one more in the middle does not matter.\n"
                    "Worse, for --check, is a peak that grew by more than 1 % (--tolerance), a failure or a leak\n"
                    "that was not there before.\n",
            .exits = "0 done; 1 --check, and AFTER is worse; 2 wrong usage or unreadable input",
            .max_inputs = 2,
        },
    [TTM_COMMAND_HTML] =
        {
            .name = "html",
            .synopsis = "html INPUT [-o OUT]",
            .help = "self-contained HTML page of a log or report folder",
            .more = "INPUT is a log (.gz and .zst too, '-' for standard input) or a report folder, also one of\n"
                    "the Python tool. The page goes to OUT ('-' for standard output), else into the report\n"
                    "folder, else to NAME_report.html here. It needs no network and no other file.\n",
            .max_inputs = 1,
        },
    [TTM_COMMAND_CB_SIMULATE] =
        {
            .name = "cb simulate",
            .synopsis = "cb simulate R_TILES TILES_PER_SHARD",
            .help = "circular buffers of a kernel: fixed against adaptive sizes",
            .more = "R_TILES tiles are reused, TILES_PER_SHARD tiles are streamed once. Shows sizes, miss rate,\n"
                    "pressure and the L1 of one core with addresses, placed by tt-metal's rule.\n",
            .max_inputs = 2,
        },
    [TTM_COMMAND_CB_SCAN] =
        {
            .name = "cb scan",
            .synopsis = "cb scan PATH...",
            .help = "circular buffers in TT-Metal sources, host against kernel",
            .more = "PATH is a C++ file or a folder. Finds every circular and dataflow buffer host code creates,\n"
                    "works out sizes, finds the kernels that push and pop them, and reports what cannot work.\n",
            .max_inputs = TTM_MAX_INPUTS,
            .exits = EXIT_CHECK,
        },
    [TTM_COMMAND_GRAPH] =
        {
            .name = "graph",
            .synopsis = "graph CAPTURE.json... [options]",
            .help = "ttnn graph captures: tt-metal's numbers and the true ones",
            .more = "CAPTURE.json is what ttnn.graph.end_graph_capture or end_graph_capture_to_file gives, of any\n"
                    "version, plain or compressed; several are several ranks. The other reports take captures too.\n",
            .max_inputs = TTM_MAX_INPUTS,
        },
    [TTM_COMMAND_TRAIN] =
        {
            .name = "train",
            .synopsis = "train --logs FILE [options]",
            .help = "memory of a training run: phases, sizes, does it fit",
            .more = "FILE holds the summaries that tt-train prints, one or many, plain or compressed. B is in\n"
                    "bytes; 12GB and 512MB work too. OUT is the histogram and ends in .png or .svg.\n",
            .max_inputs = 1,
            .exits = EXIT_CHECK,
        },
    [TTM_COMMAND_SERVE] =
        {
            .name = "serve",
            .synopsis = "serve [REPORT|DIR]",
            .help = "reports in a browser, also over SSH",
            .more = "REPORT is the folder of a report, or its name in ~/.ttmem/reports; DIR holds reports;\n"
                    "without either, all of ~/.ttmem/reports is served. The address is printed; Ctrl-C stops.\n",
            .max_inputs = 1,
            .exits = "0 it was ended (Ctrl-C); 2 wrong usage, or nothing to serve",
        },
    [TTM_COMMAND_RUN] =
        {
            .name = "run",
            .synopsis = "run [options] -- COMMAND",
            .help = "run a program, keep its log, write the report",
            .more = "The program's output is shown as it comes (both streams, in order, on standard output) and\n"
                    "written to ./logs/NAME_YYYYMMDD_HHMMSS/NAME_profile.log; the report goes beside it. A .py file\n"
                    "is run by python3 -u, of the active virtual environment if there is one. The logger variables\n"
                    "of a full log are set where you have not.\n"
                    "What a Python program allocates with ttnn is recorded, with the lines of the program. With\n"
                    "--board B it runs on a mock board: ttnn's real allocator, no hardware (B: n150, n300, t3k,\n"
                    "galaxy, p100, p150, p300, or the path of a cluster descriptor).\n",
            .max_inputs = 1,
            .rest = TTM_REST_FIRST,
            .exits = EXIT_PROGRAM,
        },
    [TTM_COMMAND_LIVE] =
        {
            .name = "live",
            .synopsis = "live [options]",
            .help = "what running programs hold on the chips of this machine",
            .more = "Reads what every ttnn process (0.70 and later) keeps in /dev/shm (TTMEM_SHM_DIR replaces it);\n"
                    "the programs are not touched. A screen on a terminal, else a line for each change; --json\n"
                    "gives the devices as JSON. Numbers are bytes over all banks, of processes that live.\n",
            .exits = "0 it was ended (q, Ctrl-C), or looked once; "
                     "1 a mark of --alarm was reached (while it runs: without --exec); "
                     "2 wrong usage, or with --once no device to look at",
        },
    [TTM_COMMAND_CB_LOG] =
        {
            .name = "cb log",
            .synopsis = "cb log [FILE|-]",
            .help = "L1, kernels and clashes in a TT-Metal log or memory report",
            .more = "FILE is a log of TT-Metal's own logger (any version, coloured or not, compressed or not) or one\n"
                    "of the CSV files of ttnn.dump_device_memory_state. Without FILE a demonstration log is read.\n",
            .max_inputs = 1,
        },
    [TTM_COMMAND_CB_ALL] =
        {
            .name = "cb all",
            .synopsis = "cb all [R T | --multi] [--source PATH] [--log FILE]",
            .help = "simulation, source and log together, over workloads",
            .more = "With two numbers of tiles one workload in detail, else a table over many.\n",
            .max_inputs = 2,
        },
    [TTM_COMMAND_LAST_RUN] =
        {
            .name = "last-run",
            .synopsis = "last-run LOG [-o OUT]",
            .help = "the log of the last run only, without warm-up",
            .more = "Copies the last top-level run of a program to the end of the log, and the dumps of the modules\n"
                    "it executes, to OUT or standard output. LOG itself is never changed; it may be compressed, or\n"
                    "'-' for standard input. With --marker a run is what stands between two lines with TEXT.\n",
            .max_inputs = 1,
        },
    [TTM_COMMAND_DOCTOR] =
        {
            .name = "doctor",
            .synopsis = "doctor [LOG]",
            .help = "what is missing from a log, and how to get it",
            .more = "Checks the log, the environment and the build, and gives the commands that help. A graph\n"
                    "capture or a recording needs neither of the last two.\n",
            .max_inputs = 1,
            .exits = "0 all is fine; 1 something was found; 2 wrong usage, or a log that cannot be read",
        },
    [TTM_COMMAND_HELP] =
        {
            .name = "help",
            .synopsis = "help [COMMAND]",
            .help = "help on a command",
            .max_inputs = 2,
        },
    [TTM_COMMAND_PROFILE] =
        {
            .program = TTM_PROGRAM_PROFILER,
            .synopsis = "[options] SCRIPT.py [ARGS]",
            .help = "run a script, keep its log, write the report",
            .more = "  tt-memory-profiler SCRIPT.py [ARGS]   run, log, JSON files and HTML page (ttmem run)\n"
                    "  tt-memory-profiler --log SCRIPT.py    run and log only\n"
                    "  tt-memory-profiler --analyze LOG      report of an existing log (ttmem analyze)\n"
                    "  tt-memory-profiler --visualize DIR    HTML page of a report folder (ttmem html)\n\n"
                    "A run goes to ./logs/SCRIPT_YYYYMMDD_HHMMSS/, never to a folder that is there already.\n"
                    "Options stand before the script.\n",
            .max_inputs = 1,
            .rest = TTM_REST_FIRST,
            .exits = EXIT_PROGRAM,
        },
};

const char *ttm_program_name(ttm_program program) {
  return program == TTM_PROGRAM_PROFILER ? "tt-memory-profiler" : "ttmem";
}
