/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libFuzzer where there is no clang: replays the given files and folders, then every prefix of the small ones,
 * then a fixed count of pseudo-random mutations of them. The same arguments always give the same inputs.
 * usage: fuzz_NAME [-runs=N] [-seed=S] [FILE|FOLDER]...
 * The input that fails is written to crash-NAME-SEED-RUN in the current folder; give it as FILE to see it again. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Present where a target has one (mutate_*.c). */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) __attribute__((weak));
/* Present under ASan only. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

enum {
  MAX_MUTATED = 1 << 16, /* mutations do not grow beyond this; replayed files may be larger */
  MAX_PREFIXED = 2048,   /* seeds up to this size are tried cut at every byte */
  SECONDS_PER_INPUT = 60 /* longer is a hang, also on a busy machine under ASan */
};

typedef struct input {
  uint8_t *at;
  size_t n;
} input;

static input *seeds;
static size_t seed_count;

/* What is being tried now, for the report of a crash: handlers can be given no argument. */
static input current;
static char crash_name[256];
static const char *program_name = "fuzz";
static uint64_t seed = 1, run;

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", program_name, what);
  exit(2);
}

static void *must(void *p) {
  if (!p) die("out of memory");
  return p;
}

/* Only async-signal-safe calls: it runs inside a crash. */
static void keep_input(void) {
  static const char said[] = "\nthe failing input was written to ";
  int fd = open(crash_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  ssize_t ignored = write(fd, current.at, current.n);
  close(fd);
  ignored += write(2, said, sizeof said - 1);
  ignored += write(2, crash_name, strlen(crash_name));
  ignored += write(2, "\n", 1);
  (void)ignored;
}

static void on_signal(int number) {
  keep_input();
  signal(number, SIG_DFL);
  raise(number);
}

static void add_seed(const void *bytes, size_t n) {
  seeds = must(realloc(seeds, (seed_count + 1) * sizeof *seeds));
  uint8_t *copy = must(malloc(n ? n : 1));
  if (n) memcpy(copy, bytes, n);
  seeds[seed_count++] = (input){copy, n};
}

static void add_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) die(path);
  uint8_t *bytes = NULL;
  size_t n = 0, cap = 0;
  for (size_t got = 1; got; n += got) {
    if (n == cap) bytes = must(realloc(bytes, cap = cap ? cap * 2 : 4096));
    got = fread(bytes + n, 1, cap - n, file);
  }
  fclose(file);
  add_seed(bytes, n);
  free(bytes);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static void add_path(const char *path) {
  struct stat about;
  if (stat(path, &about)) {
    fprintf(stderr, "%s: %s is not there, going on without it\n", program_name, path);
    return;
  }
  if (!S_ISDIR(about.st_mode)) {
    add_file(path);
    return;
  }
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, by_name); /* sorted: the same order on every machine */
  for (int i = 0; i < count; i++) {
    char name[4096];
    int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.' && length < (int)sizeof name) add_path(name);
    free(entries[i]);
  }
  if (count >= 0) free(entries);
}

static void add_builtin_seeds(void) {
  /* Named, because clang takes two literals in a row inside a list for a forgotten comma. */
  static const char operation[] =
      "%0 = \"ttnn.add\"(%1, %2) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x32xbf16>) -> "
      "tensor<32x32xbf16> "
      "loc(\"add.1\")";
  static const char state[] =
      "2025-01-01 00:00:00.000 |   DEBUG | Runtime | Device DRAM memory state: MemoryView{numBanks: 12, "
      "totalBytesPerBank: 1071181792, totalBytesAllocatedPerBank: 0}\r\n";
  static const char *const texts[] = {"", "\n", "a b=1, c=[2, 3] <x> {\"y\": \"z\\\"\"} (1x2) -> ()\n", operation,
                                      state};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) add_seed(texts[i], strlen(texts[i]));
  add_seed("\0\xff\x80\0", 4);
}

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t below(uint64_t *state, size_t limit) { return limit ? (size_t)(next_random(state) >> 11) % limit : 0; }

/* Replaces [at, at+cut) of the work buffer by bytes. */
static void replace(input *work, size_t at, size_t cut, const uint8_t *bytes, size_t n) {
  if (work->n - cut + n > MAX_MUTATED) return;
  memmove(work->at + at + n, work->at + at + cut, work->n - at - cut);
  if (n) memcpy(work->at + at, bytes, n);
  work->n = work->n - cut + n;
}

static void mutate(input *work, uint64_t *random) {
  /* Bytes and words on which parsers of brackets, numbers and lines turn. */
  static const char *const telling[] = {"\n",
                                        "\r",
                                        "<",
                                        ">",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "\"",
                                        "\\",
                                        ",",
                                        "->",
                                        ":",
                                        "=",
                                        "#",
                                        "%",
                                        "0",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "-1",
                                        "1e999",
                                        "x",
                                        "\x1b[32m",
                                        "\xff",
                                        "\xe2\x80",
                                        " ",
                                        "\t"};
  size_t at = below(random, work->n + 1), left = work->n - at;
  switch (below(random, 8)) {
    case 0: /* cut the end off */
      work->n = at;
      break;
    case 1: /* flip bits */
      for (size_t i = 1 + below(random, 8); i && work->n; i--)
        work->at[below(random, work->n)] ^= (uint8_t)(1u << below(random, 8));
      break;
    case 2: /* random bytes */
      for (size_t i = 1 + below(random, 4); i && work->n; i--)
        work->at[below(random, work->n)] = (uint8_t)next_random(random);
      break;
    case 3: /* take a piece out */
      replace(work, at, below(random, left + 1), NULL, 0);
      break;
    case 4: { /* say a piece twice */
      uint8_t piece[256];
      size_t n = below(random, (left < sizeof piece ? left : sizeof piece) + 1);
      memcpy(piece, work->at + at, n);
      replace(work, at, 0, piece, n);
      break;
    }
    case 5: { /* a piece of another seed */
      const input *other = &seeds[below(random, seed_count)];
      size_t from = below(random, other->n + 1), n = below(random, other->n - from + 1);
      replace(work, at, below(random, left + 1), other->at + from, n > MAX_MUTATED ? MAX_MUTATED : n);
      break;
    }
    case 6: { /* a telling word */
      const char *word = telling[below(random, sizeof telling / sizeof *telling)];
      replace(work, at,
              below(random, 2)      ? 0
              : left < strlen(word) ? left
                                    : strlen(word),
              (const uint8_t *)word, strlen(word));
      break;
    }
    default: { /* the same byte many times: nesting, long numbers */
      uint8_t run_of[512];
      memset(run_of, at < work->n ? work->at[at] : '[', sizeof run_of);
      replace(work, at, 0, run_of, 1 + below(random, sizeof run_of));
    }
  }
}

/* What mutators that know a structure call for the rest. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) {
  static uint64_t random = 1;
  input work = {data, size};
  if (max >= MAX_MUTATED) mutate(&work, &random);
  return work.n;
}

static void mutate_once(input *work, uint64_t *random) {
  if (LLVMFuzzerCustomMutator && below(random, 2))
    work->n = LLVMFuzzerCustomMutator(work->at, work->n, MAX_MUTATED, (unsigned)next_random(random));
  else
    mutate(work, random);
}

/* On a copy of exactly n bytes, so that ASan sees a read one byte past the end. */
static void try_input(const uint8_t *bytes, size_t n) {
  current.at = must(malloc(n ? n : 1));
  current.n = n;
  if (n) memcpy(current.at, bytes, n);
  run++;
  snprintf(crash_name, sizeof crash_name, "crash-%s-%llu-%llu", program_name, (unsigned long long)seed,
           (unsigned long long)run);
  alarm(SECONDS_PER_INPUT);
  LLVMFuzzerTestOneInput(current.at, n);
  free(current.at);
}

int main(int argc, char **argv) {
  uint64_t runs = 1000;
  program_name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(keep_input);
  else
    signal(SIGSEGV, on_signal), signal(SIGBUS, on_signal), signal(SIGFPE, on_signal);
  signal(SIGABRT, on_signal), signal(SIGALRM, on_signal);

  for (int i = 1; i < argc; i++) {
    if (!strncmp(argv[i], "-runs=", 6))
      runs = strtoull(argv[i] + 6, NULL, 10);
    else if (!strncmp(argv[i], "-seed=", 6))
      seed = strtoull(argv[i] + 6, NULL, 10);
    else if (argv[i][0] != '-')
      add_path(argv[i]);
  }
  if (!seed_count) add_builtin_seeds();

  for (size_t i = 0; i < seed_count; i++) try_input(seeds[i].at, seeds[i].n);
  uint64_t replayed = run;
  for (size_t i = 0; i < seed_count && run - replayed < runs; i++)
    for (size_t n = 0; seeds[i].n <= MAX_PREFIXED && n < seeds[i].n && run - replayed < runs; n++)
      try_input(seeds[i].at, n);
  uint64_t prefixes = run - replayed;

  uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
  input work = {must(malloc(MAX_MUTATED)), 0};
  for (uint64_t i = 0; i < runs; i++) {
    const input *from = &seeds[below(&random, seed_count)];
    /* A large seed gives a window of it: its head is no more telling than its middle. */
    size_t n = from->n < MAX_MUTATED ? from->n : MAX_MUTATED;
    if (n) memcpy(work.at, from->at + below(&random, from->n - n + 1), n);
    work.n = n;
    for (size_t steps = 1 + below(&random, 6); steps; steps--) mutate_once(&work, &random);
    try_input(work.at, work.n);
  }
  alarm(0);
  printf("%s: %llu replayed, %llu prefixes, %llu mutations, seed %llu\n", program_name, (unsigned long long)replayed,
         (unsigned long long)prefixes, (unsigned long long)runs, (unsigned long long)seed);
  for (size_t i = 0; i < seed_count; i++) free(seeds[i].at);
  free(seeds);
  free(work.at);
  return 0;
}
