/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of other writers: tt-xla's loguru, tt-metal in its three eras, Python loggers, prints, broken bytes. */
#include "gen_log/gen.h"

static void put_time(gen_writer *w, ttm_buf *out, char fraction) {
  uint64_t s = w->clock_us / 1000000 + 9 * 3600 + 25 * 60;
  ttm_buf_printf(out, "2026-06-19 %02u:%02u:%02u%c%03u", (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60),
                 (unsigned)(s % 60), fraction, (unsigned)(w->clock_us / 1000 % 1000));
}

void gen_loguru_prefix(gen_writer *w, const char *file, unsigned line, const char *level, ttm_buf *out) {
  put_time(w, out, '.');
  ttm_buf_printf(out, " (%8.3fs) [%16s]%23s:%-5u %4s| ", (double)w->clock_us / 1e6, "8C291140", file, line, level);
}

void gen_metal_prefix(gen_writer *w, const char *level, const char *logger, ttm_buf *out) {
  put_time(w, out, '.');
  ttm_buf_printf(out, " | %-8s | %15s | ", level, logger);
}

static void put_loguru(gen_writer *w, ttm_buf *out) {
  static const struct {
    const char *file;
    unsigned line;
    const char *text;
  } lines[] = {
      {"buffer_instance.cc", 637, "BufferInstance::PJRT_Buffer_IsDeleted"},
      {"buffer_instance.cc", 536, "BufferInstance::PJRT_Buffer_Destroy"},
      {"flatbuffer_loaded_execu", 260, "FlatbufferLoadedExecutableInstance::Execute"},
      {"client_instance.cc", 416, "ClientInstance::getOrCreateMeshDevice - reusing already opened mesh device [1, 1]"},
      {"device_description.cc", 44, "DeviceDescription::PJRT_DeviceDescription_Id"},
      {"stubs.inc", 76, "STUB: PJRT_Executable_GetCompiledMemoryStats | ignored"},
  };
  size_t i = gen_below(&w->random, sizeof lines / sizeof *lines);
  gen_loguru_prefix(w, lines[i].file, lines[i].line, gen_chance(&w->random, 90) ? "1" : "WARN", out);
  ttm_buf_puts(out, lines[i].text);
}

static void put_metal(gen_writer *w, ttm_buf *out) {
  switch (gen_below(&w->random, 5)) {
    case 0: /* era A */
      ttm_buf_puts(out, "                  Metal | INFO     | Initializing device 0. Program cache is NOT enabled");
      break;
    case 1: /* era A, coloured */
      ttm_buf_puts(out,
                   "\x1b[38;2;000;128;000m                  Metal\x1b[0m | \x1b[1m\x1b[38;2;255;165;000mWARNING "
                   "\x1b[0m | Circular "
                   "buffer indices are not contiguous starting at 0. First unused index: 0. Kernels: blank");
      break;
    case 2: /* era B */
      ttm_buf_puts(out, "[2025-06-06 03:52:41.386] [info] [mesh_device.cpp:518] [Metal] Profiler started on device 0");
      break;
    case 3: /* era C */
      gen_metal_prefix(w, "info", "UMD", out);
      ttm_buf_puts(out, "Starting devices in cluster completed. (cluster.cpp:1464)");
      break;
    default: /* era C, coloured */
      ttm_buf_puts(out,
                   "\x1b[90m2026-06-19 09:25:31.001\x1b[0m | \x1b[33mwarning \x1b[0m | \x1b[35m         Always\x1b[0m "
                   "| \x1b[37mAllocating "
                   "device buffers is potentially unsafe due to the existence of an active trace.\x1b[0m "
                   "\x1b[90m(allocator.cpp:126)\x1b[0m");
  }
}

static void put_python(gen_writer *w, ttm_buf *out) {
  static const char *const lines[] = {
      "2026-02-25 11:20:19.518 | WARNING  | torch_plugin_tt:__init__:38 - TT plugin is setting XLA_STABLEHLO_COMPILE.",
      "2025-11-20 20:45:48,801 - INFO - e2e_duration_nanoseconds_submit = 63516053",
      "2026-02-21 22:37:07.295896: W torch_xla/csrc/runtime/profiler.cpp:88] Profiler API not found for PJRT plugin",
      "INFO 10-23 04:15:50 [engine.py:187] Avg prompt throughput: 0.0 tokens/s, Running: 1 reqs",
      "[SERVER] GET /health 200 OK",
      "Got output shape: torch.Size([1, 256])",
      "",
      "/usr/lib/python3.11/site-packages/torch/nn/functional.py:5209: UserWarning: something | something else",
      "  warnings.warn(\"pad {mode} <deprecated> (see [docs])\")",
      "tensor([[-0.1328,  0.2871],\n        [ 1.0938, -0.4414]], dtype=torch.bfloat16)",
  };
  ttm_str text = ttm_str_of(lines[gen_below(&w->random, sizeof lines / sizeof *lines)]);
  size_t end = ttm_str_find_char(text, '\n'); /* one line at a time */
  ttm_buf_put(out, end == TTM_NOT_FOUND ? text : ttm_str_first(text, end));
}

static void put_broken(gen_writer *w, ttm_buf *out) {
  static const char bytes[] = "\x00\xff\xfe\xc3(\x80\xf0\x9f\x92 binary\x00tail\x1b[ \xed\xa0\x80";
  ttm_buf_put(out, (ttm_str){bytes, 4 + gen_below(&w->random, sizeof bytes - 5)});
}

void gen_foreign_line(gen_writer *w, bool loguru_only, ttm_buf *out) {
  uint64_t kind = loguru_only ? 0 : gen_below(&w->random, w->o->bad_bytes ? 10 : 9);
  if (kind < 4)
    put_loguru(w, out);
  else if (kind < 6)
    put_metal(w, out);
  else if (kind < 9)
    put_python(w, out);
  else
    put_broken(w, out);
}
