// SPDX-License-Identifier: Apache-2.0
// Sample for the tests of `ttmem cb scan`: every way to ask for a buffer, each with a size that can be checked by hand.
#include <tt-metalium/host_api.hpp>

#define RING_PAGES 3
enum Depth { SHALLOW = 1, MIDDLE, DEEP = 8 };

namespace ops {
using namespace tt;
using namespace tt::tt_metal;

static uint32_t pages_for(DataFormat format) {
    if (format == DataFormat::Bfp8_b) {
        return 6;
    }
    return 2;
}

void classic(Program& program, const CoreRangeSet& all, Buffer* buffer, bool deep, std::optional<uint32_t> wanted) {
    const auto format = DataFormat::Float16_b;
    uint32_t next_cb_index = CBIndex::c_0;
    const uint32_t page = tt::tile_size(format), half = page / 2;

    // c_0: a variable, a setter of its own statement
    uint32_t first = next_cb_index++;
    CircularBufferConfig first_config = CircularBufferConfig(2 * page, {{first, format}});
    first_config.set_page_size(first, page);
    CreateCircularBuffer(program, all, first_config);

    // c_1 and c_2: one memory, two indices, by way of a map; a macro
    uint32_t second = next_cb_index++, third = next_cb_index++;
    std::map<uint8_t, DataFormat> shared = {{second, format}, {third, DataFormat::UInt16}};
    auto shared_config =
        CircularBufferConfig(RING_PAGES * page, shared).set_page_size(second, page).set_page_size(third, page);
    CreateCircularBuffer(program, all, shared_config);

    // c_3: lives in a tensor
    CreateCircularBuffer(
        program, all,
        CircularBufferConfig(8 * page, {{3, format}}).set_page_size(3, page).set_globally_allocated_address(*buffer));

    // c_4: builder, enumerator, a size set later
    CircularBufferConfig built(half);
    built.index(CBIndex::c_4).set_page_size(half).set_data_format(format);
    built.set_total_size(Depth::DEEP * half);
    CreateCircularBuffer(program, all, built);

    // c_5: alternatives
    uint32_t pages = deep ? 8 : 4;
    pages *= 2;
    CircularBufferConfig five(pages * page, {{CBIndex::c_5, format}});
    five.set_page_size(CBIndex::c_5, page);
    CreateCircularBuffer(program, all, five);

    // c_6: a default, otherwise the caller's
    CreateCircularBuffer(
        program, all,
        CircularBufferConfig(wanted.value_or(2) * page, {{CBIndex::c_6, format}}).set_page_size(CBIndex::c_6, page));

    // c_7: at most 16 pages of bfloat8, by a function of the file
    uint32_t block = std::min<uint32_t>(all.num_cores(), 16);
    create_cb(CBIndex::c_7, program, all, tile_size(DataFormat::Bfp8_b), block, DataFormat::Bfp8_b);
    // c_8 and c_9
    uint32_t both[] = {8, 9};
    create_cb(both, program, all, 1088, pages_for(DataFormat::Bfp8_b), DataFormat::Bfp8_b, nullptr);
    // c_10: a page size that does not divide
    create_cb({10}, program, all, page, 1, format, buffer);
    CreateCircularBuffer(program, all, CircularBufferConfig(5000, {{11, format}}).set_page_size(11, page));
}

ProgramDescriptor described(const Tensor& input, const CoreRangeSet& cores, bool sharded) {
    ProgramDescriptor desc;
    constexpr uint32_t tile = sizeof(bfloat16) * constants::TILE_HW;
    desc.cbs.push_back(CBDescriptor{
        .total_size = 4 * tile,
        .core_ranges = cores,
        .format_descriptors = {{CBFormatDescriptor{
            .buffer_index = static_cast<uint8_t>(CBIndex::c_0),
            .data_format = DataFormat::Float16_b,
            .page_size = tile,
        }}},
        .buffer = sharded ? input.buffer() : nullptr,
    });
    CBDescriptor out;
    out.total_size = tt::div_up(100, 32) * tile;
    out.core_ranges = cores;
    out.format_descriptors.push_back(CBFormatDescriptor{CBIndex::c_16, DataFormat::Float16_b, tile});
    desc.cbs.push_back(std::move(out));
    auto push_cb = [&](uint32_t index, uint32_t pages) {
        desc.cbs.push_back({
            .total_size = pages * tile,
            .core_ranges = cores,
            .format_descriptors = {{{.buffer_index = index, .data_format = DataFormat::Float16_b, .page_size = tile}}},
        });
    };
    push_cb(24, 1);
    push_cb(25, 2 + 1);
    return desc;
}

m2::ProgramSpec dataflow(const CoreRangeSet& cores) {
    const m2::DFBSpecName IN{"in"};
    m2::DataflowBufferSpec in{
        .unique_id = IN, .entry_size = 2048, .num_entries = 2, .data_format_metadata = DataFormat::Float16_b};
    m2::ProgramSpec spec;
    spec.dataflow_buffers = {in, m2::DataflowBufferSpec{.unique_id = "out", .entry_size = 4096, .num_entries = MIDDLE}};
    return spec;
}

void too_much(Program& program, CoreCoord core) {
    CreateCircularBuffer(program, core, CircularBufferConfig(1 << 20, {{0, DataFormat::UInt32}}).set_page_size(0, 4096));
    CreateCircularBuffer(program, core, CircularBufferConfig(512 * 1024, {{32, DataFormat::UInt32}}).set_page_size(32, 4096));
}
}  // namespace ops
