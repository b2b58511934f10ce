/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <ctype.h>

#include "base/format.h"
#include "cli/terminal.h"

enum { OPTION_COLUMN = 28, COMMAND_COLUMN = 32, HELP_COLUMNS = 80 };

/* Ends the line that began at byte `start` with a text from `column` on, below itself where it is long. */
static void put_right(ttm_buf *out, size_t start, size_t column, const char *text) {
  if (out->n - start >= column) ttm_buf_char(out, '\n'), start = out->n;
  ttm_pad_to(out, start, column);
  ttm_put_paragraph(out, ttm_str_of(text), column, column, HELP_COLUMNS, TTM_FORM_ASCII);
  ttm_buf_char(out, '\n');
}

static void put_option(ttm_buf *out, ttm_option option) {
  const ttm_option_row *row = &ttm_option_table[option];
  size_t start = out->n;
  if (row->letter)
    ttm_buf_printf(out, "  -%c, --%s", row->letter, row->name);
  else
    ttm_buf_printf(out, "      --%s", row->name);
  if (row->value)
    ttm_buf_printf(out,
                   row->kind == TTM_VALUE_CHOICE  ? "=%s"
                   : row->kind == TTM_VALUE_MAYBE ? "[=%s]"
                                                  : " %s",
                   row->value);
  put_right(out, start, OPTION_COLUMN, row->help);
}

/* All commands of the program, or those whose name starts with `group`. */
static void put_commands(ttm_buf *out, ttm_program program, const char *group) {
  ttm_buf_puts(out, "Commands:\n");
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    if (!ttm_command_is_in(*c, program, group)) continue;
    size_t start = out->n;
    ttm_buf_printf(out, "  %s", (*c)->synopsis);
    put_right(out, start, COMMAND_COLUMN, (*c)->help);
  }
}

/* Each line of `text` as a paragraph, or, indented, as it stands. */
static void put_lines(ttm_buf *out, const char *text, bool as_they_stand) {
  ttm_str rest = ttm_str_of(text);
  for (size_t end; rest.n; rest = end == TTM_NOT_FOUND ? (ttm_str){"", 0} : ttm_str_from(rest, end + 1)) {
    end = ttm_str_find_char(rest, '\n');
    ttm_str line = ttm_str_first(rest, end);
    if (as_they_stand)
      ttm_buf_puts(out, "  "), ttm_buf_put(out, line);
    else
      ttm_put_paragraph(out, line, 0, 0, HELP_COLUMNS, TTM_FORM_ASCII);
    ttm_buf_char(out, '\n');
  }
}

static void put_exit(ttm_buf *out, const char *exits) {
  ttm_buf_puts(out, "\nExit status: ");
  ttm_put_paragraph(out, ttm_str_of(exits), 13, 13, HELP_COLUMNS, TTM_FORM_ASCII);
  ttm_buf_puts(out, ".\nEnvironment: TTMEM_HOME (instead of ~/.ttmem), NO_COLOR, CLICOLOR_FORCE.\n");
}

static void put_command_help(ttm_buf *out, const ttm_command *c) {
  ttm_buf_printf(out, "Usage: %s %s\n\n%c%s.\n", ttm_program_name(c->program), c->synopsis,
                 toupper((unsigned char)c->help[0]), c->help + 1);
  if (c->more) put_lines(out, c->more, false);
  ttm_buf_puts(out, "\nOptions:\n");
  for (const ttm_option *o = c->takes; o && *o != TTM_OPTIONS; o++) put_option(out, *o);
  put_option(out, TTM_OPTION_HELP);
  if (c->program == TTM_PROGRAM_PROFILER) put_option(out, TTM_OPTION_VERSION);
  if (c->examples) ttm_buf_puts(out, "\nExamples:\n"), put_lines(out, c->examples, true);
  put_exit(out, c->exits ? c->exits : "0 done; 2 wrong usage, unreadable input or no data");
}

static void put_program_help(ttm_buf *out, ttm_program program) {
  ttm_buf_printf(out, "%s: where the memory of a Tenstorrent device goes, from the log of a run.\n\n",
                 ttm_program_name(program));
  put_commands(out, program, NULL);
  ttm_buf_puts(out, "\nOptions:\n");
  put_option(out, TTM_OPTION_HELP);
  put_option(out, TTM_OPTION_VERSION);
  ttm_buf_puts(out,
               "\n'ttmem help COMMAND' shows the options of a command.\n\nExamples:\n"
               "  ttmem run -- python3 model.py\n"
               "  ttmem analyze model_profile.log\n"
               "  ttmem --llm --logfile model_profile.log -o report.md\n");
  put_exit(
      out,
      "0 done; 1 a check failed (--check, --budget, --baseline, fit --board, an alarm of live, a finding of doctor); "
      "2 wrong usage, unreadable input or no data. 'run' exits with the status of the program");
}

int ttm_help_print(const ttm_options *options, const ttm_command *command, ttm_error *err) {
  ttm_buf text = {0};
  if (command) {
    put_command_help(&text, command);
  } else if (options->group) {
    put_commands(&text, options->program, options->group);
    ttm_buf_printf(&text, "\n'ttmem help %s COMMAND' shows the options of a command.\n", options->group);
  } else {
    put_program_help(&text, options->program);
  }
  return ttm_terminal_print(&text, err);
}

void ttm_usage_write(ttm_buf *out, ttm_program program) {
  const char *name = ttm_program_name(program);
  const char *lead = "Usage:";
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    if ((*c)->program != program) continue;
    ttm_buf_printf(out, "%-6s %s %s\n", lead, name, (*c)->synopsis);
    lead = "";
  }
  if (program == TTM_PROGRAM_TTMEM) ttm_buf_puts(out, "On a terminal, ttmem alone starts the interactive program.\n");
  ttm_buf_printf(out, "Try '%s --help'.\n", name);
}

/* ---- ttmem help ----------------------------------------------------------------------------------------------------- */

static int print_all(ttm_error *err) {
  ttm_buf text = {0};
  put_program_help(&text, TTM_PROGRAM_TTMEM);
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    ttm_buf_puts(&text, "\n--------------------------------------------------------------------------------\n\n");
    put_command_help(&text, *c);
  }
  return ttm_terminal_print(&text, err);
}

static int run(const ttm_options *options, ttm_error *err) {
  const char *first = options->inputs ? options->input[0] : NULL,
             *second = options->inputs > 1 ? options->input[1] : NULL;
  ttm_options topic = {.program = options->program};
  bool all = options->given[TTM_OPTION_ALL], man = options->given[TTM_OPTION_MAN];
  if (all && first) return ttm_error_set(err, TTM_EUSAGE, "'--all' is help on every command; '%s' is one", first);
  if (all) return man ? ttm_man_print_all(err) : print_all(err);
  const ttm_command *command = first ? ttm_command_find(options->program, first, second) : NULL;
  if (first && !second && ttm_command_is_group(options->program, first)) topic.group = first;
  if (man && (!first || command)) return ttm_man_print(command, err);
  if (!first || command || topic.group) return ttm_help_print(&topic, command, err);
  return ttm_error_set(err, TTM_EUSAGE, "there is no command '%s%s%s'; 'ttmem --help' lists all commands", first,
                       second ? " " : "", second ? second : "");
}

const ttm_command ttm_command_help = {
    .name = "help",
    .synopsis = "help [COMMAND]",
    .help = "help on a command, or with --all on every one",
    .more = "--man prints a page for man: ttmem help --man analyze | man -l -. 'make install' installs all of them.",
    .max_inputs = 2,
    .takes = TTM_TAKES(TTM_OPTION_ALL, TTM_OPTION_MAN),
    .run = run};
