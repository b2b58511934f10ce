/* SPDX-License-Identifier: Apache-2.0 */
/* What gen_log can be asked: one table of switches, and --mix, which draws all of them from the seed. */
#include "gen_log/gen.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum kind { FLAG, UNFLAG, NUMBER, SIZE, TEXT, CHOICE } kind;

typedef struct option {
  const char *name;
  kind kind;
  size_t at;
  const char *choices; /* "a|b|c": stores the position */
  const char *help;
} option;

#define AT(field) offsetof(gen_options, field)

/* CHOICE stores an int-sized enum or uint32_t: all are four bytes here. */
_Static_assert(sizeof(gen_fail) == 4 && sizeof(gen_cut) == 4 && sizeof(gen_kv) == 4 && sizeof(gen_odd) == 4 &&
                   sizeof(gen_era) == 4,
               "choices are stored as 32 bits");

static const option OPTIONS[] = {
    {"--bytes", SIZE, AT(bytes), NULL, "stop at this many bytes (K, M, G)"},
    {"--operations", SIZE, AT(operations), NULL, "stop at this many operation lines"},
    {"--runs", SIZE, AT(runs), NULL, "stop after this many runs"},
    {"--seed", SIZE, AT(seed), NULL, "everything random comes from here"},
    {"--out", TEXT, AT(out), NULL, "the log; - is stdout"},
    {"--truth", TEXT, AT(truth), NULL, "what is true about it, as JSON"},
    {"--truth-ops", FLAG, AT(truth_ops), NULL, "with a record per operation"},
    {"--layers", NUMBER, AT(layers), NULL, "layers of the model"},
    {"--hidden", NUMBER, AT(hidden), NULL, "width of the model, a multiple of 32"},
    {"--seq", NUMBER, AT(seq), NULL, "tokens"},
    {"--vocab", NUMBER, AT(vocab), NULL, "words"},
    {"--graphs", NUMBER, AT(graphs), NULL, "different programs, all named main"},
    {"--repeat", NUMBER, AT(repeat), NULL, "runs of one graph before the next one's turn"},
    {"--ranks", NUMBER, AT(ranks), NULL, "workers, woven line by line with rank tags"},
    {"--devices", NUMBER, AT(devices), NULL, "devices of the mesh; parameters are split over them"},
    {"--board", CHOICE, AT(p150), "n150|p150", "geometry and alignment"},
    {"--trace-region", SIZE, AT(trace_region), NULL, "bytes per bank"},
    {"--weights", CHOICE, AT(weight_dtype), "bf16|f32|bfp8|bfp4", "dtype of the parameters on the device"},
    {"--dram-bank", SIZE, AT(dram_bank), NULL, "bytes of a DRAM bank, fewer than the board has"},
    {"--modules", FLAG, AT(modules), NULL, "the dumped ttnn modules hold the whole program, all but what --fail adds"},
    {"--no-dumps", UNFLAG, AT(dumps), NULL, "no module dumps"},
    {"--ansi", CHOICE, AT(ansi), "never|always", "colour escapes"},
    {"--ci-time", FLAG, AT(ci_time), NULL, "ISO time stamps before every line"},
    {"--glue", FLAG, AT(glue), NULL, "a pytest node id before the first line"},
    {"--crlf", FLAG, AT(crlf), NULL, "CR LF line ends"},
    {"--tqdm", FLAG, AT(tqdm), NULL, "progress bars without line end"},
    {"--noise", NUMBER, AT(noise), NULL, "foreign lines per 1000"},
    {"--bad-bytes", FLAG, AT(bad_bytes), NULL, "NUL and broken UTF-8 among them"},
    {"--old-tile", FLAG, AT(old_tile), NULL, "!tt.tile as in 2025"},
    {"--block-debug", FLAG, AT(block_debug), NULL, "blocks at DEBUG level as in 2025-11"},
    {"--leak", FLAG, AT(leak), NULL, "one tensor per run is never freed"},
    {"--leak-more", NUMBER, AT(leak_more), NULL, "with --leak: so many tensors of every layer as well, of other sizes"},
    {"--leak-graph", NUMBER, AT(leak_graph), NULL, "with --leak: only this graph leaks, from 1"},
    {"--leak-uneven", FLAG, AT(leak_uneven), NULL, "with --leak: by another size in every run"},
    {"--requests", NUMBER, AT(requests), NULL,
     "a server: a run of the first graph, whose results stay for the request, then up to so many of each other one"},
    {"--late", FLAG, AT(late), NULL, "attention scores are freed four operations after their last use"},
    {"--upcast", FLAG, AT(upcast), NULL, "the feed-forward weights are bf16 and kept as f32"},
    {"--originals", FLAG, AT(originals), NULL,
     "weights stay on the device as they were beside what const-eval made of them"},
    {"--waste", FLAG, AT(waste), NULL, "a tensor that is mostly tile padding and one of narrow rows, in every run"},
    {"--odd-layer", NUMBER, AT(odd_layer), NULL, "this layer, from 1, has one operation more than the others"},
    {"--odd-at", CHOICE, AT(odd_at), "end|middle|start", "where in that layer it stands"},
    {"--kv-cache", CHOICE, AT(kv_cache), "none|marked|named", "arguments that are a KV cache, by attribute or by name"},
    {"--one-run", FLAG, AT(one_run), NULL, "one program, as long as --operations asks"},
    {"--no-free", FLAG, AT(no_free), NULL, "nothing is ever deallocated; implies --one-run"},
    {"--no-const-eval", UNFLAG, AT(const_eval), NULL, "weights are on the device already"},
    {"--zoo", FLAG, AT(zoo), NULL, "types, layouts and locations of every kind"},
    {"--trace", FLAG, AT(trace), NULL, "a captured trace; give it a --trace-region"},
    {"--binaries", FLAG, AT(binaries), NULL, "kernel binaries at the top of DRAM"},
    {"--truncate", CHOICE, AT(cut), "none|op|header|dram|l1", "the last run ends inside such a line (needs --runs)"},
    {"--fail", CHOICE, AT(fail), "none|exhausted|fragmented|impossible|clash|overflow|fatal|runtime|tight",
     "how a run dies"},
    {"--fail-memory", CHOICE, AT(fail_memory), "dram|l1", "where memory runs out"},
    {"--fail-run", NUMBER, AT(fail_run), NULL, "which run, from 0"},
    {"--fail-copies", NUMBER, AT(fail_copies), NULL, "1 log line, 2 and exception, 3 and traceback"},
    {"--fail-era", CHOICE, AT(fail_era), "2026|2025|2024|dependent", "wording of the message"},
    {"--continue", FLAG, AT(go_on), NULL, "later runs follow a failure"},
    {"--replay", TEXT, AT(replay), NULL, NULL}, /* hidden: an allocator trace to compare with */
};

static void usage(void) {
  puts(
      "gen_log: runtime logs of any size, with the truth about them\n\n  --kind full|blocks|ops|submit  what the log "
      "shows\n"
      "  --program-level      blocks around submit as well\n  --mix                draw the switches from the seed; "
      "later ones win");
  for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
    if (OPTIONS[i].help)
      printf("  %-20s %s%s%s\n", OPTIONS[i].name, OPTIONS[i].choices ? OPTIONS[i].choices : "",
             OPTIONS[i].choices ? ": " : "", OPTIONS[i].help);
  exit(0);
}

static uint64_t size_of(const char *name, const char *text) {
  char *end;
  unsigned long long n = strtoull(text, &end, 10);
  int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  if (end == text || end[shift ? 1 : 0]) gen_die("%s wants a number, not %s", name, text);
  return (uint64_t)n << shift;
}

static uint32_t choice_of(const option *option, const char *text) {
  size_t n = strlen(text);
  uint32_t i = 0;
  for (const char *p = option->choices; p; i++) {
    const char *bar = strchr(p, '|');
    size_t length = bar ? (size_t)(bar - p) : strlen(p);
    if (length == n && !memcmp(p, text, n)) return i;
    p = bar ? bar + 1 : NULL;
  }
  gen_die("%s is one of %s, not %s", option->name, option->choices, text);
}

static void set_kind(gen_options *o, const char *text) {
  o->ops = !strcmp(text, "full") || !strcmp(text, "ops");
  o->blocks = !strcmp(text, "full") || !strcmp(text, "blocks");
  o->submit = !strcmp(text, "submit");
  if (!o->ops && !o->blocks && !o->submit) gen_die("--kind is one of full|blocks|ops|submit, not %s", text);
}

static void store(gen_options *o, const option *option, const char *value) {
  char *field = (char *)o + option->at;
  switch (option->kind) {
    case FLAG:
      *(bool *)field = true;
      break;
    case UNFLAG:
      *(bool *)field = false;
      break;
    case NUMBER:
      *(uint32_t *)field = (uint32_t)size_of(option->name, value);
      break;
    case SIZE:
      *(uint64_t *)field = size_of(option->name, value);
      break;
    case TEXT:
      *(const char **)field = value;
      break;
    case CHOICE:
      if (option->at == AT(p150) || option->at == AT(ansi))
        *(bool *)field = choice_of(option, value) != 0;
      else
        *(uint32_t *)field = choice_of(option, value);
  }
}

/* Everything at once, for the property tests: small logs, each of another kind. */
static void mix(gen_options *o) {
  gen_random r = {o->seed * 2654435761u + 1};
  static const char *const kinds[] = {"full", "full", "full", "full", "blocks", "ops", "submit"};
  set_kind(o, kinds[gen_below(&r, 7)]);
  if (gen_chance(&r, 30)) o->submit = true;
  o->runs = 1 + gen_below(&r, 4);
  o->layers = 1 + (uint32_t)gen_below(&r, 3);
  o->hidden = 32 * (1 + (uint32_t)gen_below(&r, 16));
  o->seq = 1 + (uint32_t)gen_below(&r, 200);
  o->vocab = 100 + (uint32_t)gen_below(&r, 3000);
  o->graphs = gen_chance(&r, 20) ? 2 : 1;
  o->ranks = gen_chance(&r, 20) ? 2 + (uint32_t)gen_below(&r, 2) : 1;
  o->devices = gen_chance(&r, 20) ? 4 : 1;
  o->p150 = gen_chance(&r, 30);
  o->trace = gen_chance(&r, 20);
  o->trace_region = o->trace || gen_chance(&r, 30) ? 90112 : 0;
  o->weight_dtype = (uint32_t)gen_below(&r, 4);
  o->dumps = gen_chance(&r, 90);
  o->ansi = gen_chance(&r, 70);
  o->ci_time = gen_chance(&r, 20);
  o->glue = gen_chance(&r, 20);
  o->crlf = gen_chance(&r, 15);
  o->tqdm = gen_chance(&r, 20);
  o->noise = gen_chance(&r, 60) ? (uint32_t)gen_below(&r, 400) : 0;
  o->bad_bytes = gen_chance(&r, 30);
  o->old_tile = gen_chance(&r, 10);
  o->leak = gen_chance(&r, 25);
  if (o->leak) o->runs = 5;
  o->const_eval = gen_chance(&r, 80);
  o->zoo = gen_chance(&r, 75);
  o->binaries = gen_chance(&r, 30);
  if (gen_chance(&r, 40)) o->fail = 1 + (gen_fail)gen_below(&r, 7);
  o->fail_memory = (uint32_t)gen_below(&r, 2);
  o->fail_run = (uint32_t)gen_below(&r, o->runs);
  o->fail_copies = 1 + (uint32_t)gen_below(&r, 3);
  if (gen_chance(&r, 30)) o->fail_era = (gen_era)gen_below(&r, 4);
  o->go_on = gen_chance(&r, 50);
  if (!o->fail && gen_chance(&r, 20)) o->cut = 1 + (gen_cut)gen_below(&r, 4);
  if (o->graphs > 1 && gen_chance(&r, 50)) o->requests = 1 + (uint32_t)gen_below(&r, 3), o->runs = 12;
  o->leak_uneven = gen_chance(&r, 30);
}

static void settle(gen_options *o) {
  if (!o->bytes && !o->operations && !o->runs) o->runs = 2;
  if (!o->layers || !o->hidden || !o->seq || !o->vocab || !o->graphs || !o->repeat || !o->ranks || !o->devices)
    gen_die("sizes start at 1");
  if (o->hidden % 32) gen_die("--hidden is a multiple of 32");
  if (o->cut == GEN_CUT_OPERATION && !o->ops) o->cut = GEN_CUT_NONE;
  if (o->cut > GEN_CUT_OPERATION && !o->blocks) o->cut = GEN_CUT_NONE;
  o->dumps |= o->modules;
  if (o->one_run && o->operations && !o->ops && !o->blocks) gen_die("--one-run counts operations that the log shows");
  if (o->trace && !o->trace_region) o->trace_region = 90112;
}

void gen_options_read(gen_options *o, int argc, char **argv) {
  *o = (gen_options){.seed = 1,
                     .out = "-",
                     .ops = true,
                     .blocks = true,
                     .layers = 4,
                     .hidden = 1024,
                     .seq = 128,
                     .vocab = 32000,
                     .graphs = 1,
                     .repeat = 1,
                     .ranks = 1,
                     .devices = 1,
                     .dumps = true,
                     .ansi = true,
                     .const_eval = true,
                     .fail_copies = 2};
  for (int i = 1; i + 1 < argc; i++) /* --mix needs it, wherever it stands */
    if (!strcmp(argv[i], "--seed")) o->seed = size_of("--seed", argv[i + 1]);
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) usage();
    if (!strcmp(argv[i], "--mix")) {
      mix(o);
      continue;
    }
    if (!strcmp(argv[i], "--program-level")) {
      o->submit = true;
      continue;
    }
    if (!strcmp(argv[i], "--kind")) {
      if (++i == argc) gen_die("--kind wants a value");
      set_kind(o, argv[i]);
      continue;
    }
    const option *found = NULL;
    for (size_t k = 0; k < sizeof OPTIONS / sizeof *OPTIONS; k++)
      if (!strcmp(argv[i], OPTIONS[k].name)) found = &OPTIONS[k];
    if (!found) gen_die("unknown option %s; see --help", argv[i]);
    bool takes_value = found->kind != FLAG && found->kind != UNFLAG;
    if (takes_value && i + 1 == argc) gen_die("%s wants a value", argv[i]);
    store(o, found, takes_value ? argv[++i] : NULL);
    o->one_run |= o->no_free;
    /* 200,000 tensors must fit. */
    if (o->one_run && o->hidden == 1024) o->hidden = 64, o->seq = 32, o->vocab = 64;
  }
  settle(o);
}
