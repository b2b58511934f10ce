/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of work done by several threads at once. */
#ifndef TTM_BASE_THREADS_H
#define TTM_BASE_THREADS_H

enum { TTM_MOST_THREADS = 64 };

/* How many threads to use: as many as wanted; 0 means one per processor, up to eight. Never 0. */
unsigned ttm_thread_count(unsigned wanted);

/* Calls work(context) in `threads` threads, this one among them, and returns when all are done. Fewer may run when the system
 * gives no more, so that the work must be shared out as it goes, not split beforehand. */
void ttm_threads_run(unsigned threads, void *(*work)(void *), void *context);

#endif
