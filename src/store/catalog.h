/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of a folder, with what a list of them shows. A report is a folder that holds files of one; the folder given
 * may be one itself, or hold many. Links are not followed, but for those of `ttmem run` into the store: a report is a real folder with real files. */
#ifndef TTM_STORE_CATALOG_H
#define TTM_STORE_CATALOG_H

#include "base/buf.h"
#include "base/error.h"

/* One report. Texts come from files that anybody may have written: escape them. */
typedef struct ttm_catalog_entry {
  char *folder;  /* the last part of its path */
  char *name;    /* what its files start with: usually the same */
  char *log;     /* path of the log as it was given, "" when unknown */
  char *failure; /* "Out of memory in DRAM: fragmented, ...", the first one; "" when there was none */
  uint64_t failures;
  uint64_t operations;
  double peak_mb, peak_pct; /* DRAM per bank; below 0 when unknown */
  double l1_peak_mb, l1_peak_pct;
  int64_t written; /* seconds since 1970 of the newest file */
  bool has_findings, has_page;
  uint64_t stamp; /* changes when anything of the report does; 0: unknown */
  bool later;     /* written by a later ttmem: nothing but names is known, and `failure` says so */
} ttm_catalog_entry;

/* Newest first. Zero is empty; freed with ttm_catalog_free. */
typedef struct ttm_catalog {
  char *root;      /* the folder whose sub-folders the entries are */
  bool only_entry; /* a single report was named: the entry is that one */
  TTM_VEC(ttm_catalog_entry) entries;
} ttm_catalog;

/* Reads the reports of `path`: itself when it is a report, else its sub-folders. A folder without reports gives no entries;
 * TTM_EIO when there is no such folder, TTM_ENOMEM. Unreadable reports are left out. */
int ttm_catalog_read(ttm_catalog *out, const char *path, ttm_error *err);
void ttm_catalog_free(ttm_catalog *catalog);

/* Reads again what was added, removed or changed below `path` since the catalog was read; *changed says whether anything was. On failure the catalog
 * is as it was. TTM_EIO, TTM_ENOMEM. */
int ttm_catalog_renew(ttm_catalog *catalog, const char *path, bool *changed, ttm_error *err);

/* Opens the folder of a report: a real one, or a link of `ttmem run` into the store. Below 0 with errno. */
int ttm_catalog_folder(int root, const char *name);

/* One report from its open folder. TTM_ENODATA when it is none, TTM_EIO, TTM_ENOMEM. Freed with ttm_catalog_entry_free. */
int ttm_catalog_entry_read(ttm_catalog_entry *out, int folder, const char *folder_name);
void ttm_catalog_entry_free(ttm_catalog_entry *entry);

/* Appends the text of its findings file; nothing when there is none. */
void ttm_catalog_findings(const ttm_catalog *catalog, const ttm_catalog_entry *entry, ttm_buf *out);

/* Deletes the report's own files, with `sources` also the log and the recording that `ttmem run` kept there, and its folder when nothing else is in
 * it. 0, or TTM_EIO. */
int ttm_catalog_delete(const ttm_catalog *catalog, const ttm_catalog_entry *entry, bool sources, ttm_error *err);

/* Where the entry's log or recording is now, also when it is another one (*changed). NULL when it is gone; freed with ttm_free. */
char *ttm_catalog_log(const ttm_catalog *catalog, const ttm_catalog_entry *entry, bool *changed);

#endif
