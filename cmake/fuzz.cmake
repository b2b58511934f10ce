# SPDX-License-Identifier: Apache-2.0
# Each fuzz/fuzz_NAME.c defines LLVMFuzzerTestOneInput. With TTMEM_FUZZ it becomes a libFuzzer program; otherwise it is linked
# with a small driver and gets a short fixed run in every test run, so that no clang is needed to keep the parsers honest.
set(TTMEM_FUZZ_RUNS_cb_scan 500) # parsing broken C++ takes tree-sitter 2 ms each time, a hundred times as long as the others
set(TTMEM_FUZZ_RUNS_visualizer 1500) # SQLite mutates its databases: 1 ms each
# Which targets a mutator that knows their structure serves: fuzz/mutate_lines.c, fuzz/mutate_database.c.
set(ttmem_mutated_lines log memory_report metal_log module module_dump op_line train_log)
set(ttmem_mutated_database visualizer)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/fuzz_*.c)

function(ttmem_add_fuzz_program target source)
  add_executable(${target} ${source} ${ARGN})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/fuzz)
  target_link_libraries(${target} PRIVATE ttmem_cbscan)
  string(REGEX REPLACE "^fuzz_" "" name ${target})
  foreach(structure lines database)
    if(name IN_LIST ttmem_mutated_${structure})
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/fuzz/mutate_${structure}.c)
    endif()
  endforeach()
endfunction()

function(ttmem_add_fuzz_replays)
  foreach(source ${fuzz_sources})
    get_filename_component(target ${source} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" name ${target})
    ttmem_add_fuzz_program(${target} ${source} ${CMAKE_SOURCE_DIR}/fuzz/standalone_driver.c)
    set(runs ${TTMEM_FUZZ_RUNS})
    if(TTMEM_FUZZ_RUNS_${name} AND TTMEM_FUZZ_RUNS_${name} LESS runs)
      set(runs ${TTMEM_FUZZ_RUNS_${name}})
    endif()
    # The folder is named even when it does not exist (yet): the driver then uses its own seeds.
    add_test(NAME ${target} COMMAND ${target} -runs=${runs} -seed=1 ${CMAKE_SOURCE_DIR}/fuzz/corpus/${name}
             WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    ttmem_test_settings(${target})
    set_tests_properties(${target} PROPERTIES LABELS slow)
  endforeach()
endfunction()

if(TTMEM_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "libFuzzer comes with clang: configure with -DCMAKE_C_COMPILER=clang (preset fuzz)")
  endif()
  foreach(source ${fuzz_sources})
    get_filename_component(target ${source} NAME_WE)
    ttmem_add_fuzz_program(${target} ${source})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()
