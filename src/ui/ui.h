/* SPDX-License-Identifier: Apache-2.0 */
/* The interactive program: `ttmem` alone on a terminal. It shows what the other rooms know; what it cannot do itself (serve,
 * run a program) is lent to it. */
#ifndef TTM_UI_UI_H
#define TTM_UI_UI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

struct ttm_watch;

/* `ttmem live` on a terminal. */
typedef struct ttm_ui_watch {
  const struct ttm_watch *watch;
  const char *recording; /* file, NULL */
  bool all;              /* idle and mock devices too, from the start */
  void *context;
  /* Called ten times a second: looks again when it is time to. False ends the program; *message is what to say now, or NULL. */
  bool (*tick)(void *context, const char **message);
  void (*end)(void *context); /* when it is no longer shown; NULL: the lender knows */
} ttm_ui_watch;

/* What another command is asked. */
typedef enum ttm_ui_command { TTM_UI_EXPLAIN, TTM_UI_FIT, TTM_UI_DIFF } ttm_ui_command;
typedef struct ttm_ui_question {
  ttm_ui_command command;
  const char *inputs[2]; /* logs or folders of reports, "" for none; explain: a message, or a file with messages */
  unsigned columns;
  bool utf8;
} ttm_ui_question;

typedef struct ttm_ui_options {
  bool utf8, color;
  const ttm_ui_watch *watch; /* set: this is shown, and nothing of the rest */
  void *context;             /* for the functions below */
  /* Serves the reports of a folder until `unserve`; *url is borrowed until then. */
  int (*serve)(void *context, const char *folder, const char **url, ttm_error *err);
  void (*unserve)(void *context);
  /* Runs a script or command with its arguments on the terminal, which is not ours meanwhile, on a mock board unless `board` is NULL, and appends
   * where its report is and what that was made of (a log or a recording). An error when it could not be started. */
  int (*run)(void *context, char **words, const char *board, ttm_buf *folder, ttm_buf *source, ttm_error *err);
  /* The document that a command prints, with the colours of a terminal. Called from a thread of its own. */
  int (*answer)(void *context, const ttm_ui_question *question, ttm_buf *out, ttm_error *err);
  /* Watches running programs until the end of what it gives. */
  int (*live)(void *context, const ttm_ui_watch **out, ttm_error *err);
} ttm_ui_options;

/* Runs until the user leaves. 0, or TTM_EUSAGE when the terminal cannot show it, TTM_ENOMEM. */
int ttm_ui_run(const ttm_ui_options *options, ttm_error *err);

#endif
