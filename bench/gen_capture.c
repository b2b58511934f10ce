/* SPDX-License-Identifier: Apache-2.0 */
/* usage: gen_capture BYTES >capture.json
 * A graph capture of at least that many bytes, pretty-printed as ttnn does: layers of one operation each, with an output in L1, two
 * dataflow buffers on different cores and the free of the output before. Every fourth output is in DRAM. The same for the same BYTES.
 * The truth: the fullest core holds 24576 B of buffers and, from the second layer on, two outputs of 4096 B. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t written, counter;

#define PUT(...) (written += (uint64_t)printf(__VA_ARGS__))

static uint64_t begin(const char *type) {
  PUT("%s\n  {\n    \"arguments\": [],\n    \"counter\": %" PRIu64
      ",\n    \"input_tensors\": [],\n    \"node_type\": \"%s\",\n",
      counter ? "," : "", counter, type);
  return counter++;
}

static void end(int64_t connection) {
  if (connection >= 0)
    PUT("    \"connections\": [\n      %" PRId64 "\n    ],\n    \"stacking_level\": 2\n  }", connection);
  else
    PUT("    \"connections\": [],\n    \"stacking_level\": 2\n  }");
}

static void function(const char *type, const char *name) {
  begin(type);
  PUT("    \"params\": {\n      \"inputs\": \"2\",\n      \"name\": \"%s\"\n    },\n", name);
  end(-1);
}

static void buffer(const char *type, uint64_t named, int dram) {
  begin(type);
  PUT("    \"params\": {\n      \"address\": 0,\n      \"buffer_type\": %d,\n      \"device_id\": 1,\n      "
      "\"layout\": \"INTERLEAVED\",\n"
      "      \"max_size_per_bank\": %d,\n      \"num_cores\": 0,\n      \"page_size\": 2048,\n      \"size\": 262144,\n"
      "      \"type\": \"%s\"\n    },\n",
      dram ? 0 : 1, dram ? 22528 : 4096, dram ? "DRAM" : "L1");
  end((int64_t)named);
}

static void program_buffer(const char *cores, int bytes) {
  begin("dataflow_buffer_allocate");
  PUT("    \"params\": {\n      \"address\": 0,\n      \"borrows_memory\": \"0\",\n      \"core_range_set\": \"%s\",\n "
      "     \"device_id\": 1,\n"
      "      \"size\": %d\n    },\n",
      cores, bytes);
  end(-1);
}

static void tensor(void) {
  begin("tensor");
  PUT("    \"params\": {\n      \"address\": 0,\n      \"device_id\": 1,\n      \"device_tensors\": "
      "\"[{\\\"address\\\":0,\\\"device_id\\\":0,\\\"mesh_device_id\\\":1}]\",\n      \"dtype\": "
      "\"DataType::BFLOAT16\",\n"
      "      \"layout\": \"Layout::TILE\",\n      \"memory_config\": "
      "\"MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,"
      "buffer_type=BufferType::L1,shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)\",\n"
      "      \"shape\": \"Shape([1, 1, 256, 512])\",\n      \"size\": 262144,\n      \"tensor_id\": %" PRIu64
      "\n    },\n",
      counter);
  end(-1);
}

static uint64_t layer(uint64_t before, int dram_before, int dram) {
  function("function_start", "ttnn.linear");
  function("function_start", "MatmulDeviceOperation");
  function("function_start", "tt::tt_metal::create_device_tensor");
  uint64_t node = begin("buffer");
  PUT("    \"params\": {\n      \"buffer_type\": %d,\n      \"device_id\": 1,\n      \"layout\": \"INTERLEAVED\",\n    "
      "  \"size\": 262144,\n"
      "      \"type\": \"%s\"\n    },\n",
      dram ? 0 : 1, dram ? "DRAM" : "L1");
  end((int64_t)counter + 2);
  buffer("buffer_allocate", node, dram);
  function("function_end", "tt::tt_metal::create_device_tensor");
  tensor();
  begin("circular_buffer_deallocate_all");
  PUT("    \"params\": {\n      \"device_id\": 1\n    },\n");
  end(-1);
  program_buffer("{[0-0 - 7-7]}", 8192);
  program_buffer("{[0-0 - 3-7]}", 4096);
  program_buffer("{[4-0 - 7-7]}", 16384);
  function("function_end", "MatmulDeviceOperation");
  if (before) buffer("buffer_deallocate", before, dram_before);
  function("function_end", "ttnn.linear");
  return node;
}

int main(int argc, char **argv) {
  uint64_t target = argc == 2 ? strtoull(argv[1], NULL, 10) : 0, before = 0;
  if (!target) {
    fputs("usage: gen_capture BYTES >capture.json\n", stderr);
    return 2;
  }
  PUT("[");
  for (uint64_t n = 0; written < target; n++) before = layer(before, n % 4 == 0 && n, (n + 1) % 4 == 0);
  PUT("\n]\n");
  return fflush(stdout) || ferror(stdout);
}
