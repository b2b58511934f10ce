/* SPDX-License-Identifier: Apache-2.0 */
/* What stands at the other end of standard output and standard error, and how to talk to it. */
#ifndef TTM_CLI_TERMINAL_H
#define TTM_CLI_TERMINAL_H

#include "base/buf.h"
#include "base/error.h"
#include "base/out_file.h"
#include "report/run/text.h"

/* `wish` is the value of --color: "always", "never", "auto" or NULL for auto. Without a wish: NO_COLOR (not empty) says no,
 * CLICOLOR_FORCE (not empty, not 0) says yes, else a terminal that is not dumb. */
bool ttm_terminal_color(int fd, const char *wish);

/* True when the user's locale is UTF-8. Reads the locale of the environment on its first call. */
bool ttm_terminal_utf8(void);

/* Columns of the terminal; 80 when it is none, so that output in a pipe never changes. */
unsigned ttm_terminal_columns(int fd);

/* The three together: how a report for `fd` is to look. `wish` is the value of --color. */
ttm_summary_style ttm_terminal_style(int fd, const char *wish);

/* True for a terminal that understands cursor movement. */
bool ttm_terminal_is_live(int fd);

/* Writes all of it to standard output. A reader that went away (a closed pipe) is no error: *closed then says so.
 * 0 or TTM_EIO. */
int ttm_terminal_write(ttm_str text, bool *closed, ttm_error *err);

/* The value of -o: true when it names a file, false for NULL and "-", which are standard output. */
bool ttm_terminal_is_file(const char *path);

/* Prints a text and frees it, under the same rule; one that lost a piece for lack of memory is an error. `path` is the value of -o. */
int ttm_terminal_print(ttm_buf *text, ttm_error *err);
int ttm_terminal_deliver(ttm_buf *text, const char *path, ttm_error *err);

/* The same in pieces: opens what -o names; ends it after `status` of writing it. */
/* Files are not waited for until they are on the disk. */
void ttm_terminal_no_sync(void);
int ttm_terminal_open(ttm_out *out, const char *path, ttm_error *err);
int ttm_terminal_end(ttm_out *out, int status, bool *closed, ttm_error *err);

/* "page: out/llama_report.html (212.3 KB)" */
int ttm_terminal_wrote(const char *what, const char *path, uint64_t bytes, ttm_error *err);

/* Writes a text to standard error and frees it. One that nobody reads, or that memory is missing for, is no error. */
void ttm_terminal_note(ttm_buf *text);

#endif
