/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "launch/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

enum { NAME_LIMIT = 150 };

static bool is_python_file(const char *word) {
  size_t n = strlen(word);
  return n > 3 && !strcmp(word + n - 3, ".py");
}

static int check_script(const char *script, ttm_error *err) {
  struct stat st;
  if (stat(script, &st)) {
    if (errno == ENOENT) return ttm_error_set(err, TTM_EUSAGE, "there is no script '%s'", script);
    return ttm_error_set(err, TTM_EUSAGE, "cannot read the script '%s': %s", script, strerror(errno));
  }
  if (S_ISDIR(st.st_mode)) return ttm_error_set(err, TTM_EUSAGE, "'%s' is a folder, not a script", script);
  if (access(script, R_OK))
    return ttm_error_set(err, TTM_EUSAGE, "cannot read the script '%s': %s", script, strerror(errno));
  return TTM_OK;
}

/* The Python of the active virtual environment, else the one in PATH. */
static int choose_python(ttm_buf *out, ttm_error *err) {
  static const char *const names[] = {"/bin/python3", "/bin/python"};
  const char *environment = getenv("VIRTUAL_ENV");
  if (!environment || !*environment) {
    ttm_buf_puts(out, "python3");
    ttm_buf_char(out, '\0');
    return out->failed ? ttm_error_nomem(err) : TTM_OK;
  }
  for (size_t i = 0; i < 2; i++) {
    ttm_buf_clear(out);
    ttm_buf_puts(out, environment);
    ttm_buf_puts(out, names[i]);
    ttm_buf_char(out, '\0');
    if (out->failed) return ttm_error_nomem(err);
    if (!access(out->at, X_OK)) return TTM_OK;
  }
  return ttm_error_set(err, TTM_EUSAGE,
                       "the active virtual environment has no Python: %s/bin/python3 is not there "
                       "(VIRTUAL_ENV; 'deactivate' leaves it)",
                       environment);
}

/* Can it be started, as execvp would look for it? Known before a folder is made for its log. */
static int check_program(const char *program, ttm_error *err) {
  struct stat st;
  if (strchr(program, '/')) {
    if (stat(program, &st)) return ttm_error_set(err, TTM_EUSAGE, "there is no program '%s'", program);
    if (S_ISDIR(st.st_mode)) return ttm_error_set(err, TTM_EUSAGE, "'%s' is a folder, not a program", program);
    if (!access(program, X_OK)) return TTM_OK;
    return ttm_error_set(err, TTM_EUSAGE, "'%s' is not executable; 'chmod +x %s' makes it so", program, program);
  }
  const char *path = getenv("PATH");
  ttm_buf candidate = {0};
  bool found = !path; /* without a PATH the system has a default of its own */
  for (; path && !found; path = *path ? path + 1 : NULL) {
    size_t n = strcspn(path, ":");
    ttm_buf_clear(&candidate);
    ttm_buf_printf(&candidate, "%.*s%s%s", (int)n, path, n ? "/" : "", program);
    ttm_buf_char(&candidate, '\0');
    found = !candidate.failed && !stat(candidate.at, &st) && S_ISREG(st.st_mode) && !access(candidate.at, X_OK);
    path += n;
  }
  ttm_buf_free(&candidate);
  if (found) return TTM_OK;
  return ttm_error_set(err, TTM_EUSAGE, "there is no program '%s' in PATH", program);
}

/* "pytest -q tests/test_x.py" is a run of test_x; a command without any script goes by its own name. */
static const char *naming_word(char *const *words) {
  for (size_t i = 0; words[i]; i++) {
    if (is_python_file(words[i])) return words[i];
  }
  return words[0];
}

/* Its file name without ".py", and nothing a folder name should not hold. */
static void put_name(ttm_buf *out, const char *program) {
  ttm_str name = ttm_str_of(program);
  while (name.n > 1 && name.p[name.n - 1] == '/') name.n--;
  for (size_t i = name.n; i > 0; i--) {
    if (name.p[i - 1] != '/') continue;
    name = ttm_str_from(name, i);
    break;
  }
  if (name.n > 3 && ttm_str_ends(name, TTM_LIT(".py"))) name.n -= 3;
  while (name.n && name.p[0] == '.') name = ttm_str_from(name, 1);
  name = ttm_utf8_head(name, NAME_LIMIT);
  if (!name.n) ttm_buf_puts(out, "program");
  for (size_t length; name.n; name = ttm_str_from(name, length)) {
    uint32_t c = ttm_utf8_first(name, &length);
    ttm_buf_put(out, ttm_utf8_hides(c) || c == '/' ? TTM_LIT("-") : ttm_str_first(name, length));
  }
}

int ttm_launch_plan_make(ttm_launch_plan *plan, char *const *words, bool always_script, const char *name,
                         ttm_error *err) {
  size_t n = 0, at = 0;
  *plan = (ttm_launch_plan){.is_script = always_script || is_python_file(words[0])};
  int status = plan->is_script ? check_script(words[0], err) : TTM_OK;
  if (!status && plan->is_script) status = choose_python(&plan->interpreter, err);
  if (!status) status = check_program(plan->is_script ? plan->interpreter.at : words[0], err);
  if (status) return status;
  while (words[n]) n++;
  plan->argv = ttm_alloc((n + 3) * sizeof *plan->argv);
  if (!plan->argv) return ttm_error_nomem(err);
  if (plan->is_script) {
    static char unbuffered[] = "-u"; /* its own output in order with the runtime's */
    plan->argv[at++] = plan->interpreter.at;
    plan->argv[at++] = unbuffered;
  }
  for (size_t i = 0; i < n; i++) plan->argv[at++] = words[i];
  if (name)
    ttm_buf_puts(&plan->name, name);
  else
    put_name(&plan->name, plan->is_script ? words[0] : naming_word(words));
  ttm_buf_char(&plan->name, '\0');
  return plan->name.failed ? ttm_error_nomem(err) : TTM_OK;
}

void ttm_launch_plan_free(ttm_launch_plan *plan) {
  ttm_free(plan->argv);
  ttm_buf_free(&plan->interpreter);
  ttm_buf_free(&plan->name);
}
