/* SPDX-License-Identifier: Apache-2.0 */
/* One file while it is being scanned: what the parts of the scan share. */
#ifndef CBS_UNIT_H
#define CBS_UNIT_H

#include "cbscan/scan.h"

typedef struct cbs_unit {
  cbs_file *file;
  uint32_t file_index;
  cbs_tree tree;
  cbs_names names;
  cbs_eval eval;
  ttm_arena *arena;
  TTM_VEC(cbs_buffer) buffers;
  TTM_VEC(cbs_kernel_ref) refs;
  TTM_VEC(cbs_use) uses;
  TTM_VEC(cbs_handed) handed;
  TTM_VEC(cbs_function) functions; /* of buffers and refs, in order */
  TTM_VEC(cbs_node) used_configs;  /* configurations a buffer was created from */
  struct {
    cbs_node function;
    bool builds;
  } last_asked; /* whether a function builds a program: most sites are in the one of the site before */
} cbs_unit;

/* Each finds its things in the parsed unit; 0 or TTM_ENOMEM. */
int cbs_scan_host(cbs_unit *unit);
int cbs_scan_host_kernels(cbs_unit *unit);
int cbs_scan_kernel(cbs_unit *unit);

/* Fills scan->findings once the files are joined. 0 or TTM_ENOMEM. */
int cbs_judge(cbs_scan *scan);

/* ---- Host code: shared by host*.c -------------------------------------------------------------------------------- */

/* The variable that declaration `n` declares, NULL for none. */
const cbs_name *cbs_name_declared(const cbs_unit *unit, cbs_node n);
/* The last value given to member `name` of a variable: in its initialiser or by a statement of its scope. */
cbs_node cbs_member_of_variable(const cbs_unit *unit, const cbs_name *name, const char *member);
/* A struct written out, or held by a variable. */
typedef struct cbs_struct {
  cbs_node list;        /* {...}, 0 for none */
  const cbs_name *name; /* the variable, NULL for a literal in place */
} cbs_struct;
/* The value of a member, 0 when it has none. */
cbs_node cbs_struct_member(const cbs_unit *unit, const cbs_struct *s, const char *name);
/* Steps through names, std::move and parameters of followed calls to the expression that counts. */
cbs_node cbs_resolve(const cbs_unit *unit, cbs_node n, const cbs_eval_frame **frame);
/* The same, and through a variable to its initialiser, 0 when it has none; *name is that variable, NULL for none. */
cbs_node cbs_resolve_value(const cbs_unit *unit, cbs_node n, const cbs_eval_frame **frame, const cbs_name **name);
cbs_expression cbs_evaluate(cbs_unit *unit, cbs_node n, const cbs_eval_frame *frame);
/* True when an if, a case or a loop stands between `n` and its function. */
void cbs_conditions_above(const cbs_tree *tree, cbs_node n, bool *conditional, bool *in_loop);

/* Calls `make` for a thing at node `site`: once per call of the helper it stands in, or once when it stands in none. A function that
 * builds a program, or that nobody in the file calls, is no helper. */
typedef int (*cbs_make)(cbs_unit *unit, cbs_node site, const cbs_eval_frame *frame, void *context);
int cbs_for_each_call(cbs_unit *unit, cbs_node site, cbs_make make, void *context);

/* CBDescriptor and DataflowBufferSpec literals and variables at `n`, if it is one. */
int cbs_scan_descriptor(cbs_unit *unit, cbs_node n);

/* "a * b", kept in the unit's arena. 0 or TTM_ENOMEM. */
int cbs_unit_product_text(cbs_unit *unit, ttm_str a, ttm_str b, ttm_str *out);

/* Fills what every form has: place, name, function, conditions, helper. */
cbs_buffer cbs_buffer_at(cbs_unit *unit, cbs_origin origin, cbs_node site, const cbs_eval_frame *frame);
/* Room for `n` slots; false without memory. */
bool cbs_buffer_slots(cbs_unit *unit, cbs_buffer *cb, size_t n);
cbs_owner cbs_owner_of(cbs_unit *unit, cbs_node buffer, const cbs_eval_frame *frame);

#endif
