/* SPDX-License-Identifier: Apache-2.0 */
/* One file while it is being scanned: what the parts of the scan share. */
#ifndef TTM_L1_SCAN_UNIT_H
#define TTM_L1_SCAN_UNIT_H

#include "l1/scan.h"

typedef struct ttm_scan_unit {
  ttm_scan_file *file;
  uint32_t file_index;
  ttm_tree tree;
  ttm_names names;
  ttm_eval eval;
  ttm_arena *arena;
  TTM_VEC(ttm_cb) cbs;          /* function holds the node until the files are joined */
  TTM_VEC(ttm_kernel_ref) refs; /* likewise */
  TTM_VEC(ttm_cb_use) uses;
  TTM_VEC(ttm_cb_handed) handed;
  TTM_VEC(ttm_define) constants;      /* file-scope integers of a header */
  TTM_VEC(ttm_cb_function) functions; /* of cbs and refs, in order; `line` and `name` only */
  TTM_VEC(ttm_node) used_configs;     /* configurations a buffer was created from */
  struct {
    ttm_node function;
    bool builds;
  } last_asked; /* whether a function builds a program: most sites are in the one of the site before */
} ttm_scan_unit;

/* Each finds its things in the parsed unit; 0 or TTM_ENOMEM. */
int ttm_scan_host(ttm_scan_unit *unit);
int ttm_scan_host_kernels(ttm_scan_unit *unit);
int ttm_scan_kernel(ttm_scan_unit *unit);

/* ---- Host code: shared by scan_host*.c -------------------------------------------------------------------------------- */

/* The value of member `name` in {.name = value, ...}, 0 when it is not there. */
ttm_node ttm_member_of(const ttm_tree *tree, ttm_node list, const char *name);
/* The list of T{...} or {...}, 0 when the node is neither. */
ttm_node ttm_list_of(const ttm_tree *tree, ttm_node n);
/* The last value given to member `name` of a variable: in its initialiser or by a statement of its scope. */
ttm_node ttm_member_of_variable(const ttm_scan_unit *unit, const ttm_name *name, const char *member);
/* Steps through names, std::move and parameters of followed calls to the expression that counts. */
ttm_node ttm_resolve(const ttm_scan_unit *unit, ttm_node n, const ttm_eval_frame **frame);
ttm_cb_expression ttm_expression(ttm_scan_unit *unit, ttm_node n, const ttm_eval_frame *frame);
/* True when an if, a case or a loop stands between `n` and its function. */
void ttm_conditions_above(const ttm_tree *tree, ttm_node n, bool *conditional, bool *in_loop);

/* Calls `make` for a thing at node `site`: once per call of the helper it stands in, or once when it stands in none. A function that
 * builds a program, or that nobody in the file calls, is no helper. */
typedef int (*ttm_make)(ttm_scan_unit *unit, ttm_node site, const ttm_eval_frame *frame, void *context);
int ttm_for_each_call(ttm_scan_unit *unit, ttm_node site, ttm_make make, void *context);

/* CBDescriptor and DataflowBufferSpec literals and variables at `n`, if it is one. */
int ttm_scan_descriptor(ttm_scan_unit *unit, ttm_node n);

/* "a * b", kept in the unit's arena. 0 or TTM_ENOMEM. */
int ttm_unit_product_text(ttm_scan_unit *unit, ttm_str a, ttm_str b, ttm_str *out);

/* Fills what every form has: place, name, function, conditions, helper. */
ttm_cb ttm_cb_at(ttm_scan_unit *unit, ttm_cb_origin origin, ttm_node site, const ttm_eval_frame *frame);
/* Room for `n` slots; false without memory. */
bool ttm_cb_slots(ttm_scan_unit *unit, ttm_cb *cb, size_t n);
ttm_cb_owner ttm_cb_owner_of(ttm_scan_unit *unit, ttm_node buffer, const ttm_eval_frame *frame);

#endif
