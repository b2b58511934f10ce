/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the command line as options and commands, and what to say when they are none. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/option_parts.h"
#include "cli/suggest.h"

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
int ttm_option_find(const ttm_options *out, const char *name, size_t length) {
  int found = TTM_OPTIONS;
  for (int o = 0; o < TTM_OPTIONS; o++) {
    const ttm_option_row *row = &ttm_option_table[o];
    if (!row_is_of(row, out->program) || !is_name(row->name, name, length)) continue;
    if (out->command != TTM_COMMAND_NONE && (row->commands >> out->command & 1)) return o;
    if (found == TTM_OPTIONS || row == &ttm_option_table[TTM_OPTION_VERSION]) found = o;
  }
  return found;
}

int ttm_option_find_letter(ttm_program program, char letter) {
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

int ttm_option_unknown(ttm_program program, const char *word, size_t length, ttm_error *err) {
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
int ttm_command_unknown_in(const char *group, const char *word, ttm_error *err) {
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

int ttm_command_unknown(const char *word, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word, strlen(word));
  for (int c = 1; c < TTM_COMMANDS; c++) {
    const ttm_command_row *row = &ttm_command_table[c];
    if (row->program == TTM_PROGRAM_TTMEM && row->name[0] != '-' && !strchr(row->name, ' '))
      ttm_suggest_try(&best, row->name);
  }
  if (best.word) return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; did you mean '%s'?", word, best.word);
  if (strpbrk(word, "./") || !access(word, F_OK)) {
    return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; if this is a log, run 'ttmem analyze %s'", word, word);
  }
  return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; 'ttmem --help' lists all of them", word);
}
