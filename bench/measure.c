/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and writes "seconds peak_bytes" to a file; exits as the command did.
 * A program of its own because Linux counts what a child shares with its parent before exec into the child's peak: started from
 * Python, every command smaller than Python would seem as large as Python.
 * usage: measure FILE COMMAND [ARGUMENT]... */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
  if (argc < 3) return fputs("usage: measure FILE COMMAND [ARGUMENT]...\n", stderr), 2;
  double start = now();
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status;
  struct rusage used;
  if (child < 0 || wait4(child, &status, 0, &used) != child) return perror("measure"), 2;
  double seconds = now() - start;
  FILE *out = fopen(argv[1], "w");
  if (!out) return perror(argv[1]), 2;
  fprintf(out, "%.9f %ld\n", seconds, used.ru_maxrss * 1024L);
  if (fclose(out)) return perror(argv[1]), 2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
