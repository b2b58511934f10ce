/* SPDX-License-Identifier: Apache-2.0 */
/* Inside a report: one panel with a few views of the same findings. */
#ifndef TTM_UI_REPORT_H
#define TTM_UI_REPORT_H

#include "analyze/occupancy.h"
#include "base/format.h"
#include "ui/panel.h"

/* What is looked at. Owned by the report's panel; details on top of it borrow it. */
typedef struct ttm_ui_subject {
  ttm_profile *profile; /* this and the findings: NULL as long as they are being read, and when that failed */
  ttm_findings *findings;
  ttm_occupancy occupancy;   /* of the rank of the peak; no rows when the input does not tell */
  ttm_profile *told_profile; /* what the report's findings file tells; NULL when it has none */
  ttm_findings *told;
  ttm_buf folder; /* of the report, NUL-terminated; empty when it has none yet */
  ttm_buf name;   /* NUL-terminated */
  bool changed;   /* the log is no longer the one the report was made of */
  bool rebuilt;   /* made of the report's JSON files, which know no frees */
  bool gone;      /* neither the log nor the files tell the operations */
  bool per_chip;  /* figures are those of a chip, not of one of its banks */
} ttm_ui_subject;

void ttm_ui_subject_free(ttm_ui_subject *subject);

/* The conclusions: those of the report itself when it is a stored one. */
static inline const ttm_findings *ttm_ui_told(const ttm_ui_subject *subject) {
  return subject->told ? subject->told : subject->findings;
}

/* Takes the subject over, in any case, and the job that reads its operations, NULL when they are read. */
struct ttm_job;
ttm_panel *ttm_report_panel(ttm_ui_subject *subject, struct ttm_job *job);

/* All about one operation, on top of the report. */
void ttm_ui_show_operation(ttm_ui *ui, const ttm_findings *f, uint32_t op);

/* ---- Views --------------------------------------------------------------------------------------------------------- */

typedef struct ttm_view_class {
  const char *name;
  const ttm_key_help *keys;
  void *(*make)(const ttm_ui_subject *subject); /* NULL without memory */
  /* Rows 3 to screen rows - 2 are the view's. */
  void (*draw)(void *view, ttm_screen *screen);
  bool (*key)(void *view, ttm_ui *ui, int key); /* false: not for it */
  void (*free)(void *view);
  bool tells; /* conclusions are enough for it */
} ttm_view_class;

extern const ttm_view_class ttm_view_summary, ttm_view_timeline, ttm_view_top, ttm_view_live, ttm_view_operations,
    ttm_view_failures, ttm_view_findings, ttm_view_cores;

enum { TTM_VIEW_ROW = 3 };
static inline int ttm_view_height(const ttm_screen *screen) { return screen->rows - TTM_VIEW_ROW - 1; }

/* "#7 ttnn.matmul layers.0|MLP|dot.1"; `place` stands for its own place unless it is empty. */
void ttm_put_operation(ttm_buf *out, const ttm_screen *screen, const ttm_findings *f, uint32_t op, ttm_str place);

/* ---- Memory by class ----------------------------------------------------------------------------------------------- */

/* The letter of a class, the same in every picture: that of its name. */
char ttm_class_letter(const ttm_profile *p, ttm_alive_class class);
/* "w weights 97.66  a activations 8.00", those that hold something, in MB times `times`. */
void ttm_put_classes(ttm_buf *out, const ttm_profile *p, const uint64_t by_class[TTM_ALIVE_CLASSES], double times);

/* A part of a bank at one moment, by address: blocks, free gaps, what was refused, and what there is to say. */
struct ttm_moment;
void ttm_draw_blocks(ttm_screen *screen, int row, int height, const struct ttm_moment *moment, ttm_extent part);

/* What a figure per bank is to be multiplied with: 1, or the banks of a chip. */
double ttm_view_banks(const ttm_ui_subject *subject, ttm_memory memory);

#endif
