/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages, from the same rows as --help. */
#include <ctype.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "ttmem/version.h"

/* Text as it stands: no character of it means anything to man. */
static void put(ttm_buf *out, ttm_str text) {
  bool begins = true; /* a line */
  for (size_t i = 0; i < text.n; i++) {
    if (begins && (text.p[i] == '.' || text.p[i] == '\'')) ttm_buf_puts(out, "\\&");
    if (text.p[i] == '\\')
      ttm_buf_puts(out, "\\e");
    else if (text.p[i] == '-')
      ttm_buf_puts(out, "\\-");
    else
      ttm_buf_char(out, text.p[i]);
    begins = text.p[i] == '\n';
  }
}

static void put_text(ttm_buf *out, const char *text) { put(out, ttm_str_of(text)); }

/* Each line is a paragraph, or an example. */
static void put_lines(ttm_buf *out, const char *text, bool examples) {
  ttm_str rest = ttm_str_of(text);
  if (examples) ttm_buf_puts(out, ".nf\n");
  while (rest.n) {
    put(out, ttm_str_take_to(&rest, '\n'));
    ttm_buf_puts(out, examples || !rest.n ? "\n" : "\n.PP\n");
  }
  if (examples) ttm_buf_puts(out, ".fi\n");
}

static void put_option(ttm_buf *out, ttm_option option) {
  const ttm_option_row *row = &ttm_option_table[option];
  ttm_buf_puts(out, ".TP\n");
  if (row->letter) ttm_buf_printf(out, "\\fB\\-%c\\fR, ", row->letter);
  ttm_buf_puts(out, "\\fB\\-\\-");
  put_text(out, row->name);
  ttm_buf_puts(out, "\\fR");
  if (row->value) {
    bool choice = row->kind == TTM_VALUE_CHOICE, maybe = row->kind == TTM_VALUE_MAYBE;
    ttm_buf_puts(out, choice ? "=\\fI" : maybe ? "[=\\fI" : " \\fI");
    put_text(out, row->value);
    ttm_buf_puts(out, maybe ? "\\fR]" : "\\fR");
  }
  ttm_buf_char(out, '\n');
  put_text(out, row->help);
  ttm_buf_char(out, '\n');
}

/* "ttmem-cb-scan" */
static void put_page_name(ttm_buf *out, const ttm_command *command, const char *dash) {
  ttm_buf_puts(out, ttm_program_name(command ? command->program : TTM_PROGRAM_TTMEM));
  if (!command || command->program == TTM_PROGRAM_PROFILER) return;
  ttm_str name = ttm_str_of(command->name);
  if (name.n && name.p[0] == '-') name = ttm_str_from(name, 2); /* --llm */
  while (name.n) {
    ttm_buf_puts(out, dash);
    ttm_buf_put(out, ttm_str_take_to(&name, ' '));
  }
}

static void put_head(ttm_buf *out, const ttm_command *command, const char *what) {
  size_t start;
  ttm_buf_puts(out, ".TH ");
  start = out->n;
  put_page_name(out, command, "-");
  for (size_t i = start; i < out->n; i++) out->at[i] = (char)toupper((unsigned char)out->at[i]);
  ttm_buf_printf(out, " 1 \"\" \"ttmem %s\" \"Tenstorrent memory profiler\"\n.SH NAME\n", TTM_VERSION);
  put_page_name(out, command, "\\-");
  ttm_buf_puts(out, " \\- ");
  put_text(out, what);
  ttm_buf_char(out, '\n');
}

static void put_exit(ttm_buf *out, const char *exits) {
  ttm_buf_puts(out, ".SH EXIT STATUS\n");
  put_text(out, exits);
  ttm_buf_puts(out, ".\n");
}

static void put_command(ttm_buf *out, const ttm_command *c) {
  put_head(out, c, c->help);
  ttm_buf_printf(out, ".SH SYNOPSIS\n\\fB%s\\fR ", ttm_program_name(c->program));
  put_text(out, c->synopsis);
  ttm_buf_char(out, '\n');
  if (c->more) ttm_buf_puts(out, ".SH DESCRIPTION\n"), put_lines(out, c->more, false);
  ttm_buf_puts(out, ".SH OPTIONS\n");
  for (const ttm_option *o = c->takes; o && *o != TTM_OPTIONS; o++) put_option(out, *o);
  put_option(out, TTM_OPTION_HELP);
  if (c->examples) ttm_buf_puts(out, ".SH EXAMPLES\n"), put_lines(out, c->examples, true);
  put_exit(out, c->exits ? c->exits : "0 done; 2 wrong usage, unreadable input or no data");
  ttm_buf_puts(out, ".SH SEE ALSO\n.BR ttmem (1)\n");
}

static void put_program(ttm_buf *out) {
  put_head(out, NULL, "where the memory of a Tenstorrent device goes");
  ttm_buf_puts(out, ".SH SYNOPSIS\n\\fBttmem\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.SH COMMANDS\n");
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    if ((*c)->program != TTM_PROGRAM_TTMEM) continue;
    ttm_buf_puts(out, ".TP\n.B ");
    put_text(out, (*c)->synopsis);
    ttm_buf_char(out, '\n');
    put_text(out, (*c)->help);
    ttm_buf_puts(out, ": ");
    ttm_buf_puts(out, "\\fB");
    put_page_name(out, *c, "\\-");
    ttm_buf_puts(out, "\\fR(1)\n");
  }
  ttm_buf_puts(out,
               ".SH ENVIRONMENT\n.TP\n.B TTMEM_HOME\nwhere reports and history are kept, instead of ~/.ttmem\n"
               ".TP\n.BR NO_COLOR \", \" CLICOLOR_FORCE\ncolors never, or also where no terminal is\n");
}

int ttm_man_print(const ttm_command *command, ttm_error *err) {
  ttm_buf text = {0};
  if (command)
    put_command(&text, command);
  else
    put_program(&text);
  return ttm_terminal_print(&text, err);
}

int ttm_man_print_all(ttm_error *err) {
  ttm_buf text = {0};
  put_program(&text);
  for (const ttm_command *const *c = ttm_commands; *c; c++) put_command(&text, *c);
  return ttm_terminal_print(&text, err);
}
