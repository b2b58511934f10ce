/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/op_groups.h"

#include "analyze/parts.h"

int ttm_op_groups_init(ttm_op_groups *groups, const ttm_profile *p) {
  *groups = (ttm_op_groups){.profile = p, .of_text = ttm_alloc_array(p->texts.n, sizeof *groups->of_text)};
  return groups->of_text ? TTM_OK : TTM_ENOMEM;
}

void ttm_op_groups_free(ttm_op_groups *groups) {
  ttm_free(groups->of_text);
  ttm_intern_free(&groups->keys);
  *groups = (ttm_op_groups){0};
}

static void put_key(ttm_buf *key, const ttm_op_groups *groups, const ttm_op_text *text) {
  const ttm_profile *p = groups->profile;
  ttm_str location = ttm_profile_string(p, text->location);
  bool lines = p->kind == TTM_LOG_CAPTURE; /* "model.py:12": another number is another place in the program */
  ttm_buf_printf(key, "%u ", text->name);
  for (uint32_t k = 0; k < text->outputs.n && !groups->untyped; k++)
    ttm_buf_printf(key, "%u ", p->lists.at[text->outputs.first + k]);
  for (size_t i = 0; i < location.n; i++) {
    bool digit = !lines && location.p[i] >= '0' && location.p[i] <= '9';
    if (!digit)
      ttm_buf_char(key, location.p[i]);
    else if (!i || !key->n || key->at[key->n - 1] != '#')
      ttm_buf_char(key, '#');
  }
}

int ttm_op_groups_of(ttm_op_groups *groups, uint32_t text, uint32_t *out) {
  *out = groups->of_text[text];
  if (*out) return TTM_OK;
  ttm_buf key = {0};
  put_key(&key, groups, &groups->profile->texts.at[text]);
  int status = key.failed ? TTM_ENOMEM : ttm_intern_add(&groups->keys, ttm_buf_str(&key), out);
  ttm_buf_free(&key);
  groups->of_text[text] = status ? 0 : *out;
  return status;
}
