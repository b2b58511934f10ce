/* SPDX-License-Identifier: Apache-2.0 */
/* Panels: what fills the screen between the title line and the line of keys. Each kind is a const table of functions; the
 * panels lie on a stack, and only the uppermost one is drawn and gets the keys. */
#ifndef TTM_UI_PANEL_H
#define TTM_UI_PANEL_H

#include "base/vec.h"
#include "ui/screen.h"
#include "ui/ui.h"

/* What became of a key, as bits. */
enum {
  TTM_KEY_IGNORED = 0, /* not for this panel: q and Esc then close it, ? shows its keys */
  TTM_KEY_TAKEN = 1,
  TTM_KEY_CLOSE = 2, /* close the panel */
  TTM_KEY_QUIT = 4,  /* leave the program */
  TTM_KEY_LATER = 8, /* not yet: it comes again, and what is typed meanwhile waits behind it */
};

typedef struct ttm_panel ttm_panel;
typedef struct ttm_ui ttm_ui;

/* One line of the help, and of the line of keys at the bottom (as many as fit, in this order). */
typedef struct ttm_key_help {
  const char *keys; /* "Enter"; NULL ends the table */
  const char *what; /* "open" */
} ttm_key_help;

typedef struct ttm_panel_class {
  const char *title;
  const ttm_key_help *keys;
  void (*draw)(ttm_ui *ui, ttm_panel *panel);
  unsigned (*key)(ttm_ui *ui, ttm_panel *panel, int key);
  /* Called ten times a second while it returns true; NULL when nothing moves by itself. */
  bool (*tick)(ttm_ui *ui, ttm_panel *panel);
  void (*free)(ttm_panel *panel); /* the panel's memory included */
  bool typing;                    /* letters are text here: q and ? are no commands */
  bool always;                    /* its tick goes on under another panel; it must leave the stack alone */
} ttm_panel_class;

/* The start of every panel. */
struct ttm_panel {
  const ttm_panel_class *class;
  ttm_panel *below;
  const char *subject; /* after the title, foreign text; NULL for none. Lives as long as the panel */
};

struct ttm_ui {
  const ttm_ui_options *options;
  ttm_screen screen;
  ttm_panel *top;
  TTM_VEC(int) later; /* keys that wait */
  ttm_buf message;    /* shown in place of the keys until the next key; empty: none */
  bool message_is_bad;
  bool over; /* set by a panel: the program is to end */
};

/* Puts a panel on top; takes it over. NULL (no memory) only says so. */
void ttm_ui_push(ttm_ui *ui, ttm_panel *panel);
/* Takes the uppermost panel off, in any case, and puts another one in its place. */
void ttm_ui_replace(ttm_ui *ui, ttm_panel *panel);

void ttm_ui_say(ttm_ui *ui, const char *words);
void ttm_ui_complain(ttm_ui *ui, const char *words);

/* ---- The panels ---------------------------------------------------------------------------------------------------- */

ttm_panel *ttm_menu_panel(void);
/* The reports: to be opened, to see which boards fit one, to compare two. */
typedef enum ttm_browse_purpose { TTM_BROWSE_OPEN, TTM_BROWSE_FIT, TTM_BROWSE_DIFF } ttm_browse_purpose;
ttm_panel *ttm_browse_panel(ttm_ui *ui, ttm_browse_purpose purpose);
ttm_panel *ttm_guide_panel(void);
ttm_panel *ttm_watch_panel(const ttm_ui_watch *source);

/* A text that can be scrolled; takes the buffer over. Colour as in ttm_summary_style is understood. `subject` is copied. */
ttm_panel *ttm_text_panel(const char *title, const char *subject, ttm_buf *text);

/* Asks for a text. `accept` gets what was typed and which choice stands, and either puts the next panel in place of this one (0) or says what is wrong
 * with it. */
typedef int ttm_prompt_accept(ttm_ui *ui, const char *text, size_t choice, ttm_error *err);
typedef struct ttm_prompt {
  const char *title, *question;
  ttm_prompt_accept *accept;
  bool words;                 /* a command: Tab completes its last word */
  bool pasted;                /* a message: it may have several lines when they come at once */
  const char *label;          /* of the choices */
  const char *const *choices; /* NULL ends them; NULL: there are none */
} ttm_prompt;
ttm_panel *ttm_prompt_panel(const ttm_prompt *prompt);

/* Reads a log, makes a report folder of it, then shows the report in place of itself. */
ttm_panel *ttm_reading_panel(const char *log);

/* The document of another command, when it is made. `second` is "" for none. */
ttm_panel *ttm_answer_panel(const ttm_ui *ui, ttm_ui_command command, const char *first, const char *second);

/* Opens a report that is there: what its findings file tells at once, the operations as soon as they are read, from its log or, with a log of
 * NULL, from the folder's JSON files. `changed`: it is another log than when the report was made. */
ttm_panel *ttm_stored_panel(const char *log, const char *folder, const char *name, bool changed);

/* Serves a folder while it is open. `shown` is what it is called. */
ttm_panel *ttm_serving_panel(ttm_ui *ui, const char *folder, const char *shown);

#endif
