/* SPDX-License-Identifier: Apache-2.0 */
/* A treap: ordered by address, balanced by a hash of the node's number, each node knowing the largest block of its subtree, so that the
 * first block that fits is found without looking at the others. Node 0 is nobody. */
#include "base/bank.h"

#include "base/hash.h"
#include "ttmem/error.h"

struct ttm_bank_node {
  uint64_t at, size, largest;
  uint32_t left, right;
};
typedef struct ttm_bank_node node;

#define NODE(bank, i) (&(bank)->nodes.at[i])

static uint64_t weight(uint32_t i) {
  return ttm_hash_mix(i ^ UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9));
}

static void settle(ttm_bank *bank, uint32_t i) {
  node *n = NODE(bank, i);
  uint64_t left = NODE(bank, n->left)->largest, right = NODE(bank, n->right)->largest;
  n->largest = n->size;
  if (left > n->largest) n->largest = left;
  if (right > n->largest) n->largest = right;
}

static int new_node(ttm_bank *bank, uint64_t at, uint64_t size, uint32_t *out) {
  node fresh = {.at = at, .size = size, .largest = size};
  if (bank->spare) {
    *out = bank->spare;
    bank->spare = NODE(bank, *out)->right;
    *NODE(bank, *out) = fresh;
    return TTM_OK;
  }
  *out = (uint32_t)bank->nodes.n;
  return ttm_vec_push(&bank->nodes, fresh) ? TTM_ENOMEM : TTM_OK;
}

static void drop_node(ttm_bank *bank, uint32_t i) {
  *NODE(bank, i) = (node){.right = bank->spare};
  bank->spare = i;
}

/* Everything in `low` lies below everything in `high`. */
static uint32_t join(ttm_bank *bank, uint32_t low, uint32_t high) {
  if (!low) return high;
  if (!high) return low;
  if (weight(low) > weight(high)) {
    NODE(bank, low)->right = join(bank, NODE(bank, low)->right, high);
    settle(bank, low);
    return low;
  }
  NODE(bank, high)->left = join(bank, low, NODE(bank, high)->left);
  settle(bank, high);
  return high;
}

/* Cuts a tree at an address: blocks below it, and the rest. */
static void split(ttm_bank *bank, uint32_t tree, uint64_t at, uint32_t *low, uint32_t *high) {
  if (!tree) {
    *low = *high = 0;
  } else if (NODE(bank, tree)->at < at) {
    uint32_t rest;
    split(bank, NODE(bank, tree)->right, at, &rest, high);
    NODE(bank, tree)->right = rest;
    settle(bank, tree);
    *low = tree;
  } else {
    uint32_t rest;
    split(bank, NODE(bank, tree)->left, at, low, &rest);
    NODE(bank, tree)->left = rest;
    settle(bank, tree);
    *high = tree;
  }
}

static uint32_t insert(ttm_bank *bank, uint32_t tree, uint32_t i) {
  if (!tree) return i;
  if (weight(i) > weight(tree)) {
    uint32_t low, high;
    split(bank, tree, NODE(bank, i)->at, &low, &high);
    NODE(bank, i)->left = low;
    NODE(bank, i)->right = high;
    settle(bank, i);
    return i;
  }
  if (NODE(bank, i)->at < NODE(bank, tree)->at)
    NODE(bank, tree)->left = insert(bank, NODE(bank, tree)->left, i);
  else
    NODE(bank, tree)->right = insert(bank, NODE(bank, tree)->right, i);
  settle(bank, tree);
  return tree;
}

/* The tree without the block that starts at `at`. */
static uint32_t erase(ttm_bank *bank, uint32_t tree, uint64_t at) {
  if (!tree) return 0;
  node *n = NODE(bank, tree);
  if (n->at == at) {
    uint32_t rest = join(bank, n->left, n->right);
    drop_node(bank, tree);
    return rest;
  }
  if (at < n->at)
    n->left = erase(bank, n->left, at);
  else
    n->right = erase(bank, n->right, at);
  settle(bank, tree);
  return tree;
}

int ttm_bank_init(ttm_bank *bank, uint64_t size) {
  *bank = (ttm_bank){.size = size};
  if (ttm_vec_push(&bank->nodes, (node){0})) return TTM_ENOMEM;
  if (!size || !new_node(bank, 0, size, &bank->root)) return TTM_OK;
  ttm_bank_free(bank);
  return TTM_ENOMEM;
}

void ttm_bank_free(ttm_bank *bank) {
  ttm_vec_free(&bank->nodes);
  *bank = (ttm_bank){0};
}

int ttm_bank_copy(ttm_bank *out, const ttm_bank *bank) {
  *out = (ttm_bank){.size = bank->size, .allocated = bank->allocated, .root = bank->root, .spare = bank->spare};
  for (size_t i = 0; i < bank->nodes.n; i++)
    if (ttm_vec_push(&out->nodes, bank->nodes.at[i])) return TTM_ENOMEM;
  return TTM_OK;
}

uint64_t ttm_bank_largest(const ttm_bank *bank) { return NODE(bank, bank->root)->largest; }

/* Shrinks the first block that fits; *empty says that nothing of it is left. */
static void take(ttm_bank *bank, uint32_t tree, uint64_t size, bool from_top, uint64_t *at, bool *empty) {
  node *n = NODE(bank, tree);
  uint32_t first = from_top ? n->right : n->left, second = from_top ? n->left : n->right;
  if (NODE(bank, first)->largest >= size) {
    take(bank, first, size, from_top, at, empty);
  } else if (n->size >= size) {
    *at = from_top ? n->at + n->size - size : n->at;
    *empty = n->size == size;
    if (!*empty) n->size -= size;
    if (!*empty && !from_top) n->at += size;
  } else {
    take(bank, second, size, from_top, at, empty);
  }
  settle(bank, tree);
}

bool ttm_bank_take(ttm_bank *bank, uint64_t size, bool from_top, uint64_t *at) {
  bool empty = false;
  *at = 0;
  if (!size) return true;
  if (ttm_bank_largest(bank) < size) return false;
  take(bank, bank->root, size, from_top, at, &empty);
  if (empty) bank->root = erase(bank, bank->root, *at);
  bank->allocated += size;
  return true;
}

/* The free blocks around an address: the last that starts below it, the first that does not. Node 0 for none. */
static void neighbours(const ttm_bank *bank, uint64_t at, uint32_t *below, uint32_t *above) {
  *below = *above = 0;
  for (uint32_t i = bank->root; i;) {
    bool is_below = NODE(bank, i)->at < at;
    *(is_below ? below : above) = i;
    i = is_below ? NODE(bank, i)->right : NODE(bank, i)->left;
  }
}

int ttm_bank_give(ttm_bank *bank, uint64_t at, uint64_t size) {
  uint32_t below, above, i;
  if (!size) return TTM_OK;
  bank->allocated -= size;
  neighbours(bank, at, &below, &above);
  if (above && NODE(bank, above)->at == at + size) {
    size += NODE(bank, above)->size;
    bank->root = erase(bank, bank->root, NODE(bank, above)->at);
  }
  if (below && NODE(bank, below)->at + NODE(bank, below)->size == at) {
    uint64_t start = NODE(bank, below)->at;
    size += NODE(bank, below)->size;
    bank->root = erase(bank, bank->root, start);
    at = start;
  }
  if (new_node(bank, at, size, &i)) return TTM_ENOMEM;
  bank->root = insert(bank, bank->root, i);
  return TTM_OK;
}

static size_t list(const ttm_bank *bank, uint32_t tree, ttm_extent *out, size_t cap, size_t n) {
  if (!tree) return n;
  const node *here = NODE(bank, tree);
  n = list(bank, here->left, out, cap, n);
  if (n < cap) out[n] = (ttm_extent){here->at, here->size};
  return list(bank, here->right, out, cap, n + 1);
}

size_t ttm_bank_blocks(const ttm_bank *bank, ttm_extent *out, size_t cap) {
  return list(bank, bank->root, out, cap, 0);
}
