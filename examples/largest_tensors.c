/* SPDX-License-Identifier: Apache-2.0 */
/* The largest tensors when DRAM was fullest, with the operations that made, last used and freed them. Ctrl-C ends the reading.
 *
 *   $ largest_tensors demo/llama_small.log.zst
 *   83.500 MB  model.embed_tokens.weight  #2 ttnn.to_layout, last used by #1149 ttnn.embedding, never freed
 *   83.500 MB  model.lm_head.weight  #332 ttnn.to_layout, last used by #1440 ttnn.matmul, never freed
 *   83.500 MB  adapter1.embed_tokens.weight  #1444 ttnn.to_layout, last used by #1444 ttnn.to_layout, never freed
 *   8.000 MB  model.layers.0.self_attn.qkv_proj.weight  #5 ttnn.to_layout, last used by #1152 ttnn.linear, never freed
 *   8.000 MB  model.layers.1.self_attn.qkv_proj.weight  #23 ttnn.to_layout, last used by #1168 ttnn.linear, never freed
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "ttmem/ttmem.h"

enum { SHOWN = 5 };

static volatile sig_atomic_t interrupted;
static void interrupt(int signal) { interrupted = signal; }

static int go_on(void *context, const ttm_progress *progress) {
  (void)context;
  (void)progress;
  return interrupted; /* anything but 0 ends the reading */
}

static int fail(const ttm_error *err) {
  fprintf(stderr, "%s\n", err->message);
  return EXIT_FAILURE;
}

static void print_operation(const ttm_profile *profile, const ttm_findings *findings, uint32_t row) {
  ttm_operation_info op = TTM_OPERATION_INFO_INIT;
  ttm_operation_get(profile, row, &op, NULL);
  printf("#%u %.*s", ttm_findings_index(findings, row), (int)op.name.n, op.name.p);
}

static int larger(const void *a, const void *b) {
  const ttm_tensor_info *x = a, *y = b;
  if (x->bank_bytes != y->bank_bytes) return x->bank_bytes < y->bank_bytes ? 1 : -1;
  return x->birth < y->birth ? -1 : x->birth > y->birth;
}

/* Keeps the largest in `kept`, which has room for one more than it keeps. */
static size_t keep(ttm_tensor_info *kept, size_t n, const ttm_tensor_info *tensor) {
  kept[n] = *tensor;
  qsort(kept, n + 1, sizeof *kept, larger);
  return n < SHOWN ? n + 1 : n;
}

int main(int argc, char **argv) {
  ttm_read_options options = TTM_READ_OPTIONS_INIT;
  ttm_profile *profile;
  ttm_findings *findings;
  ttm_error err;
  if (argc != 2) return fputs("usage: largest_tensors LOG\n", stderr), 2;
  signal(SIGINT, interrupt);
  options.on_progress = go_on;
  if (ttm_profile_read_opts(&profile, argv[1], &options, &err)) return fail(&err);
  if (ttm_findings_make(&findings, profile, 0, &err)) return fail(&err);

  ttm_tensor_info tensor = TTM_TENSOR_INFO_INIT, largest[SHOWN + 1];
  size_t n = 0;
  for (uint32_t row = 0; row < ttm_tensor_count(findings); row++) {
    ttm_tensor_get(findings, row, &tensor, NULL);
    if (tensor.alive_at_peak && tensor.memory == TTM_DRAM) n = keep(largest, n, &tensor);
  }
  for (size_t i = 0; i < n; i++) {
    const ttm_tensor_info *t = &largest[i];
    printf("%.3f MB  %.*s  ", (double)t->bank_bytes / 1048576, (int)t->name.n, t->name.p);
    if (t->birth != TTM_NONE) {
      print_operation(profile, findings, t->birth);
      printf(", last used by ");
      print_operation(profile, findings, t->last_use);
    }
    puts(t->freed_by == TTM_NONE ? ", never freed" : ", freed");
  }
  ttm_findings_free(findings);
  ttm_profile_free(profile);
  return 0;
}
