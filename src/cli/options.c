/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <string.h>

#include "cli/option_parts.h"

typedef struct words {
  int argc, at;
  char *const *argv;
} words;

/* True for a word that starts as one of our options does. */
static bool is_option(const ttm_options *out, const char *word) {
  if (word[1] == '-') return ttm_option_find(out, word + 2, strcspn(word + 2, "=")) != TTM_OPTIONS;
  return ttm_option_find_letter(out->program, word[1]) != TTM_OPTIONS;
}

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
    if (next && next[0] == '-' && next[1] && !is_option(out, next))
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a value: --%s %s; if '%s' is it: --%s=%s", row->name,
                           row->name, row->value, next, row->name, next);
    if (!next || (next[0] == '-' && next[1]))
      return ttm_error_set(err, TTM_EUSAGE, "option '--%s' needs a value: --%s %s", row->name, row->name, row->value);
    attached = next;
    w->at++;
  }
  return ttm_option_take(out, option, attached, err);
}

static int parse_long(ttm_options *out, words *w, ttm_error *err) {
  const char *word = w->argv[w->at];
  const char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word) : strlen(word);
  int option = ttm_option_find(out, word + 2, length - 2);
  if (option == TTM_OPTIONS) return ttm_option_unknown(out->program, word, length, err);
  return take_value(out, w, option, equals ? equals + 1 : NULL, err);
}

/* One word of short options: -q, -qh, -oFILE, -o FILE. */
static int parse_short(ttm_options *out, words *w, ttm_error *err) {
  for (const char *letter = w->argv[w->at] + 1; *letter; letter++) {
    int option = ttm_option_find_letter(out->program, *letter);
    if (option == TTM_OPTIONS && letter == w->argv[w->at] + 1 && letter[1])
      return ttm_error_set(err, TTM_EUSAGE, "unknown option '-%.1s'; a file of that name is './%s'", letter,
                           letter - 1);
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
  ttm_rest rest = ttm_command_table[command].rest;
  return out->inputs == 1 && (rest == TTM_REST_FIRST || (rest == TTM_REST_BEHIND_DASHES && behind_dashes));
}

static int take_input(ttm_options *out, const words *w, ttm_error *err) {
  const char *word = w->argv[w->at];
  bool may_be_command = out->program == TTM_PROGRAM_TTMEM && out->command == TTM_COMMAND_NONE && !out->inputs;
  if (out->group && may_be_command) {
    out->command = ttm_command_find(out->program, out->group, word);
    return out->command == TTM_COMMAND_NONE ? ttm_command_unknown_in(out->group, word, err) : TTM_OK;
  }
  if (may_be_command && ttm_command_is_group(out->program, word)) return out->group = word, TTM_OK;
  ttm_command command = may_be_command ? ttm_command_find(out->program, word, NULL) : TTM_COMMAND_NONE;
  if (command != TTM_COMMAND_NONE) return out->command = command, TTM_OK;
  if (may_be_command && !asks_for_llm(w)) return ttm_command_unknown(word, err);
  if (out->inputs <= TTM_MAX_INPUTS) out->input[out->inputs++] = word;
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
  if (out->group && out->command == TTM_COMMAND_NONE) return ttm_command_unknown_in(out->group, "", err);
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
  for (size_t i = 0; i < out->inputs; i++) {
    if (!*out->input[i])
      return ttm_error_set(err, TTM_EUSAGE, "an argument of '%s' is empty", command->name ? command->name : "ttmem");
  }
  if (out->inputs > command->max_inputs && command->max_inputs == TTM_MAX_INPUTS) {
    return ttm_error_set(err, TTM_EUSAGE, "'%s' is one file too many, %d at most; name their folder",
                         out->input[command->max_inputs], TTM_MAX_INPUTS);
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
