/* SPDX-License-Identifier: Apache-2.0 */
/* Everything libttmem offers to C. */
#ifndef TTMEM_TTMEM_H
#define TTMEM_TTMEM_H

#include "ttmem/error.h"
#include "ttmem/findings.h"
#include "ttmem/operation.h"
#include "ttmem/profile.h"
#include "ttmem/report.h"
#include "ttmem/state.h"
#include "ttmem/statement.h"
#include "ttmem/str.h"
#include "ttmem/table.h"
#include "ttmem/tensor.h"
#include "ttmem/tracker.h"
#include "ttmem/version.h"

#endif
