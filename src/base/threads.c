/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include <pthread.h>
#include <unistd.h>

unsigned ttm_thread_count(unsigned wanted) {
  enum { DEFAULT_MOST = 8 };
  if (wanted) return wanted < TTM_MOST_THREADS ? wanted : TTM_MOST_THREADS;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return processors < 1 ? 1 : processors < DEFAULT_MOST ? (unsigned)processors : DEFAULT_MOST;
}

void ttm_threads_run(unsigned threads, void *(*work)(void *), void *context) {
  pthread_t started[TTM_MOST_THREADS];
  unsigned n = 0;
  while (n + 1 < threads && n < TTM_MOST_THREADS && !pthread_create(&started[n], NULL, work, context)) n++;
  work(context); /* this thread takes its share: without any other it does all */
  while (n) pthread_join(started[--n], NULL);
}
