/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <ctype.h>

#include "base/format.h"

enum { OPTION_COLUMN = 28, COMMAND_COLUMN = 32, HELP_COLUMNS = 95 };

static void put_padded(ttm_buf *out, size_t start, size_t column) {
  do ttm_buf_char(out, ' ');
  while (!out->failed && out->n - start < column);
}

static void put_option(ttm_buf *out, const ttm_option_row *row) {
  size_t start = out->n;
  if (row->letter)
    ttm_buf_printf(out, "  -%c, ", row->letter);
  else
    ttm_buf_puts(out, "      ");
  ttm_buf_printf(out, "--%s", row->name);
  if (row->value) ttm_buf_printf(out, row->kind == TTM_VALUE_CHOICE ? "=%s" : " %s", row->value);
  if (out->n - start >= OPTION_COLUMN) ttm_buf_char(out, '\n'), start = out->n;
  put_padded(out, start, OPTION_COLUMN);
  ttm_buf_printf(out, "%s\n", row->help);
}

static void put_options(ttm_buf *out, ttm_command command) {
  ttm_buf_puts(out, "\nOptions:\n");
  for (int o = 0; o < TTM_OPTIONS; o++) {
    if (ttm_option_table[o].commands >> command & 1) put_option(out, &ttm_option_table[o]);
  }
}

static void put_command_help(ttm_buf *out, ttm_command command) {
  const ttm_command_row *row = &ttm_command_table[command];
  ttm_buf_printf(out, "Usage: %s %s\n\n%c%s.\n", ttm_program_name(row->program), row->synopsis,
                 toupper((unsigned char)row->help[0]), row->help + 1);
  if (row->more) ttm_buf_puts(out, row->more);
  put_options(out, command);
}

/* All commands of the program, or those whose name starts with `group`. */
static void put_commands(ttm_buf *out, ttm_program program, const char *group) {
  for (int c = 1; c < TTM_COMMANDS; c++) {
    const ttm_command_row *row = &ttm_command_table[c];
    if (row->program != program) continue;
    if (group && (strncmp(row->name, group, strlen(group)) != 0 || row->name[strlen(group)] != ' ')) continue;
    size_t start = out->n;
    ttm_buf_printf(out, "  %s", row->synopsis);
    if (out->n - start >= COMMAND_COLUMN) ttm_buf_char(out, '\n'), start = out->n;
    put_padded(out, start, COMMAND_COLUMN);
    ttm_buf_printf(out, "%s\n", row->help);
  }
}

static void put_examples(ttm_buf *out) {
  ttm_buf_puts(out,
               "\nExamples:\n"
               "  ttmem --llm --logfile model_profile.log -o report.md\n"
               "  ttmem analyze model_profile.log.zst\n"
               "  python3 -u model.py 2>&1 | tee model_profile.log | ttmem analyze - --name model\n");
}

static void put_exit(ttm_buf *out, ttm_command command) {
  const char *exits = ttm_command_table[command].exits;
  if (command == TTM_COMMAND_NONE)
    exits =
        "0 done; 1 a command that judges says no (--check, --budget, fit --board, an alarm of live, doctor); "
        "2 wrong usage, unreadable input, or nothing to report on. 'run' gives the exit status of the program";
  else if (!exits)
    exits = "0 done; 2 wrong usage, unreadable input, or nothing to report on";
  ttm_buf_puts(out, "\nExit status: ");
  ttm_put_paragraph(out, ttm_str_of(exits), 13, 13, HELP_COLUMNS, TTM_FORM_ASCII);
  ttm_buf_puts(out, ".\nEnvironment: TTMEM_HOME (instead of ~/.ttmem), NO_COLOR, CLICOLOR_FORCE.\n");
}

void ttm_usage_write(ttm_buf *out, ttm_program program) {
  const char *name = ttm_program_name(program);
  const char *lead = "Usage:";
  for (int c = 1; c < TTM_COMMANDS; c++) {
    if (ttm_command_table[c].program != program) continue;
    ttm_buf_printf(out, "%-6s %s %s\n", lead, name, ttm_command_table[c].synopsis);
    lead = "";
  }
  if (program == TTM_PROGRAM_TTMEM) ttm_buf_puts(out, "On a terminal, ttmem alone starts the interactive program.\n");
  ttm_buf_printf(out, "Try '%s --help'.\n", name);
}

void ttm_help_write_group(ttm_buf *out, ttm_program program, const char *group) {
  ttm_buf_puts(out, "Commands:\n");
  put_commands(out, program, group);
  ttm_buf_printf(out, "\n'%s help %s COMMAND' shows the options of a command.\n", ttm_program_name(program), group);
}

void ttm_help_write(ttm_buf *out, ttm_program program, ttm_command command) {
  if (program == TTM_PROGRAM_PROFILER) command = TTM_COMMAND_PROFILE;
  if (command != TTM_COMMAND_NONE) {
    put_command_help(out, command);
  } else {
    ttm_buf_printf(out,
                   "%s: where the memory of a Tenstorrent device went, from the runtime log of a run.\n\nCommands:\n",
                   ttm_program_name(program));
    put_commands(out, program, NULL);
    put_options(out, TTM_COMMAND_NONE);
    ttm_buf_puts(out, "\n'ttmem help COMMAND' shows the options of a command.\n");
    put_examples(out);
  }
  put_exit(out, command);
}
