/* SPDX-License-Identifier: Apache-2.0 */
/* What a program said before it ended badly: its exception, where in the user's program it came from, and whether it was memory. */
#ifndef TTM_PARSE_LAST_WORDS_H
#define TTM_PARSE_LAST_WORDS_H

#include "parse/incident_text.h"

/* Views point into the text. */
typedef struct ttm_last_words {
  ttm_str
      sentence; /* "ModuleNotFoundError: No module named 'x'"; of tt-metal's exceptions what stands behind "info:"; else the last
                        line; empty when nothing was said */
  ttm_str file;  /* of the last frame of a Python traceback that is not in an installed package; empty without one */
  uint64_t line; /* in that file */
  bool memory;   /* `incident` is there: the last out-of-memory or clash */
  ttm_incident_text incident;
} ttm_last_words;

/* `  File "model.py", line 17, in forward` of a Python traceback: false for any other line and for frames of installed packages. */
bool ttm_frame_read(ttm_str line, ttm_str *file, uint64_t *number);

/* `text` is the end of what a program printed; any bytes. */
void ttm_last_words_read(ttm_last_words *out, ttm_str text);

#endif
