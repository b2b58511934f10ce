/* SPDX-License-Identifier: Apache-2.0 */
/* Reports are served while this panel is open. */
#include <stdlib.h>

#include "base/alloc.h"
#include "ui/text_lines.h"

typedef struct serving {
  ttm_panel panel;
  ttm_ui *ui;
  const char *url;
  ttm_buf shown;
} serving;

static void draw_serving(ttm_ui *ui, ttm_panel *panel) {
  serving *v = (serving *)panel;
  const char *ssh = getenv("SSH_CONNECTION");
  ttm_buf text = {0};
  ttm_buf_printf(&text, "  \x1b[1mOpen in your browser\x1b[0m\n\n    \x1b[36m%s\x1b[2m\n\n", v->url);
  if (ssh && *ssh) {
    const char *port = strrchr(v->url, ':') ? strrchr(v->url, ':') + 1 : "8000/";
    int digits = (int)strcspn(port, "/");
    ttm_buf_printf(&text,
                   "  VS Code forwards the port by itself. From a plain SSH session, on your machine:\n"
                   "    ssh -L %.*s:localhost:%.*s HOST\n\n",
                   digits, port, digits, port);
  } else {
    ttm_buf_puts(&text, "  Only this machine can reach it.\n\n");
  }
  ttm_buf_puts(&text, "  It is served until you leave this page with q.");
  ttm_draw_text(&ui->screen, 2, &text);
}

static unsigned serving_key(ttm_ui *ui, ttm_panel *panel, int key) {
  (void)ui, (void)panel;
  return key == 'h' || key == TTM_KEY_LEFT ? TTM_KEY_CLOSE : TTM_KEY_IGNORED;
}

static void free_serving(ttm_panel *panel) {
  serving *v = (serving *)panel;
  v->ui->options->unserve(v->ui->options->context);
  ttm_buf_free(&v->shown);
  ttm_free(v);
}

ttm_panel *ttm_serving_panel(ttm_ui *ui, const char *folder, const char *shown) {
  static const ttm_key_help keys[] = {{"q", "stop and go back"}, {NULL, NULL}};
  static const ttm_panel_class class = {
      .title = "Serving", .keys = keys, .draw = draw_serving, .key = serving_key, .free = free_serving};
  ttm_error err;
  serving *v = ttm_alloc(sizeof *v);
  if (!v) return NULL;
  v->panel.class = &class;
  v->ui = ui;
  ttm_buf_puts(&v->shown, shown);
  ttm_buf_char(&v->shown, '\0');
  v->panel.subject = v->shown.failed ? NULL : v->shown.at;
  if (!ui->options->serve(ui->options->context, folder, &v->url, &err)) return &v->panel;
  ttm_buf why = {0};
  ttm_put_text(&why, ttm_str_of(err.message), SIZE_MAX, ttm_screen_form(&ui->screen));
  ttm_buf_free(&v->shown);
  ttm_free(v);
  return ttm_text_panel("Cannot serve", NULL, &why);
}
