/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures through cairo. The library is opened when a picture is asked for: linking it would make every start of the program
 * load some twenty libraries, and a machine without it could not run the program at all. */
#include "base/format.h"
#include "report/write/canvas.h"

#if !__has_include(<cairo.h>) /* a static program, which can open no library */
int ttm_picture_png(const ttm_picture *picture, ttm_buf *out, ttm_error *err) {
  (void)picture, (void)out;
  return ttm_error_set(err, TTM_EIO,
                       "this ttmem is static and makes no PNG pictures; give --output a name that ends in .svg, or use "
                       "the Debian package or the wheel of ttmem (pipx install ttmem)");
}
#else
#include <cairo.h>
#include <dlfcn.h>

enum { SCALE = 2 };

/* Every function used, with the type the header gives it. (The tool would put each in a line of its own.) */
/* clang-format off */
#define CAIRO_CALLS(X) \
  X(image_surface_create) X(create) X(destroy) X(surface_destroy) X(surface_write_to_png_stream) \
  X(scale) X(set_source_rgb) X(rectangle) X(fill) X(paint) X(move_to) X(line_to) X(stroke) X(set_line_width) X(set_dash) \
  X(select_font_face) X(set_font_size) X(text_extents) X(show_text) X(status) X(status_to_string)
/* clang-format on */

typedef struct cairo_calls {
  void *library;
#define MEMBER(name) __typeof__(&cairo_##name) name;
  CAIRO_CALLS(MEMBER)
#undef MEMBER
} cairo_calls;

typedef struct png {
  ttm_canvas canvas;
  cairo_calls calls;
  cairo_t *cr;
} png;

static int open_library(cairo_calls *calls, ttm_error *err) {
  calls->library = dlopen("libcairo.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!calls->library) {
    return ttm_error_set(err, TTM_EIO,
                         "a PNG picture needs the cairo library, which is not here; install it (apt-get install "
                         "libcairo2), or give --output a name that ends in .svg");
  }
  bool all = true;
#define LOOK_UP(name) *(void **)&calls->name = dlsym(calls->library, "cairo_" #name), all &= calls->name != NULL;
  CAIRO_CALLS(LOOK_UP)
#undef LOOK_UP
  if (all) return TTM_OK;
  dlclose(calls->library);
  return ttm_error_set(err, TTM_EIO,
                       "the cairo library of this machine cannot write PNG; use a name that ends in .svg");
}

static void color(png *p, uint32_t rgb) {
  p->calls.set_source_rgb(p->cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

static void rect(ttm_canvas *c, double x, double y, double w, double h, uint32_t rgb) {
  png *p = (png *)c;
  color(p, rgb);
  p->calls.rectangle(p->cr, x, y, w, h);
  p->calls.fill(p->cr);
}

static void line(ttm_canvas *c, double x1, double y1, double x2, double y2, ttm_line_look look) {
  static const double dashes[] = {8, 5};
  png *p = (png *)c;
  color(p, look.rgb);
  p->calls.set_line_width(p->cr, look.width);
  p->calls.set_dash(p->cr, dashes, look.dashed ? 2 : 0, 0);
  p->calls.move_to(p->cr, x1, y1);
  p->calls.line_to(p->cr, x2, y2);
  p->calls.stroke(p->cr);
}

static void text(ttm_canvas *c, double x, double y, ttm_text_look look, ttm_str words) {
  png *p = (png *)c;
  ttm_buf plain = {0};
  cairo_text_extents_t box;
  ttm_put_text(&plain, words, SIZE_MAX, TTM_FORM_UTF8);
  ttm_buf_char(&plain, '\0');
  c->failed |= plain.failed;
  if (!plain.failed) {
    p->calls.select_font_face(p->cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                              look.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    p->calls.set_font_size(p->cr, look.size);
    p->calls.text_extents(p->cr, plain.at, &box);
    color(p, look.rgb);
    double shift = look.anchor == TTM_ANCHOR_START ? 0 : look.anchor == TTM_ANCHOR_END ? 1 : 0.5;
    p->calls.move_to(p->cr, x - shift * box.x_advance, y);
    p->calls.show_text(p->cr, plain.at);
  }
  ttm_buf_free(&plain);
}

static cairo_status_t append(void *closure, const unsigned char *data, unsigned n) {
  ttm_buf *out = closure;
  ttm_buf_put(out, (ttm_str){(const char *)data, n});
  return out->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

int ttm_picture_png(const ttm_picture *picture, ttm_buf *out, ttm_error *err) {
  png p = {.canvas = {rect, line, text, false}};
  int status = open_library(&p.calls, err);
  if (status) return status;
  cairo_surface_t *surface =
      p.calls.image_surface_create(CAIRO_FORMAT_RGB24, (int)(picture->width * SCALE), (int)(picture->height * SCALE));
  p.cr = p.calls.create(surface);
  p.calls.scale(p.cr, SCALE, SCALE);
  picture->draw(&p.canvas, picture->subject);
  cairo_status_t drawn = p.calls.status(p.cr);
  if (drawn == CAIRO_STATUS_SUCCESS) drawn = p.calls.surface_write_to_png_stream(surface, append, out);
  if (p.canvas.failed || out->failed)
    status = ttm_error_nomem(err);
  else if (drawn != CAIRO_STATUS_SUCCESS)
    status = ttm_error_set(err, TTM_EIO, "cairo could not draw the picture: %s", p.calls.status_to_string(drawn));
  p.calls.destroy(p.cr);
  p.calls.surface_destroy(surface);
  /* cairo and fontconfig keep caches until the process ends: the library stays loaded. */
  return status;
}
#endif
