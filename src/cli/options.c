/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/suggest.h"

#define ROW_OF(name) &ttm_command_##name,
const ttm_command *const ttm_commands[] = {TTM_COMMANDS(ROW_OF) NULL};

const char *ttm_program_name(ttm_program program) {
  return program == TTM_PROGRAM_PROFILER ? "tt-memory-profiler" : "ttmem";
}

/* ---- Looking up --------------------------------------------------------------------------------------------------- */

bool ttm_command_takes(const ttm_command *command, ttm_option option) {
  if (option == TTM_OPTION_HELP || option == TTM_OPTION_VERSION) return true;
  const ttm_option *at = command ? command->takes : NULL;
  while (at && *at != TTM_OPTIONS && *at != option) at++;
  return at && *at == option;
}

static bool is_of_program(ttm_option option, ttm_program program) {
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    if ((*c)->program == program && ttm_command_takes(*c, option)) return true;
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

/* TTM_OPTIONS when there is none. Two commands may give one name two meanings: the command's own comes first, when it is known already;
 * --version without a command, or with one that has none of its own, asks for ours. */
static ttm_option find_option(const ttm_options *out, const char *name, size_t length) {
  ttm_option found = TTM_OPTIONS;
  for (ttm_option o = 0; o < TTM_OPTIONS; o++) {
    if (!is_of_program(o, out->program) || !is_name(ttm_option_table[o].name, name, length)) continue;
    if (o != TTM_OPTION_VERSION && ttm_command_takes(out->command, o)) return o;
    if (found == TTM_OPTIONS || o == TTM_OPTION_VERSION) found = o;
  }
  return found;
}

static ttm_option find_letter(ttm_program program, char letter) {
  ttm_option o = 0;
  while (o < TTM_OPTIONS && (ttm_option_table[o].letter != letter || !is_of_program(o, program))) o++;
  return o;
}

/* True when the command's name is `first`, or "first second". */
static bool is_called(const ttm_command *command, const char *first, const char *second) {
  const char *name = command->name;
  size_t n = strlen(first);
  if (!name) return false;
  if (!second) return !strcmp(name, first) || (name[0] == '-' && !strcmp(name + 2, first));
  return !strncmp(name, first, n) && name[n] == ' ' && !strcmp(name + n + 1, second);
}

const ttm_command *ttm_command_find(ttm_program program, const char *name, const char *second) {
  const ttm_command *const *c = ttm_commands;
  while (*c && ((*c)->program != program || !is_called(*c, name, second))) c++;
  return *c;
}

bool ttm_command_is_in(const ttm_command *command, ttm_program program, const char *group) {
  size_t n = group ? strlen(group) : 0;
  if (command->program != program || !group) return command->program == program;
  return command->name && !strncmp(command->name, group, n) && command->name[n] == ' ';
}

bool ttm_command_is_group(ttm_program program, const char *word) {
  const ttm_command *const *c = ttm_commands;
  if (ttm_command_find(program, word, NULL)) return false; /* "history" does something by itself */
  while (*c && !ttm_command_is_in(*c, program, word)) c++;
  return *c != NULL;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------- */

static int unknown_option(const ttm_options *out, const char *word, size_t length, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word + 2, length > 2 ? length - 2 : 0);
  for (ttm_option o = 0; o < TTM_OPTIONS; o++) {
    if (is_of_program(o, out->program)) ttm_suggest_try(&best, ttm_option_table[o].name);
  }
  if (best.word)
    return ttm_error_set(err, TTM_EUSAGE, "unknown option '%.*s'; did you mean '--%s'?", (int)length, word, best.word);
  bool named = out->command && out->command != &ttm_command_profile;
  return ttm_error_set(err, TTM_EUSAGE, "unknown option '%.*s'; '%s%s%s --help' lists the options", (int)length, word,
                       ttm_program_name(out->program), named ? " " : "", named ? out->command->name : "");
}

/* The second word of a command of two is missing ("") or wrong. */
static int unknown_in_group(const char *group, const char *word, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word, strlen(word));
  char all[200] = "";
  size_t n = strlen(group);
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    if (!ttm_command_is_in(*c, TTM_PROGRAM_TTMEM, group)) continue;
    const char *second = (*c)->name + n + 1;
    ttm_suggest_try(&best, second);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? ", " : "", second);
  }
  if (!*word) return ttm_error_set(err, TTM_EUSAGE, "'%s' needs a subcommand: %s", group, all);
  if (best.word)
    return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s %s'; did you mean '%s %s'?", group, word, group,
                         best.word);
  return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s %s'; the subcommands are: %s", group, word, all);
}

static int unknown_command(const char *word, ttm_error *err) {
  ttm_suggestion best = ttm_suggest_start(word, strlen(word));
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    const char *name = (*c)->name;
    if (name && name[0] != '-' && !strchr(name, ' ')) ttm_suggest_try(&best, name);
  }
  if (best.word) return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; did you mean '%s'?", word, best.word);
  if (strpbrk(word, "./") || !access(word, F_OK))
    return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; if this is a log, run 'ttmem analyze %s'", word, word);
  return ttm_error_set(err, TTM_EUSAGE, "unknown command '%s'; 'ttmem --help' lists all commands", word);
}

/* ---- Values -------------------------------------------------------------------------------------------------------- */

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
  ttm_str rest = ttm_str_of(text);
  char *end;
  if (ttm_str_take_u64(&rest, out) && !rest.n) return true;
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

static int take(ttm_options *out, ttm_option option, const char *value, ttm_error *err) {
  const ttm_option_row *row = &ttm_option_table[option];
  if (!*value)
    return ttm_error_set(err, TTM_EUSAGE, "the value of option '--%s' is empty: --%s %s", row->name, row->name,
                         row->value);
  if ((row->kind == TTM_VALUE_CHOICE || row->kind == TTM_VALUE_MAYBE) && !is_choice(row->value, value)) {
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
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' is given more than %d times", row->name, TTM_MAX_MANY);
    out->many[out->many_count++] = (ttm_option_value){(ttm_option)option, value};
  }
  if (option == TTM_OPTION_PER) out->per_chip = !strcmp(value, "chip");
  out->value[option] = value;
  return TTM_OK;
}

int ttm_options_default(ttm_options *options, ttm_option option, const char *value, ttm_error *err) {
  static ttm_options unused;
  bool used = ttm_command_takes(options->command, option) && !options->given[option];
  int status = take(used ? options : &unused, option, value, err);
  if (!status && used) options->given[option] = true;
  return status;
}

/* ---- Words --------------------------------------------------------------------------------------------------------- */

typedef struct words {
  int argc, at;
  char *const *argv;
} words;

/* True for a word that starts as one of our options does. */
static bool is_option(const ttm_options *out, const char *word) {
  if (word[1] == '-') return find_option(out, word + 2, strcspn(word + 2, "=")) != TTM_OPTIONS;
  return find_letter(out->program, word[1]) != TTM_OPTIONS;
}

/* The value of an option: what follows it in the same word, or the next word. A word that looks like an option is no value. */
static int take_value(ttm_options *out, words *w, ttm_option option, const char *attached, ttm_error *err) {
  const ttm_option_row *row = &ttm_option_table[option];
  out->given[option] = true;
  if (row->kind == TTM_VALUE_NONE) {
    if (!attached) return TTM_OK;
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' takes no value", row->name);
  }
  const char *next = !attached && w->at + 1 < w->argc ? w->argv[w->at + 1] : NULL;
  if (row->kind == TTM_VALUE_MAYBE && !attached && !(next && is_choice(row->value, next))) return TTM_OK;
  if (!attached) {
    if (next && next[0] == '-' && next[1] && !is_option(out, next))
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a value: --%s %s; if '%s' is it: --%s=%s", row->name,
                           row->name, row->value, next, row->name, next);
    if (!next || (next[0] == '-' && next[1]))
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a value: --%s %s", row->name, row->name, row->value);
    attached = next;
    w->at++;
  }
  return take(out, option, attached, err);
}

static int parse_long(ttm_options *out, words *w, ttm_error *err) {
  const char *word = w->argv[w->at];
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  ttm_option option = find_option(out, word + 2, length - 2);
  if (option == TTM_OPTIONS) return unknown_option(out, word, length, err);
  return take_value(out, w, option, equals ? equals + 1 : NULL, err);
}

/* One word of short options: -q, -qh, -oFILE, -o FILE. */
static int parse_short(ttm_options *out, words *w, ttm_error *err) {
  for (const char *letter = w->argv[w->at] + 1; *letter; letter++) {
    ttm_option option = find_letter(out->program, *letter);
    if (option == TTM_OPTIONS && letter == w->argv[w->at] + 1 && letter[1])
      return ttm_error_set(err, TTM_EUSAGE, "unknown option '-%.1s'; a file of that name is './%s'", letter,
                           letter - 1);
    if (option == TTM_OPTIONS) return unknown_option(out, (char[]){'-', *letter, '\0'}, 2, err);
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
  ttm_rest_rule rest = out->command ? out->command->rest : TTM_REST_NEVER;
  if (rest == TTM_REST_BEHIND_DASHES) return behind_dashes && out->inputs == out->command->max_inputs;
  return rest == TTM_REST_FIRST && out->inputs == 1;
}

static int take_input(ttm_options *out, const words *w, ttm_error *err) {
  const char *word = w->argv[w->at];
  bool may_be_command = !out->command && !out->inputs;
  if (out->group && may_be_command) {
    out->command = ttm_command_find(out->program, out->group, word);
    return out->command ? TTM_OK : unknown_in_group(out->group, word, err);
  }
  const ttm_command *longer = out->command && !out->inputs && out->command->name
                                  ? ttm_command_find(out->program, out->command->name, word)
                                  : NULL;
  if (longer) return out->command = longer, TTM_OK; /* "history" is a command, "history bisect" another */
  if (may_be_command && ttm_command_is_group(out->program, word)) return out->group = word, TTM_OK;
  if (may_be_command && (out->command = ttm_command_find(out->program, word, NULL))) return TTM_OK;
  if (may_be_command && !asks_for_llm(w)) return unknown_command(word, err);
  if (out->inputs <= TTM_MAX_INPUTS) out->input[out->inputs++] = word;
  return TTM_OK;
}

/* --llm is a command too; `help --llm` asks about it. */
static int settle_llm(ttm_options *out, ttm_error *err) {
  if (out->command == &ttm_command_help) {
    out->given[TTM_OPTION_LLM] = false;
    out->input[0] = "--llm";
    out->inputs = 1;
    return TTM_OK;
  }
  if (out->command)
    return ttm_error_set(err, TTM_EUSAGE, "'--llm' and '%s' are two commands; give one of them", out->command->name);
  out->command = &ttm_command_llm;
  return TTM_OK;
}

/* The command takes the option, which may name its argument. */
static int settle_option(ttm_options *out, ttm_option o, ttm_error *err) {
  const ttm_option_row *row = &ttm_option_table[o];
  if (!out->command && !ttm_command_takes(NULL, o))
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a command; 'ttmem --help' lists them", row->name);
  if (!ttm_command_takes(out->command, o))
    return ttm_error_set(err, TTM_EUSAGE, "option '--%s' does not go with '%s'", row->name, out->command->name);
  if (row->kind != TTM_VALUE_INPUT) return TTM_OK;
  if (out->inputs)
    return ttm_error_set(err, TTM_EUSAGE, "unexpected argument '%s': '--%s' names the input", out->input[0], row->name);
  out->input[out->inputs++] = out->value[o];
  return TTM_OK;
}

static int settle_inputs(const ttm_options *out, const ttm_command *command, ttm_error *err) {
  size_t most = command->max_inputs;
  for (size_t i = 0; i < out->inputs; i++) {
    if (!*out->input[i]) return ttm_error_set(err, TTM_EUSAGE, "an argument of '%s' is empty", command->name);
  }
  if (out->inputs < command->min_inputs)
    return ttm_error_set(err, TTM_EUSAGE, "%s needs %s", command->name, command->needs);
  if (out->inputs > most && most == TTM_MAX_INPUTS)
    return ttm_error_set(err, TTM_EUSAGE, "more than %d files; name their folder instead", TTM_MAX_INPUTS);
  return out->inputs > most ? ttm_error_set(err, TTM_EUSAGE, "unexpected argument '%s'", out->input[most]) : TTM_OK;
}

/* What only makes sense once all words are known: which command, and whether its options and arguments fit. */
static int settle(ttm_options *out, ttm_error *err) {
  int status = out->given[TTM_OPTION_LLM] ? settle_llm(out, err) : TTM_OK;
  if (status || out->given[TTM_OPTION_HELP] || out->given[TTM_OPTION_VERSION]) return status;
  if (out->group && !out->command) return unknown_in_group(out->group, "", err);
  for (ttm_option o = 0; o < TTM_OPTIONS && !status; o++) {
    if (out->given[o]) status = settle_option(out, o, err);
  }
  if (out->given[TTM_OPTION_ANALYZE]) out->command = &ttm_command_analyze; /* tt-memory-profiler --analyze LOG */
  if (out->given[TTM_OPTION_VISUALIZE]) out->command = &ttm_command_html;
  return status || !out->command ? status : settle_inputs(out, out->command, err);
}

int ttm_options_parse(ttm_options *out, ttm_program program, int argc, char *const *argv, ttm_error *err) {
  words w = {argc, 1, argv};
  bool options_over = false;
  *out = (ttm_options){.program = program, .command = program == TTM_PROGRAM_PROFILER ? &ttm_command_profile : NULL};
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
    if (status) break; /* help wins over later errors */
    if (starts_rest(out, options_over && strcmp(word, "--") != 0)) {
      out->rest = argv + w.at;
      break;
    }
  }
  return settle(out, err);
}
