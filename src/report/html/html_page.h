/* SPDX-License-Identifier: Apache-2.0 */
/* The page of web/, made into C by web/build.mjs at build time. Data elements stand between its parts. */
#ifndef TTM_REPORT_HTML_PAGE_H
#define TTM_REPORT_HTML_PAGE_H

#include "base/str.h"

/* Up to the title's text; from there to the first data; the program; the end. */
extern const ttm_str ttm_html_page_start, ttm_html_page_body, ttm_html_page_program, ttm_html_page_end;
/* The same of the page that compares two runs. */
extern const ttm_str ttm_html_diff_start, ttm_html_diff_body, ttm_html_diff_program, ttm_html_diff_end;

#endif
