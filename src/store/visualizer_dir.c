/* SPDX-License-Identifier: Apache-2.0 */
#include "store/visualizer_dir.h"

#include <sys/stat.h>

#include "base/source.h"
#include "parse/json_text.h"
#include "report/export/export.h"
#include "store/folder.h"

static const char MARK[] = "exported_by";

static bool is_ours(const char *file_name, const char *name) {
  (void)name;
  static const char *const files[] = {"db.sqlite", "config.json", "cluster_descriptor.yaml"};
  return ttm_str_index(ttm_str_of(file_name), files, 3) < 3;
}

/* ttnn's own reports have files of the same names: config.json tells them apart. */
static int check_mark(const char *folder, ttm_error *err) {
  struct stat st;
  ttm_buf text = {0};
  char *db = ttm_folder_join(folder, "db.sqlite", ""), *config = ttm_folder_join(folder, "config.json", "");
  int status = db && config ? TTM_OK : ttm_error_nomem(err);
  bool there = !status && !stat(db, &st);
  if (there && ttm_source_read_small(&text, config, 1 << 16, NULL) == TTM_ENOMEM) status = ttm_error_nomem(err);
  if (there && !status && !ttm_json_get_member(ttm_buf_str(&text), MARK).n)
    status =
        ttm_error_set(err, TTM_EUSAGE, "'%s' holds a report that ttmem did not write; name another folder", folder);
  ttm_buf_free(&text);
  ttm_free(db);
  ttm_free(config);
  return status;
}

static int write_text(const char *folder, const char *file, ttm_str text, ttm_error *err) {
  ttm_out out;
  char *path = ttm_folder_join(folder, file, "");
  int status = path ? ttm_out_open(&out, path, err) : ttm_error_nomem(err);
  if (!status) {
    ttm_buf_put(&out.buf, text);
    status = ttm_out_close(&out, err);
  }
  ttm_free(path);
  return status;
}

static int write_config(const ttm_findings *f, const char *folder, ttm_str name, ttm_error *err) {
  ttm_buf text = {0};
  ttm_json j = {.out = &text, .spaced = true};
  ttm_json_put_sections(&j, NULL);
  ttm_json_put_str(&j, "report_name", name);
  ttm_json_put_bool(&j, "enable_graph_report", true);
  ttm_json_put_bool(&j, "enable_detailed_buffer_report", !ttm_profile_is_window(f->profile));
  ttm_json_put_str(&j, MARK, TTM_LIT("ttmem"));
  ttm_json_end(&j);
  int status = ttm_json_finish(&j) ? ttm_error_nomem(err) : write_text(folder, "config.json", ttm_buf_str(&text), err);
  ttm_buf_free(&text);
  return status;
}

static int write_database(const ttm_findings *f, const char *folder, ttm_error *err) {
  char *path = ttm_folder_join(folder, "db.sqlite", "");
  int status = path ? ttm_export_visualizer(f, path, err) : ttm_error_nomem(err);
  ttm_free(path);
  return status;
}

int ttm_visualizer_dir_write(const ttm_findings *f, const char *folder, ttm_str name, ttm_str descriptor,
                             ttm_error *err) {
  ttm_fresh fresh;
  int status = check_mark(folder, err);
  if (!status) status = ttm_fresh_open(&fresh, folder, NULL, is_ours, err);
  if (status) return status;
  status = write_database(f, fresh.path, err);
  if (!status) status = write_config(f, fresh.path, name, err);
  if (!status && descriptor.n) status = write_text(fresh.path, "cluster_descriptor.yaml", descriptor, err);
  if (!status) return ttm_fresh_place(&fresh, NULL, is_ours, err);
  ttm_fresh_abandon(&fresh, NULL, is_ours);
  return status;
}
