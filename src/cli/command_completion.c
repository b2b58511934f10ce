/* SPDX-License-Identifier: Apache-2.0 */
/* ttmem completion SHELL: the script that makes a shell complete ttmem. ttmem completion -- WORDS: what the script asks when Tab is pressed; the
 * tables of options and commands answer, so that no script knows them a second time. */
#include <string.h>

#include "base/boards.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "store/catalog.h"
#include "store/report_dir.h"

/* ---- Scripts ---------------------------------------------------------------------------------------------------------- */

/* Each line of the answer is a word, a tab and what it means; ":files" stands for the names of files. */
static const struct {
  const char *shell, *script;
} scripts[] = {
    {"bash",
     "# bash: source <(ttmem completion bash), or this file as ttmem in a folder of bash-completion\n"
     "_ttmem() {\n"
     "  local line cur=${COMP_WORDS[COMP_CWORD]}\n"
     "  COMPREPLY=()\n"
     "  [ \"$cur\" = = ] && cur=\n"
     "  while IFS= read -r line; do\n"
     "    if [ \"$line\" = :files ]; then\n"
     "      compopt -o filenames 2>/dev/null\n"
     "      while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- \"$cur\")\n"
     "    else\n"
     "      line=${line%%$'\\t'*}\n"
     "      [[ $line == *= ]] && compopt -o nospace 2>/dev/null\n"
     "      COMPREPLY+=(\"$line\")\n"
     "    fi\n"
     "  done < <(command \"${COMP_WORDS[0]}\" completion -- \"${COMP_WORDS[@]:0:COMP_CWORD+1}\" 2>/dev/null)\n"
     "}\n"
     "complete -F _ttmem ttmem\n"},
    {"zsh",
     "#compdef ttmem\n"
     "# zsh: source <(ttmem completion zsh), or this file as _ttmem in a folder of $fpath\n"
     "_ttmem() {\n"
     "  local line files=0\n"
     "  local -a found\n"
     "  for line in ${(f)\"$(command ${words[1]} completion -- \"${(@)words[1,CURRENT]}\" 2>/dev/null)\"}; do\n"
     "    if [[ $line == :files ]]; then files=1; else found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\"); fi\n"
     "  done\n"
     "  (( $#found )) && _describe -V ttmem found\n"
     "  (( files )) && _files\n"
     "}\n"
     "if [[ ${funcstack[1]} == _ttmem ]]; then _ttmem \"$@\"; else compdef _ttmem ttmem; fi\n"},
    {"fish",
     "# fish: ttmem completion fish | source, or this file as ~/.config/fish/completions/ttmem.fish\n"
     "function __ttmem\n"
     "  set -l words (commandline -opc) (commandline -ct)\n"
     "  command $words[1] completion -- $words 2>/dev/null | while read -l line\n"
     "    if test \"$line\" = :files\n"
     "      __fish_complete_path (commandline -ct)\n"
     "    else\n"
     "      echo $line\n"
     "    end\n"
     "  end\n"
     "end\n"
     "complete -c ttmem -f -a '(__ttmem)'\n"},
};
enum { SHELLS = sizeof scripts / sizeof *scripts };

/* ---- Words ------------------------------------------------------------------------------------------------------------- */

typedef struct asked {
  char *const *words; /* behind the program's name */
  size_t n;           /* before the one that is being typed */
  const char *now;
  const ttm_command *command; /* NULL: not known yet */
  size_t used;                /* words that are its name */
  ttm_buf *out;
} asked;

/* One word of the answer: `before` is what stands already in front of it in the same word. */
static void offer(asked *a, ttm_str before, ttm_str word, const char *help) {
  ttm_str typed = ttm_str_of(a->now);
  if (!ttm_str_take(&typed, before) || !ttm_str_starts(word, typed)) return;
  ttm_buf_put(a->out, before);
  ttm_buf_put(a->out, word);
  ttm_buf_printf(a->out, "\t%s\n", help);
}

static void offer_text(asked *a, const char *word, const char *help) { offer(a, TTM_LIT(""), ttm_str_of(word), help); }

/* The words of commands behind those that stand there; "cb" once for all of its commands. */
static void offer_commands(asked *a, const char *group) {
  ttm_str last = TTM_LIT("");
  for (const ttm_command *const *c = ttm_commands; *c; c++) {
    if (!(*c)->name || !ttm_command_is_in(*c, TTM_PROGRAM_TTMEM, group)) continue;
    ttm_str name = ttm_str_of((*c)->name);
    if (group) name = ttm_str_from(name, strlen(group) + 1);
    size_t blank = ttm_str_find_char(name, ' ');
    bool folded = blank != TTM_NOT_FOUND;
    name = ttm_str_first(name, blank);
    if (name.n && name.p[0] != '-' && !ttm_str_eq(name, last))
      offer(a, TTM_LIT(""), name, folded ? "several commands" : (*c)->help);
    last = name;
  }
}

static bool is_plain(const char *name) {
  while (*name && (unsigned char)*name >= ' ') name++;
  return !*name;
}

static void offer_reports(asked *a) {
  ttm_buf root = {0};
  ttm_catalog all = {0};
  int status = ttm_report_root(&root, NULL);
  ttm_buf_char(&root, '\0');
  if (!status && !root.failed && !ttm_catalog_read(&all, root.at, NULL))
    for (size_t i = 0; i < all.entries.n; i++)
      if (is_plain(all.entries.at[i].folder)) offer_text(a, all.entries.at[i].folder, "report");
  ttm_catalog_free(&all);
  ttm_buf_free(&root);
}

static void offer_files(asked *a) { ttm_buf_puts(a->out, ":files\n"); }

/* ---- Values of options ------------------------------------------------------------------------------------------------- */

static void offer_choices(asked *a, ttm_str before, ttm_str choices) {
  while (choices.n) offer(a, before, ttm_str_take_to(&choices, '|'), "");
}

/* Boards may be several, separated by commas. */
static void offer_boards(asked *a, ttm_str before) {
  ttm_str typed = ttm_str_of(a->now);
  for (size_t i = before.n; i < typed.n; i++)
    if (typed.p[i] == ',') before = ttm_str_first(typed, i + 1);
  for (size_t i = 0; i < TTM_BOARDS; i++) offer(a, before, ttm_str_of(ttm_boards[i].name), "board");
}

static void offer_value(asked *a, ttm_option option, ttm_str before) {
  const ttm_option_row *row = &ttm_option_table[option];
  if (option == TTM_OPTION_BOARD) return offer_boards(a, before);
  if (row->kind == TTM_VALUE_CHOICE || row->kind == TTM_VALUE_MAYBE)
    return offer_choices(a, before, ttm_str_of(row->value));
  if (row->kind == TTM_VALUE_COUNT || row->kind == TTM_VALUE_PORT || row->kind == TTM_VALUE_BYTES || before.n) return;
  if (row->kind == TTM_VALUE_INPUT) offer_reports(a);
  offer_files(a);
}

/* The option that a word names, without its value; TTM_OPTIONS. */
static ttm_option option_of(const asked *a, ttm_str word) {
  for (ttm_option o = 0; o < TTM_OPTIONS; o++) {
    const ttm_option_row *row = &ttm_option_table[o];
    ttm_str name = word;
    bool is = ttm_str_take(&name, TTM_LIT("--"))
                  ? ttm_str_eq(name, ttm_str_of(row->name))
                  : word.n == 2 && word.p[0] == '-' && row->letter && word.p[1] == row->letter;
    if (is && ttm_command_takes(a->command, o)) return o;
  }
  return TTM_OPTIONS;
}

static void offer_options(asked *a) {
  for (ttm_option o = 0; o < TTM_OPTIONS; o++) {
    if (!ttm_command_takes(a->command, o)) continue;
    ttm_buf name = {0};
    ttm_buf_printf(&name, "--%s%s", ttm_option_table[o].name, ttm_option_table[o].kind == TTM_VALUE_CHOICE ? "=" : "");
    if (!name.failed) offer(a, TTM_LIT(""), ttm_buf_str(&name), ttm_option_table[o].help);
    a->out->failed |= name.failed;
    ttm_buf_free(&name);
  }
}

/* "--color=al" */
static bool offer_joined(asked *a) {
  ttm_str now = ttm_str_of(a->now);
  size_t equals = ttm_str_find_char(now, '=');
  if (equals == TTM_NOT_FOUND || now.p[0] != '-') return false;
  ttm_option option = option_of(a, ttm_str_first(now, equals));
  if (option != TTM_OPTIONS) offer_value(a, option, ttm_str_first(now, equals + 1));
  return true;
}

/* ---- The answer ------------------------------------------------------------------------------------------------------- */

static bool is_there(const asked *a, const char *word) {
  for (size_t i = 0; i < a->n; i++)
    if (!strcmp(a->words[i], word)) return true;
  return false;
}

static void find_command(asked *a) {
  const char *first = a->n ? a->words[0] : NULL, *second = a->n > 1 ? a->words[1] : NULL;
  if (is_there(a, "--llm")) a->command = &ttm_command_llm;
  if (a->command || !first) return;
  a->command = second ? ttm_command_find(TTM_PROGRAM_TTMEM, first, second) : NULL;
  a->used = 2;
  if (a->command) return;
  a->command = ttm_command_find(TTM_PROGRAM_TTMEM, first, NULL);
  a->used = 1;
}

static void offer_inputs(asked *a) {
  if (a->command == &ttm_command_help) return offer_commands(a, a->n > 1 ? a->words[1] : NULL);
  if (a->command == &ttm_command_completion) {
    for (size_t i = 0; i < SHELLS; i++) offer_text(a, scripts[i].shell, "shell");
    return;
  }
  if (a->n == 1 && a->command->name) offer_commands(a, a->command->name);
  if (a->command->logs || a->command->reports) offer_reports(a);
  offer_files(a);
}

static void answer(asked *a) {
  find_command(a);
  if (!a->command && a->n < 2) {
    if (!a->n) offer_text(a, "--llm", ttm_command_llm.help);
    return offer_commands(a, a->n ? a->words[0] : NULL);
  }
  if (!a->command || is_there(a, "--")) return offer_files(a);
  if (offer_joined(a)) return;
  ttm_option last = a->n > a->used ? option_of(a, ttm_str_of(a->words[a->n - 1])) : TTM_OPTIONS;
  if (last != TTM_OPTIONS && ttm_option_table[last].kind != TTM_VALUE_NONE &&
      ttm_option_table[last].kind != TTM_VALUE_MAYBE)
    return offer_value(a, last, TTM_LIT(""));
  if (a->now[0] == '-') return offer_options(a);
  offer_inputs(a);
}

/* bash makes a word of its own of the "=" in "--color=al". */
static int answer_words(char *const *words, ttm_buf *out) {
  size_t all = 0, n = 0;
  while (words[all]) all++;
  char **kept = ttm_alloc((all + 1) * sizeof *kept);
  if (!kept) return TTM_ENOMEM;
  for (size_t i = 1; i < all; i++)
    if (strcmp(words[i], "=") != 0 || i + 1 == all) kept[n++] = words[i];
  asked a = {.words = kept, .n = n ? n - 1 : 0, .now = n ? kept[n - 1] : "", .out = out};
  if (!strcmp(a.now, "=")) a.now = "";
  answer(&a);
  ttm_free(kept);
  return TTM_OK;
}

static int run(const ttm_options *options, ttm_error *err) {
  ttm_buf text = {0};
  const char *shell = options->input[0];
  if (options->rest) {
    if (answer_words(options->rest, &text)) return ttm_error_nomem(err);
    return ttm_terminal_print(&text, err);
  }
  for (size_t i = 0; i < SHELLS; i++) {
    if (strcmp(scripts[i].shell, shell) != 0) continue;
    ttm_buf_puts(&text, scripts[i].script);
    return ttm_terminal_print(&text, err);
  }
  return ttm_error_set(err, TTM_EUSAGE, "there is no completion for '%s'; it is there for bash, zsh and fish", shell);
}

const ttm_command ttm_command_completion = {
    .name = "completion",
    .synopsis = "completion bash|zsh|fish",
    .help = "the script by which a shell completes ttmem",
    .more =
        "Commands, options, their values, boards, reports and files are completed. 'make install' puts the scripts "
        "where the shells find them. With '-- WORDS' the answer to the words typed so far is printed: this is what the "
        "scripts ask.",
    .examples = "source <(ttmem completion bash)\nttmem completion fish | source",
    .min_inputs = 1,
    .max_inputs = 1,
    .needs = "a shell: ttmem completion bash, zsh or fish",
    .rest = TTM_REST_BEHIND_DASHES,
    .takes = TTM_TAKES(TTM_OPTION_HELP),
    .run = run,
};
