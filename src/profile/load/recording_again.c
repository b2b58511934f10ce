/* SPDX-License-Identifier: Apache-2.0 */
/* A call that did what an earlier one did is written as its addresses. The nodes of the earlier one are kept, and read again with them. */
#include "profile/load/graph.h"

int ttm_recording_begin_template(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_templates *t = &l->templates;
  uint64_t key = ttm_node_get(node, TTM_PARAM_KEY, 0);
  if (!key) return TTM_OK;
  t->saving = true;
  if (ttm_vec_push(&t->first, (uint32_t)t->nodes.n)) return TTM_ENOMEM;
  return ttm_map_set(&t->of_key, ttm_recording_own(l, key), (uint32_t)(t->first.n - 1));
}

static int copy_list(ttm_node_list *out, const ttm_node_list *list) {
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < list->n; i++)
    if (ttm_vec_push(out, list->at[i])) return TTM_ENOMEM;
  return TTM_OK;
}

int ttm_recording_save(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_templates *t = &l->templates;
  ttm_template_node saved = {.node = *node};
  int rc = copy_list(&saved.node.connections, &node->connections);
  if (copy_list(&saved.node.inputs, &node->inputs)) rc = TTM_ENOMEM;
  for (size_t i = 0; i < TTM_PARAM_TEXTS && !rc; i++) rc = ttm_build_string(l->builder, node->text[i], &saved.texts[i]);
  if (!rc && !ttm_vec_push(&t->nodes, saved)) return TTM_OK;
  ttm_vec_free(&saved.node.connections);
  ttm_vec_free(&saved.node.inputs);
  return TTM_ENOMEM;
}

void ttm_recording_free_templates(ttm_capture_loader *l) {
  ttm_templates *t = &l->templates;
  for (size_t i = 0; i < t->nodes.n; i++) {
    ttm_vec_free(&t->nodes.at[i].node.connections);
    ttm_vec_free(&t->nodes.at[i].node.inputs);
  }
  ttm_vec_free(&t->nodes);
  ttm_vec_free(&t->first);
  ttm_map_free(&t->of_key);
}

/* A node of the template with an address of the repetition. */
static int take_again(ttm_capture_loader *l, const ttm_template_node *saved, const ttm_capture_node *again) {
  ttm_capture_node node = saved->node;
  uint64_t slot = ttm_node_get(&node, TTM_PARAM_SLOT, TTM_NONE);
  node.line = again->line;
  if (slot < again->connections.n) node.number[TTM_PARAM_ADDRESS] = again->connections.at[slot];
  for (size_t i = 0; i < TTM_PARAM_TEXTS; i++) node.text[i] = ttm_profile_string(l->profile, saved->texts[i]);
  return ttm_capture_take(l, &node);
}

int ttm_recording_again(ttm_capture_loader *l, const ttm_capture_node *node) {
  ttm_templates *t = &l->templates;
  uint64_t key = ttm_recording_own(l, ttm_node_get(node, TTM_PARAM_KEY, 0));
  uint32_t at = ttm_map_get(&t->of_key, key, TTM_NONE);
  if (at == TTM_NONE) return TTM_OK;
  size_t end = at + 1 < t->first.n ? t->first.at[at + 1] : t->nodes.n;
  int rc = ttm_recording_turn(l);
  for (size_t i = t->first.at[at]; i < end && !rc; i++) rc = take_again(l, &t->nodes.at[i], node);
  return rc;
}

/* Between calls: device, memory and address of each. */
int ttm_recording_freed(ttm_capture_loader *l, const ttm_capture_node *node) {
  static const ttm_node_number which[] = {TTM_PARAM_DEVICE, TTM_PARAM_BUFFER_TYPE, TTM_PARAM_ADDRESS};
  enum { NUMBERS = sizeof which / sizeof *which };
  ttm_capture_node freed = {.type = TTM_NODE_BUFFER_DEALLOCATE, .line = node->line};
  int rc = ttm_recording_turn(l);
  for (size_t at = 0; at + NUMBERS <= node->connections.n && !rc; at += NUMBERS) {
    for (size_t i = 0; i < NUMBERS; i++) {
      freed.number[which[i]] = node->connections.at[at + i];
      freed.numbers |= UINT64_C(1) << which[i];
    }
    rc = ttm_capture_take(l, &freed);
  }
  return rc;
}
