/* SPDX-License-Identifier: Apache-2.0 */
/* WASI has the names of signals, but no sets of them: base/os.h names the type. */
#ifndef TTM_ENGINE_SIGNAL_H
#define TTM_ENGINE_SIGNAL_H

#include <__typedef_sigset_t.h>
#include_next <signal.h>

#endif
