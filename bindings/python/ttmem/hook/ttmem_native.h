/* SPDX-License-Identifier: Apache-2.0 */
/* What ttmem_native.c tells ttmem_calls.c. */
#ifndef TTMEM_NATIVE_H
#define TTMEM_NATIVE_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct text {
  char *at;
  size_t n, room;
} text;

void ttmem_put(text *t, const char *bytes, size_t n);
void ttmem_put_number(text *t, uint64_t number);

/* Bytes of L1 in use per bank, and the lowest address, of all devices; the choice of programs depends on it. */
extern uint64_t ttmem_native_l1[2];

enum { NO_PATH, NEVER, FIRST_PATH }; /* the path of a call that did nothing; what is below is none */

/* Of this thread. */
int ttmem_native_begin(int brief);
uint64_t ttmem_native_end(void);
int ttmem_native_is_astray(void);
const text *ttmem_native_addresses(void); /* ",1,2" of the last call's allocations and frees, in order */
text *ttmem_native_freed(void); /* ",device,memory,address" of each since it was emptied, between brief calls */

#endif
