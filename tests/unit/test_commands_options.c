/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: what becomes of its words, and what is said when they are wrong. */
#include "base/str.h"
#include "cli/options.h"
#include "cli/suggest.h"
#include "unit.h"

enum { MAX_WORDS = 12 };

/* Parses a command line given as words ending in NULL, the program's name first. */
static int parse(ttm_options *out, ttm_error *err, const char *const *given) {
  static char *argv[MAX_WORDS + 1]; /* `rest` points into it */
  int argc = 0;
  ttm_program program = strcmp(given[0], "ttmem") ? TTM_PROGRAM_PROFILER : TTM_PROGRAM_TTMEM;
  for (; given[argc]; argc++) argv[argc] = (char *)given[argc];
  argv[argc] = NULL;
  return ttm_options_parse(out, program, argc, argv, err);
}

#define PARSE(...) parse(&options, &err, (const char *const[]){__VA_ARGS__, NULL})

#define FAILS(wanted, ...)                            \
  do {                                                \
    assert_int_equal(PARSE(__VA_ARGS__), TTM_EUSAGE); \
    assert_string_equal(err.message, wanted);         \
  } while (0)

static ttm_options options;
static ttm_error err;

static void the_seeds_commands(void **state) {
  (void)state;
  assert_int_equal(PARSE("ttmem", "--llm", "--logfile", "a.log", "-o", "out.md"), 0);
  assert_ptr_equal(options.command, &ttm_command_llm);
  assert_string_equal(options.input[0], "a.log");
  assert_string_equal(options.value[TTM_OPTION_OUTPUT], "out.md");
  assert_int_equal(PARSE("tt-memory-profiler", "--analyze", "a.log", "--output-dir", "d"), 0);
  assert_ptr_equal(options.command, &ttm_command_analyze);
  assert_string_equal(options.input[0], "a.log");
  assert_int_equal(PARSE("ttmem", "a.log", "--llm"), 0); /* the log may come first */
  assert_ptr_equal(options.command, &ttm_command_llm);
  assert_string_equal(options.input[0], "a.log");
  assert_int_equal(PARSE("ttmem", "help", "--llm"), 0);
  assert_ptr_equal(options.command, &ttm_command_help);
  assert_string_equal(options.input[0], "--llm");
  assert_int_equal(PARSE("ttmem"), 0);
  assert_ptr_equal(options.command, NULL);
}

static void every_way_to_give_a_value(void **state) {
  (void)state;
  assert_int_equal(PARSE("ttmem", "analyze", "x", "--threads=2", "--name=n=1", "-dD", "-q"), 0);
  assert_int_equal(options.threads, 2);
  assert_string_equal(options.value[TTM_OPTION_NAME], "n=1");
  assert_string_equal(options.value[TTM_OPTION_OUTPUT_DIR], "D");
  assert_true(options.given[TTM_OPTION_QUIET]);
  assert_int_equal(PARSE("ttmem", "--threads", "4", "analyze", "-qj", "8", "x"), 0);
  assert_int_equal(options.threads, 8);
  assert_string_equal(options.input[0], "x");
  assert_int_equal(PARSE("ttmem", "analyze", "--", "-q"), 0);
  assert_string_equal(options.input[0], "-q");
  assert_int_equal(PARSE("ttmem", "--llm", "--logfile", "-"), 0);
  assert_string_equal(options.value[TTM_OPTION_LOGFILE], "-");
  assert_false(options.per_chip);
  assert_int_equal(PARSE("ttmem", "ask", "x", "--at-peak", "--per", "chip"), 0);
  assert_true(options.per_chip);
  assert_int_equal(PARSE("ttmem", "ask", "x", "--at-peak", "--per", "bank"), 0);
  assert_false(options.per_chip);
  assert_int_equal(PARSE("ttmem", "analyze", "-"), 0);
  assert_string_equal(options.input[0], "-");
}

static void help_wins(void **state) {
  (void)state;
  assert_int_equal(PARSE("ttmem", "--help", "analyze"), 0);
  assert_ptr_equal(options.command, &ttm_command_analyze);
  assert_int_equal(PARSE("ttmem", "analyze", "-h", "--bogus"), 0);
  assert_true(options.given[TTM_OPTION_HELP]);
}

static void mistakes_get_an_answer(void **state) {
  (void)state;
  FAILS("unknown option '--lgofile'; did you mean '--logfile'?", "ttmem", "--llm", "--lgofile", "x");
  FAILS("unknown option '--lgofile'; did you mean '--logfile'?", "ttmem", "--llm", "--lgofile=x");
  FAILS("unknown option '--out'; did you mean '--output'?", "ttmem", "--llm", "--out", "x");
  FAILS("unknown option '--frobnicate'; 'ttmem --help' lists the options", "ttmem", "--frobnicate");
  FAILS("unknown option '-x'; 'ttmem --help' lists the options", "ttmem", "-x");
  FAILS("unknown command 'analyse'; did you mean 'analyze'?", "ttmem", "analyse", "x");
  FAILS("unknown command 'x.log'; if this is a log, run 'ttmem analyze x.log'", "ttmem", "x.log");
  FAILS("unknown command 'zzz'; 'ttmem --help' lists all commands", "ttmem", "zzz");
  FAILS("option '--logfile' needs a value: --logfile LOG", "ttmem", "--llm", "--logfile");
  FAILS("option '--logfile' needs a value: --logfile LOG", "ttmem", "--llm", "--logfile", "-o", "x");
  FAILS("option '--logfile' needs a value: --logfile LOG; if '-x.log' is it: --logfile=-x.log", "ttmem", "--llm",
        "--logfile", "-x.log");
  FAILS("option '--op' needs a value: --op N; if '-1' is it: --op=-1", "ttmem", "ask", "x", "--op", "-1");
  FAILS("the value of option '--logfile' is empty: --logfile LOG", "ttmem", "--llm", "--logfile", "");
  FAILS("unknown option '-x'; a file of that name is './-x.log'", "ttmem", "analyze", "-x.log");
  FAILS("an argument of 'analyze' is empty", "ttmem", "analyze", "");
  FAILS("unknown command 'ANALYZE'; did you mean 'analyze'?", "ttmem", "ANALYZE");
  FAILS("unknown option '--QUIET'; did you mean '--quiet'?", "ttmem", "analyze", "--QUIET");
  FAILS("option '--quiet' takes no value", "ttmem", "analyze", "--quiet=yes");
  FAILS("option '--threads' takes a number from 1 to 256, not '0'", "ttmem", "analyze", "--threads", "0");
  FAILS("option '--threads' takes a number from 1 to 256, not '2x'", "ttmem", "analyze", "--threads=2x");
  FAILS("option '--threads' takes a number from 1 to 256, not '99999999999999999999'", "ttmem", "analyze",
        "--threads=99999999999999999999");
  FAILS("option '--color' takes auto|always|never, not 'red'", "ttmem", "analyze", "--color", "red");
  FAILS("option '--output-dir' does not go with '--llm'", "ttmem", "--llm", "--logfile", "x", "--output-dir", "d");
  FAILS("option '--threads' needs a command; 'ttmem --help' lists them", "ttmem", "--threads", "2");
  FAILS("'--llm' and 'analyze' are two commands; give one of them", "ttmem", "analyze", "x", "--llm");
  FAILS("'--llm' and 'analyze' are two commands; give one of them", "ttmem", "--llm", "analyze", "x");
  FAILS("unexpected argument 'y'", "ttmem", "doctor", "x", "y");
  FAILS("unexpected argument 'y'", "ttmem", "doctor", "x", "y", "z");
  FAILS("unexpected argument 'y': '--logfile' names the input", "ttmem", "--llm", "--logfile", "x", "y");
  FAILS("analyze needs a log: ttmem analyze LOG ('-' reads standard input)", "ttmem", "analyze");
  FAILS("unknown option '--llm'; 'tt-memory-profiler --help' lists the options", "tt-memory-profiler", "--llm");
}

static void distances(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    size_t distance;
  } cases[] = {{"", "", 0},       {"abc", "abc", 0},         {"abc", "", 3},
               {"abc", "acb", 1}, {"lgofile", "logfile", 1}, {"kitten", "sitting", 3},
               {"ABC", "abc", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *a = cases[i].a, *b = cases[i].b;
    assert_int_equal(ttm_edit_distance(a, strlen(a), b, strlen(b)), cases[i].distance);
    assert_int_equal(ttm_edit_distance(b, strlen(b), a, strlen(a)), cases[i].distance);
  }
  char long_word[200];
  memset(long_word, 'a', sizeof long_word);
  assert_true(ttm_edit_distance(long_word, sizeof long_word, "a", 1) > 40);
}

/* The help and the suggestions lean on the tables: no row may be half filled, or mean two things. */
static void the_tables_are_whole(void **state) {
  (void)state;
  bool taken[TTM_OPTIONS] = {[TTM_OPTION_HELP] = true, [TTM_OPTION_VERSION] = true};
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    const ttm_command *command = *c;
    assert_non_null(command->name && command->synopsis && command->help ? command->run : NULL);
    assert_true(command->min_inputs <= command->max_inputs && command->max_inputs <= TTM_MAX_INPUTS);
    assert_true(command->logs <= command->max_inputs && command->logs <= 2);
    assert_int_equal(command->min_inputs > 0, command->needs != NULL);
    for (const ttm_option *o = command->takes; o && *o != TTM_OPTIONS; o++) {
      taken[*o] = true;
      for (const ttm_option *other = command->takes; other < o; other++)
        assert_string_not_equal(ttm_option_table[*o].name, ttm_option_table[*other].name);
    }
  }
  for (int o = 0; o < TTM_OPTIONS; o++) {
    const ttm_option_row *row = &ttm_option_table[o];
    assert_true(taken[o]);
    assert_non_null(row->name);
    assert_non_null(row->help);
    assert_true((row->kind == TTM_VALUE_NONE) == !row->value);
    for (int other = 0; other < o && row->letter; other++)
      assert_int_not_equal(row->letter, ttm_option_table[other].letter);
  }
}

static void commands_of_two_words_and_repeated_options(void **state) {
  (void)state;
  assert_int_equal(PARSE("ttmem", "cb", "--cb", "a=1", "simulate", "16", "--cb=b=2", "8", "--l1-base", "4096"), 0);
  assert_ptr_equal(options.command, &ttm_command_cb_simulate);
  assert_int_equal(options.many_count, 2);
  assert_string_equal(options.many[0].value, "a=1");
  assert_string_equal(options.many[1].value, "b=2");
  assert_int_equal(options.many[1].option, TTM_OPTION_CB);
  assert_int_equal(options.bytes[TTM_OPTION_L1_BASE], 4096);
  assert_string_equal(options.input[0], "16");
  assert_string_equal(options.input[1], "8");
  assert_ptr_equal(ttm_command_find(TTM_PROGRAM_TTMEM, "cb", "simulate"), &ttm_command_cb_simulate);
  assert_ptr_equal(ttm_command_find(TTM_PROGRAM_TTMEM, "cb", NULL), NULL);
  assert_false(ttm_command_is_group(TTM_PROGRAM_TTMEM, "c"));
  static const struct {
    const char *text;
    uint64_t bytes;
  } sizes[] = {{"0", 0},         {"18446744073709551615", UINT64_MAX},
               {"1.2e3", 1200},  {"12GB", UINT64_C(12) << 30},
               {"1.5KiB", 1536}, {"2M", 2 << 20},
               {"7B", 7},        {"1TiB", UINT64_C(1) << 40}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    assert_int_equal(PARSE("ttmem", "train", "x", "--device_memory", sizes[i].text), 0);
    assert_int_equal(options.bytes[TTM_OPTION_DEVICE_MEMORY], sizes[i].bytes);
  }
  for (const char *const *wrong =
           (const char *const[]){"x", "1k", "-1", "1GBs", "0x10", "1e300", "GB", "nan", " 1", NULL};
       *wrong; wrong++) {
    assert_int_equal(PARSE("ttmem", "train", "--model_size", *wrong), TTM_EUSAGE);
  }
  assert_int_equal(PARSE("ttmem", "train", "--use-actual-sizes", "--l1_base=1"),
                   TTM_EUSAGE); /* known, but of another command */
  assert_int_equal(PARSE("ttmem", "train", "x", "--use-actual-sizes", "--visualize_peak"), 0);
  assert_true(options.given[TTM_OPTION_USE_ACTUAL_SIZES]);
  FAILS("option '--l1-base' takes a number of bytes, not '1k'", "ttmem", "cb", "simulate", "--l1-base", "1k");
  FAILS("unknown command 'cb simulat'; did you mean 'cb simulate'?", "ttmem", "cb", "simulat");
}

static void a_program_and_its_arguments(void **state) {
  (void)state;
  assert_int_equal(PARSE("ttmem", "run", "-q", "--", "python3", "-q", "--help"), 0);
  assert_ptr_equal(options.command, &ttm_command_run);
  assert_string_equal(options.rest[0], "python3");
  assert_string_equal(options.rest[2], "--help");
  assert_false(options.given[TTM_OPTION_HELP]);
  assert_int_equal(PARSE("ttmem", "run", "model.py", "--output-dir", "d"), 0);
  assert_null(options.value[TTM_OPTION_OUTPUT_DIR]);
  assert_string_equal(options.rest[1], "--output-dir");
  assert_int_equal(PARSE("tt-memory-profiler", "--log", "--output-dir", "d", "model.py", "--analyze", "x"), 0);
  assert_true(options.given[TTM_OPTION_LOG]);
  assert_string_equal(options.value[TTM_OPTION_OUTPUT_DIR], "d");
  assert_null(options.value[TTM_OPTION_ANALYZE]);
  assert_string_equal(options.rest[0], "model.py");
  FAILS("run needs a command: ttmem run -- python3 model.py", "ttmem", "run");
  assert_int_equal(PARSE("ttmem", "fit", "--json", "--", "python3", "model.py", "--json=x"), 0);
  assert_string_equal(options.rest[2], "--json=x");
  assert_int_equal(PARSE("ttmem", "fit", "a.log", "--json"), 0); /* a log, unless it stands behind the dashes */
  assert_null(options.rest);
  assert_string_equal(options.input[0], "a.log");
  assert_int_equal(PARSE("ttmem", "fit", "a.log", "--", "model.py"), TTM_EUSAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_seeds_commands),        cmocka_unit_test(commands_of_two_words_and_repeated_options),
      cmocka_unit_test(every_way_to_give_a_value), cmocka_unit_test(help_wins),
      cmocka_unit_test(mistakes_get_an_answer),    cmocka_unit_test(distances),
      cmocka_unit_test(the_tables_are_whole),      cmocka_unit_test(a_program_and_its_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
