/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TTM_BASE_BASIS_H
#define TTM_BASE_BASIS_H

/* How a number came about. */
typedef enum ttm_basis {
  TTM_MEASURED,  /* printed in the log */
  TTM_DERIVED,   /* follows from printed numbers */
  TTM_ESTIMATED, /* rests on an assumption that the log does not prove */
  TTM_PREDICTED, /* what a module says would happen; nobody ran it */
  TTM_BASES,
} ttm_basis;

/* "measured", "derived", "estimated", "predicted". */
static inline const char *ttm_basis_name(ttm_basis basis) {
  static const char *const names[] = {"measured", "derived", "estimated", "predicted"};
  return names[basis];
}

#endif
