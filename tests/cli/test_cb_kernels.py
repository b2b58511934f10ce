# SPDX-License-Identifier: Apache-2.0
"""ttmem cb scan follows the compile-time arguments from the host's code into the kernel, whichever way they are handed over: a wait
for more pages than the buffer holds is found, with the number and the buffer that only the arguments tell. Where an argument
cannot be known nothing is claimed."""
import json
import os
import subprocess
import tempfile

TTMEM = os.environ["TTMEM"]
BY_NUMBER = """
void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr uint32_t pages = get_compile_time_arg_val(1);
    cb_wait_front(cb, pages);
    cb_pop_front(cb, pages);
}
"""
BY_NAME = BY_NUMBER.replace("get_compile_time_arg_val(0)", 'get_named_compile_time_arg_val("cb")').replace(
    "get_compile_time_arg_val(1)", 'get_named_compile_time_arg_val("pages")')

# name -> (statements that make the kernel, its source, whether the wait of 9 pages on c_3 must be found)
WAYS = {
    "written out": ('CreateKernel(program, "kernels/k.cpp", cores, ComputeConfig{.compile_args = {3, 9}});', BY_NUMBER, True),
    "a vector": ("std::vector<uint32_t> args = {3, 9};\n"
                 'CreateKernel(program, "kernels/k.cpp", cores, ReaderDataMovementConfig(args));', BY_NUMBER, True),
    "a vector in parentheses": ("std::vector<uint32_t> args({3, 9});\n"
                                'CreateKernel(program, "kernels/k.cpp", cores, WriterDataMovementConfig(args));', BY_NUMBER, True),
    "pushed behind": ("std::vector<uint32_t> args = {3};\nargs.push_back(8 + 1);\n"
                      'CreateKernel(program, "kernels/k.cpp", cores, ReaderDataMovementConfig(args));', BY_NUMBER, True),
    "pushed perhaps": ("std::vector<uint32_t> args = {3};\nif (deep) { args.push_back(1); }\nargs.push_back(9);\n"
                       'CreateKernel(program, "kernels/k.cpp", cores, ReaderDataMovementConfig(args));', BY_NUMBER, False),
    "pushed in a loop": ("std::vector<uint32_t> args;\nfor (uint32_t i = 0; i < 2; i++) { args.push_back(9); }\n"
                         'CreateKernel(program, "kernels/k.cpp", cores, ReaderDataMovementConfig(args));', BY_NUMBER, False),
    "pushed afterwards": ("std::vector<uint32_t> args = {3};\n"
                          'CreateKernel(program, "kernels/k.cpp", cores, ReaderDataMovementConfig(args));\n'
                          "args.push_back(9);", BY_NUMBER, False),
    "from elsewhere": ('CreateKernel(program, "kernels/k.cpp", cores, ReaderDataMovementConfig(given));', BY_NUMBER, False),
    "a config's member": ("ComputeConfig config;\nconfig.compile_args = {3, 9};\n"
                          'CreateKernel(program, "kernels/k.cpp", cores, config);', BY_NUMBER, True),
    "by name": ('CreateKernel(program, "kernels/k.cpp", cores,\n'
                '  ComputeConfig{.compile_args = {}, .named_compile_args = {{"cb", 3}, {"pages", 9}}});', BY_NAME, True),
    "names in a variable": ('std::unordered_map<std::string, uint32_t> names = {{"cb", 3}, {"pages", 9}};\n'
                            'CreateKernel(program, "kernels/k.cpp", cores,\n'
                            "  ComputeConfig{.compile_args = {}, .named_compile_args = names});", BY_NAME, True),
    "another name": ('CreateKernel(program, "kernels/k.cpp", cores,\n'
                     '  ComputeConfig{.compile_args = {}, .named_compile_args = {{"cb", 3}, {"sheets", 9}}});', BY_NAME, False),
    "a descriptor": ('desc.kernels.push_back(KernelDescriptor{.kernel_source = "kernels/k.cpp", .core_ranges = cores,\n'
                     "  .compile_time_args = {3, 9}});", BY_NUMBER, True),
    "a descriptor's member": ('KernelDescriptor k;\nk.kernel_source = "kernels/k.cpp";\nk.compile_time_args = {3, 9};\n'
                              "desc.kernels.push_back(std::move(k));", BY_NUMBER, True),
    "a descriptor's names": ('KernelDescriptor k;\nk.kernel_source = "kernels/k.cpp";\n'
                             'k.named_compile_time_args = {{"cb", 3}, {"pages", 9}};\n'
                             "desc.kernels.push_back(std::move(k));", BY_NAME, True),
}


def scan(statements, kernel):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "kernels"))
        with open(os.path.join(folder, "kernels", "k.cpp"), "w") as f:
            f.write('#include "dataflow_api.h"\n' + kernel)
        with open(os.path.join(folder, "host.cpp"), "w") as f:
            f.write("void run(Program& program, ProgramDescriptor& desc, CoreRangeSet cores, std::vector<uint32_t> given, bool deep) {\n"
                    "CreateCircularBuffer(program, cores,\n"
                    "  CircularBufferConfig(2 * 2048, {{3, tt::DataFormat::Float16_b}}).set_page_size(3, 2048));\n"
                    f"{statements}\n}}\n")
        done = subprocess.run([TTMEM, "cb", "scan", folder, "--json"], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["scan"]


wrong = []
for way, (statements, kernel, told) in WAYS.items():
    seen = scan(statements, kernel)
    found = [f["text"] for f in seen["findings"] if f["rule"] == "deadlock"]
    if told and not any("wait_front of 9 pages on c_3, which holds 2" in text for text in found):
        wrong.append(f"{way}: the deadlock is not found: {found}; kernels: {seen['kernels']}")
    if not told and found:
        wrong.append(f"{way}: cannot be known, but: {found}")
assert not wrong, "\n".join(wrong)
