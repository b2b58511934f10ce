// SPDX-License-Identifier: Apache-2.0
// Sample for the tests of `ttmem cb scan`: the same sum with buffers that follow the workload.
#include <tt-metalium/host_api.hpp>

using namespace tt;
using namespace tt::tt_metal;

void add(Program& program, const CoreRange& cores, uint32_t r_tiles, uint32_t tiles_per_shard) {
    const DataFormat format = DataFormat::Float32;
    const uint32_t tile_bytes = tile_size(format);
    uint32_t cb0_tiles;
    uint32_t cb1_tiles;
    uint32_t cb16_tiles = 2;
    if (tiles_per_shard > 16 || r_tiles > 16) {
        cb0_tiles = 2;
        cb1_tiles = 2;
    } else {
        cb0_tiles = std::min(6u, tiles_per_shard + 2);
        cb1_tiles = std::min(r_tiles, 6u);
        cb16_tiles *= 2;
    }
    auto create = [&](CBIndex index, uint32_t tiles) {
        auto config = CircularBufferConfig(tiles * tile_bytes, {{index, format}}).set_page_size(index, tile_bytes);
        return CreateCircularBuffer(program, cores, config);
    };
    create(CBIndex::c_0, cb0_tiles);
    create(CBIndex::c_1, cb1_tiles);
    create(CBIndex::c_16, cb16_tiles);

    CreateKernel(program, "fixed/kernels/reader.cpp", cores,
        DataMovementConfig{.processor = DataMovementProcessor::RISCV_1, .noc = NOC::RISCV_1_default, .compile_args = {0, 1}});
    CreateKernel(program, "fixed/kernels/compute.cpp", cores,
        ComputeConfig{.compile_args = {}, .named_compile_args = {{"cb_out", 16}}});
    CreateKernel(program, "fixed/kernels/writer.cpp", cores, WriterDataMovementConfig({16}));
}
