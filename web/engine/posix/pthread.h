/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for a machine without any: a page opened from a file may not share memory between workers. No thread can be started, so locks need not lock. */
#ifndef TTM_ENGINE_PTHREAD_H
#define TTM_ENGINE_PTHREAD_H

#include <errno.h>
#include <sys/types.h>

static inline int pthread_create(pthread_t *thread, const void *attributes, void *(*run)(void *), void *argument) {
  (void)thread, (void)attributes, (void)run, (void)argument;
  return EAGAIN;
}
static inline int pthread_join(pthread_t thread, void **result) { return (void)thread, (void)result, EINVAL; }
static inline int pthread_mutex_init(pthread_mutex_t *m, const void *attributes) {
  return (void)m, (void)attributes, 0;
}
static inline int pthread_mutex_lock(pthread_mutex_t *m) { return (void)m, 0; }
static inline int pthread_mutex_unlock(pthread_mutex_t *m) { return (void)m, 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t *m) { return (void)m, 0; }
static inline int pthread_cond_init(pthread_cond_t *c, const void *attributes) { return (void)c, (void)attributes, 0; }
static inline int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) { return (void)c, (void)m, 0; }
static inline int pthread_cond_broadcast(pthread_cond_t *c) { return (void)c, 0; }
static inline int pthread_cond_destroy(pthread_cond_t *c) { return (void)c, 0; }

#endif
