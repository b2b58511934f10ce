/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cbscan/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

enum { MAX_FILE = 64 << 20, MAX_DEPTH = 64, HEADERS = 5, SOURCES = 9 };

/* ---- Folders -------------------------------------------------------------------------------------------------------- */

/* One of the first `n` endings: headers come first. */
static bool has_ending(ttm_str path, size_t n) {
  static const char *const endings[SOURCES] = {".hpp", ".hh", ".hxx", ".h", ".inl", ".cpp", ".cc", ".cxx", ".c"};
  for (size_t i = 0; i < n; i++) {
    if (ttm_str_ends(path, ttm_str_of(endings[i]))) return true;
  }
  return false;
}

bool cbs_is_header(ttm_str path) { return has_ending(path, HEADERS); }

static int add_file(cbs_scan *scan, const char *path) {
  size_t n = strlen(path) + 1;
  char *copy = ttm_arena_copy(&scan->arena, (ttm_str){path, n});
  return copy ? ttm_vec_push(&scan->files, (cbs_file){.path = copy}) : TTM_ENOMEM;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int add_folder(cbs_scan *scan, const char *path, int depth, ttm_error *err);

/* One entry of a folder. Links to folders are not followed: they may lead back. */
static int add_entry(cbs_scan *scan, const char *path, int depth, ttm_error *err) {
  struct stat st;
  if (lstat(path, &st)) return TTM_OK; /* gone meanwhile */
  if (S_ISLNK(st.st_mode) && (stat(path, &st) || S_ISDIR(st.st_mode))) return TTM_OK;
  if (S_ISDIR(st.st_mode)) return depth < MAX_DEPTH ? add_folder(scan, path, depth + 1, err) : TTM_OK;
  return S_ISREG(st.st_mode) && has_ending(ttm_str_of(path), SOURCES) ? add_file(scan, path) : TTM_OK;
}

static int add_folder(cbs_scan *scan, const char *path, int depth, ttm_error *err) {
  DIR *folder = opendir(path);
  TTM_VEC(char *) names = {0};
  ttm_arena texts = {0};
  int status = TTM_OK;
  if (!folder) return ttm_error_set(err, TTM_EIO, "cannot open the folder '%s': %s", path, strerror(errno));
  for (struct dirent *entry; !status && (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    ttm_buf name = {0};
    ttm_buf_printf(&name, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", entry->d_name);
    ttm_buf_char(&name, '\0');
    char *copy = name.failed ? NULL : ttm_arena_copy(&texts, ttm_buf_str(&name));
    status = copy ? ttm_vec_push(&names, copy) : TTM_ENOMEM;
    ttm_buf_free(&name);
  }
  closedir(folder);
  if (names.n) qsort(names.at, names.n, sizeof *names.at, by_text);
  for (size_t i = 0; !status && i < names.n; i++) status = add_entry(scan, names.at[i], depth, err);
  ttm_vec_free(&names);
  ttm_arena_free(&texts);
  return status;
}

int cbs_find_files(cbs_scan *scan, const char *path, ttm_error *err) {
  struct stat st;
  if (!*path || stat(path, &st)) {
    return ttm_error_set(err, TTM_EIO, "cannot read '%s': %s", path, strerror(*path ? errno : ENOENT));
  }
  int status = S_ISDIR(st.st_mode) ? add_folder(scan, path, 0, err) : add_file(scan, path);
  return status == TTM_ENOMEM ? ttm_error_nomem(err) : status;
}

int cbs_read_file(const char *path, ttm_arena *arena, ttm_str *out, ttm_error *err) {
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return ttm_error_set(err, TTM_EIO, "%s", strerror(errno));
  int status = TTM_OK;
  if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
    status = ttm_error_set(err, TTM_EIO, "not a regular file");
  } else if (st.st_size > MAX_FILE) {
    status = ttm_error_set(err, TTM_EIO, "larger than %d MB", MAX_FILE >> 20);
  } else {
    char *bytes = ttm_arena_alloc(arena, (size_t)st.st_size + 1);
    size_t n = 0;
    while (bytes && n < (size_t)st.st_size) {
      ssize_t got = read(fd, bytes + n, (size_t)st.st_size - n);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) status = ttm_error_set(err, TTM_EIO, "%s", strerror(errno));
      if (got <= 0) break; /* also of a file that has become shorter */
      n += (size_t)got;
    }
    *out = (ttm_str){bytes, n};
    if (!bytes) status = ttm_error_nomem(err);
  }
  close(fd);
  return status;
}

/* ---- Roles ---------------------------------------------------------------------------------------------------------- */

static bool has_any(ttm_str text, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (ttm_str_contains(text, ttm_str_of(words[i]))) return true;
  }
  return false;
}

/* A folder whose name starts with "kernel" stands in the path. */
static bool in_kernel_folder(ttm_str path) {
  for (size_t at; (at = ttm_str_find(path, TTM_LIT("kernel"))) != TTM_NOT_FOUND; path = ttm_str_from(path, at + 6)) {
    bool starts = at == 0 || path.p[at - 1] == '/';
    if (starts && ttm_str_find_char(ttm_str_from(path, at), '/') != TTM_NOT_FOUND) return true;
  }
  return false;
}

cbs_role cbs_role_of(ttm_str path, ttm_str text) {
  static const char *const host[] = {"CircularBuffer",     "create_cb",      "CBDescriptor",
                                     "format_descriptors", "DataflowBuffer", "entry_size"};
  static const char *const entry[] = {"kernel_main", "void MAIN", "namespace NAMESPACE"};
  static const char *const acts[] = {"reserve_back", "wait_front", "pop_front", "push_back"};
  static const char *const host_only[] = {"CircularBufferConfig", "CreateCircularBuffer", "CBDescriptor",
                                          "CreateKernel", "DataflowBufferSpec"};
  bool main = has_any(text, entry, 3), folder = in_kernel_folder(path);
  if (main || folder) {
    /* A host file may live beside its kernels, or speak of (or write) kernels. */
    bool hosts = main != folder && has_any(text, host_only, 5);
    if (!hosts) return main || has_any(text, acts, 4) ? CBS_FILE_KERNEL : CBS_FILE_OTHER;
  }
  return has_any(text, host, 6) ? CBS_FILE_HOST : CBS_FILE_OTHER;
}

/* ---- Preprocessor --------------------------------------------------------------------------------------------------- */

enum { MAX_NESTING = 64 };

typedef struct branches {
  bool keeps[MAX_NESTING]; /* the branch we are in counts */
  bool taken[MAX_NESTING]; /* one of the branches so far did */
  size_t depth;
} branches;

/* Follows one directive; true when it was one about branches. */
static bool follow_directive(branches *b, ttm_str line) {
  line = ttm_str_trim(line);
  if (!ttm_str_take(&line, TTM_LIT("#"))) return false;
  line = ttm_str_trim(line);
  if (ttm_str_starts(line, TTM_LIT("if"))) {
    bool outer = !b->depth || b->keeps[b->depth - 1];
    ttm_str condition = line;
    bool zero = ttm_str_take(&condition, TTM_LIT("if ")) && ttm_str_eq(ttm_str_trim(condition), TTM_LIT("0"));
    if (b->depth < MAX_NESTING) {
      b->keeps[b->depth] = outer && !zero;
      b->taken[b->depth++] = !zero;
    }
    return true;
  }
  if (ttm_str_starts(line, TTM_LIT("el"))) {
    if (!b->depth) return true;
    bool outer = b->depth < 2 || b->keeps[b->depth - 2];
    b->keeps[b->depth - 1] = outer && !b->taken[b->depth - 1];
    b->taken[b->depth - 1] = true;
    return true;
  }
  if (!ttm_str_starts(line, TTM_LIT("endif"))) return false;
  if (b->depth) b->depth--;
  return true;
}

static void choose_branches(char *copy, size_t n) {
  branches b = {0};
  for (size_t at = 0; at < n;) {
    ttm_str rest = {copy + at, n - at};
    size_t end = ttm_str_find_char(rest, '\n');
    size_t length = end == TTM_NOT_FOUND ? rest.n : end;
    bool directive = follow_directive(&b, ttm_str_first(rest, length));
    if (directive || (b.depth && !b.keeps[b.depth - 1])) memset(copy + at, ' ', length);
    at += length + 1;
  }
}

/* Blanks a word wherever it stands alone; true when it did. */
static bool blank_word(char *copy, size_t n, ttm_str word) {
  size_t first = cbs_find_word((ttm_str){copy, n}, word, 0);
  for (size_t at = first; at != TTM_NOT_FOUND; at = cbs_find_word((ttm_str){copy, n}, word, at)) {
    memset(copy + at, ' ', word.n);
  }
  return first != TTM_NOT_FOUND;
}

char *cbs_simplify(ttm_str text, bool choose, ttm_arena *arena) {
  static const char *const words[] = {"FORCE_INLINE", "ALWI",        "tt_l1_ptr",       "tt_reg_ptr",
                                      "SFPI_INLINE",  "sfpi_inline", "TT_ALWAYS_INLINE"};
  char *copy = ttm_arena_copy(arena, text);
  bool changed = choose && ttm_str_contains(text, TTM_LIT("#"));
  if (!copy) return NULL;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) changed |= blank_word(copy, text.n, ttm_str_of(words[i]));
  size_t entry = ttm_str_find(text, TTM_LIT("void MAIN"));
  if (entry != TTM_NOT_FOUND && !ttm_str_starts(ttm_str_from(text, entry), TTM_LIT("void MAIN("))) {
    memcpy(copy + entry, "void MA()", 9);
    changed = true;
  }
  if (choose) choose_branches(copy, text.n);
  return changed ? copy : NULL;
}

/* ---- Comments and literals ------------------------------------------------------------------------------------------ */

/* The end of the string or character at `at`, or of its line; R"x(...)x" goes over lines, and one byte beyond the text when nothing closes it. */
static size_t literal_end(ttm_str text, size_t at) {
  char quote = text.p[at];
  bool raw = quote == '"' && at && text.p[at - 1] == 'R';
  size_t open = raw ? ttm_str_find_char(ttm_str_first(ttm_str_from(text, at), 18), '(') : TTM_NOT_FOUND;
  if (open != TTM_NOT_FOUND) {
    char closing[20] = ")";
    memcpy(closing + 1, text.p + at + 1, open - 1);
    closing[open] = '"';
    size_t close = ttm_str_find(ttm_str_from(text, at + open), (ttm_str){closing, open + 1});
    return close == TTM_NOT_FOUND ? text.n + 1 : at + open + close + open + 1;
  }
  for (at++; at < text.n && text.p[at] != quote && text.p[at] != '\n'; at++) at += text.p[at] == '\\';
  return at < text.n ? at + 1 : text.n;
}

/* One byte beyond the text when nothing closes it. */
static size_t comment_end(ttm_str text, size_t at) {
  bool line = text.p[at + 1] == '/';
  ttm_str rest = ttm_str_from(text, at + 2);
  size_t end = line ? ttm_str_find_char(rest, '\n') : ttm_str_find(rest, TTM_LIT("*/"));
  return end == TTM_NOT_FOUND ? text.n + !line : at + 2 + end + (line ? 0 : 2);
}

/* The end of the comment, string or character that begins at `at`; the next byte when none does. */
static size_t piece_end(ttm_str text, size_t at, bool *comment) {
  char c = text.p[at], next = at + 1 < text.n ? text.p[at + 1] : 0;
  bool literal = c == '"' || (c == '\'' && !(at && cbs_is_word(text.p[at - 1]))); /* in 1'000 it is none */
  *comment = c == '/' && (next == '/' || next == '*');
  return literal ? literal_end(text, at) : *comment ? comment_end(text, at) : at + 1;
}

char *cbs_without_comments(ttm_str text, ttm_arena *arena) {
  char *copy = ttm_arena_copy(arena, text);
  for (size_t at = 0, end; copy && at < text.n; at = end) {
    bool comment;
    end = piece_end(text, at, &comment);
    for (size_t i = at; comment && i < end && i < text.n; i++)
      if (copy[i] != '\n') copy[i] = ' ';
  }
  return copy;
}

/* Whether a block, a comment or a string is open where the text ends. */
static bool ends_open(ttm_str text) {
  size_t depth = 0, at = 0;
  for (bool comment; at < text.n; at = piece_end(text, at, &comment)) {
    if (text.p[at] == '{') depth++;
    if (text.p[at] == '}' && depth) depth--;
  }
  return depth > 0 || at > text.n;
}

/* #if and #else may each open the same block: then one of them is chosen. */
int cbs_is_cut(ttm_str text, ttm_arena *arena, bool *out) {
  *out = ends_open(text);
  if (!*out || !ttm_str_contains(text, TTM_LIT("#"))) return TTM_OK;
  char *chosen = cbs_simplify(text, true, arena);
  *out = chosen && ends_open((ttm_str){chosen, text.n});
  return chosen ? TTM_OK : TTM_ENOMEM;
}

/* ---- Constants of headers ------------------------------------------------------------------------------------------- */

/* A decimal or hexadecimal number and nothing else. */
static bool whole_number(ttm_str text, int64_t *value) {
  char digits[32];
  char *end;
  text = ttm_str_trim(text);
  while (text.n && strchr("uUlL", text.p[text.n - 1])) text.n--;
  if (!text.n || text.n >= sizeof digits || text.p[0] < '0' || text.p[0] > '9') return false;
  memcpy(digits, text.p, text.n);
  digits[text.n] = 0;
  errno = 0;
  long long number = strtoll(digits, &end, 0);
  if (*end || errno) return false;
  *value = number;
  return true;
}

static int add_constant(cbs_defines *out, ttm_str left, ttm_str right) {
  int64_t value;
  left = ttm_str_trim(left);
  size_t start = left.n;
  while (start && cbs_is_word(left.p[start - 1])) start--;
  ttm_str name = ttm_str_from(left, start);
  if (!name.n || !whole_number(right, &value)) return TTM_OK;
  return ttm_vec_push(out, (cbs_define){name, value});
}

int cbs_constants_read(cbs_defines *out, ttm_str text) {
  while (text.n) {
    ttm_str line = ttm_str_trim(ttm_str_take_to(&text, '\n'));
    size_t comment = ttm_str_find(line, TTM_LIT("//"));
    if (comment != TTM_NOT_FOUND) line = ttm_str_trim(ttm_str_first(line, comment));
    if (ttm_str_take(&line, TTM_LIT("#define "))) {
      line = ttm_str_trim(line);
      size_t blank = ttm_str_find_char(line, ' ');
      if (blank == TTM_NOT_FOUND) continue;
      if (add_constant(out, ttm_str_first(line, blank), ttm_str_from(line, blank))) return TTM_ENOMEM;
      continue;
    }
    size_t equals = ttm_str_find_char(line, '=');
    if (equals == TTM_NOT_FOUND || !ttm_str_ends(line, TTM_LIT(";"))) continue;
    if (!ttm_str_contains(ttm_str_first(line, equals), TTM_LIT("constexpr "))) continue;
    ttm_str right = ttm_str_from(line, equals + 1);
    right.n--;
    if (add_constant(out, ttm_str_first(line, equals), right)) return TTM_ENOMEM;
  }
  return TTM_OK;
}

static int by_name(const void *a, const void *b) {
  const cbs_define *x = a, *y = b;
  int order = ttm_str_order(x->name, y->name);
  return order ? order : x->value < y->value ? -1 : x->value > y->value;
}

void cbs_constants_settle(cbs_defines *constants) {
  size_t kept = 0, n = constants->n;
  cbs_define *at = constants->at;
  if (n) qsort(at, n, sizeof *at, by_name);
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    while (end < n && ttm_str_eq(at[end].name, at[i].name)) end++;
    if (at[i].value == at[end - 1].value) at[kept++] = at[i];
    i = end;
  }
  constants->n = kept;
}
