// SPDX-License-Identifier: Apache-2.0
// Sample for the tests of `ttmem cb scan`: rows of A are added to every row of B, with buffers of a fixed size.
#include <tt-metalium/host_api.hpp>

using namespace tt;
using namespace tt::tt_metal;

constexpr uint32_t tile_bytes = sizeof(float) * constants::TILE_HEIGHT * constants::TILE_WIDTH;
constexpr uint32_t cb0_tiles = 4;
constexpr uint32_t cb1_tiles = 4;
constexpr uint32_t cb2_tiles = 4;
constexpr uint32_t cb16_tiles = 4;

static CBHandle make_buffer(Program& program, const CoreRange& cores, CBIndex index, uint32_t tiles) {
    CircularBufferConfig config(tiles * tile_bytes, {{index, DataFormat::Float32}});
    config.set_page_size(index, tile_bytes);
    return CreateCircularBuffer(program, cores, config);
}

void add(Program& program, const CoreRange& cores, uint32_t r_tiles, uint32_t tiles_per_shard) {
    make_buffer(program, cores, CBIndex::c_0, cb0_tiles);
    make_buffer(program, cores, CBIndex::c_1, cb1_tiles);
    make_buffer(program, cores, CBIndex::c_2, cb2_tiles);
    make_buffer(program, cores, CBIndex::c_16, cb16_tiles);

    std::vector<uint32_t> reader_args = {(uint32_t)CBIndex::c_0, (uint32_t)CBIndex::c_1};
    CreateKernel(program, "customer/kernels/reader.cpp", cores, ReaderDataMovementConfig(reader_args));
    CreateKernel(program, "customer/kernels/writer.cpp", cores,
        WriterDataMovementConfig(std::vector<uint32_t>{(uint32_t)CBIndex::c_16}));
    CreateKernel(program, "customer/kernels/compute.cpp", cores, ComputeConfig{.compile_args = {8}});
}
