# SPDX-License-Identifier: Apache-2.0
# Unit tests, scripted tests and static checks, each one ctest named after its file.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
find_program(TTMEM_BASH bash REQUIRED)
find_program(TTMEM_PYTHON python3 REQUIRED)

# What every test may count on. Reports go under the build folder: a test run never touches ~/.ttmem. A huge allocation gives
# NULL under ASan as it does without: code must take it.
function(ttmem_test_settings name)
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 77
    TIMEOUT 900
    ENVIRONMENT "TTMEM=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ttmem;TT_MEMORY_PROFILER=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tt-memory-profiler;GEN_LOG=${CMAKE_BINARY_DIR}/bench/gen_log;LIBTTMEM=$<TARGET_FILE:ttmem>;TTMEM_SOURCE=${CMAKE_SOURCE_DIR};TTMEM_SHARED=${CMAKE_SOURCE_DIR}/../shared;TTMEM_HOME=${CMAKE_BINARY_DIR}/test-home/${name};PYTHONDONTWRITEBYTECODE=1;ASAN_OPTIONS=allocator_may_return_null=1;MSAN_OPTIONS=allocator_may_return_null=1;LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0;UBSAN_OPTIONS=print_stacktrace=1;LC_ALL=C.UTF-8")
endfunction()

# Unit: each tests/unit/test_*.c is a program; the other .c files there are helpers shared by all of them.
file(GLOB unit_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/test_*.c)
file(GLOB unit_helpers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/*.c)
if(unit_sources)
  list(REMOVE_ITEM unit_helpers ${unit_sources})
endif()
foreach(source ${unit_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source} ${unit_helpers})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
  target_compile_definitions(${name} PRIVATE TTMEM_SOURCE="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ttmem_shown ttmem_cbscan PkgConfig::CMOCKA)
  if(name MATCHES "^test_commands_") # these call whole commands
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:ttmem_cli>)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  ttmem_test_settings(${name})
endforeach()

# A ttmem that puts all its tables into temporary files, for tests/cli/test_spill.py.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_executable(ttmem_spilling ${CMAKE_SOURCE_DIR}/src/cli/main.c ${CMAKE_SOURCE_DIR}/tests/spill/always.c $<TARGET_OBJECTS:ttmem_cli>)
  target_link_libraries(ttmem_spilling PRIVATE ttmem_shown ttmem_cbscan)
  set_target_properties(ttmem_spilling PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endif()

# The C++ face of the library: tests/unit/test_*.cpp, where there is a C++ compiler.
file(GLOB cpp_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/test_*.cpp)
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_FLAGS "${CMAKE_C_FLAGS}" CACHE STRING "the same sanitizers and counters as the C side")
  enable_language(CXX)
  foreach(source ${cpp_sources})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests CXX_STANDARD 17
                          CXX_STANDARD_REQUIRED ON)
    target_link_libraries(${name} PRIVATE ttmem_static)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    ttmem_test_settings(${name})
  endforeach()
else()
  message(STATUS "no C++ compiler: the tests of ttmem.hpp are skipped")
endif()

# Scripted: tests/{cli,golden,property,serve,ui}/*.sh and any tests/**/test_*.py.
file(GLOB script_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cli/*.sh ${CMAKE_SOURCE_DIR}/tests/golden/*.sh
     ${CMAKE_SOURCE_DIR}/tests/property/*.sh ${CMAKE_SOURCE_DIR}/tests/serve/*.sh ${CMAKE_SOURCE_DIR}/tests/ui/*.sh)
file(GLOB_RECURSE python_tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/test_*.py)
foreach(source ${script_tests} ${python_tests})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/tests ${source})
  string(REGEX REPLACE "\\.(sh|py)$" "" name ${name})
  string(REPLACE "/" "_" name ${name})
  set(interpreter ${TTMEM_BASH})
  if(source MATCHES "\\.py$")
    set(interpreter ${TTMEM_PYTHON})
  endif()
  add_test(NAME ${name} COMMAND ${interpreter} ${source} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  ttmem_test_settings(${name})
endforeach()

# The page of the HTML report: strict types, lint, and each tests/web/*.test.mjs in a real browser.
file(GLOB page_tests CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tests/web ${CMAKE_SOURCE_DIR}/tests/web/*.test.mjs)
foreach(check types lint ${page_tests})
  string(REPLACE .test.mjs "" name web_${check})
  add_test(NAME ${name} COMMAND ${TTMEM_BASH} ${CMAKE_SOURCE_DIR}/tests/web/run.sh ${check} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  ttmem_test_settings(${name})
endforeach()

# Static checks.
foreach(check layers headers pins spdx)
  add_test(NAME check_${check} COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-${check} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  ttmem_test_settings(check_${check})
endforeach()
add_test(NAME check_exports COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-exports $<TARGET_FILE:ttmem>)
ttmem_test_settings(check_exports)

# What `make tsan` runs: the tests in which several threads work on one thing (reading, reports, source scan, launch, live, server,
# tracker, the reader behind the interactive program).
set(threaded cli_test_frames cli_test_ranks test_capture test_cb_scan test_feed test_tracker_random test_tracker_guard cli_llm cli_cb_scan
    golden_test_report_shapes launch_test_launch serve_test_serve ui_test_ui)
# Slow ones start first, or the last of them runs alone at the end; `make quick` leaves them out.
get_property(tests DIRECTORY PROPERTY TESTS)
foreach(test ${tests})
  if(test IN_LIST threaded OR test MATCHES "^live_")
    set_property(TEST ${test} APPEND PROPERTY LABELS threads)
  endif()
  if(test MATCHES "^(history|lab|launch|live|mcp|property|python|ui|web)_" OR
     test MATCHES "_(abuse|ci|ci_examples|clients|nomem|nomem_shown|placement|release_check)$")
    set_property(TEST ${test} APPEND PROPERTY LABELS slow)
    set_property(TEST ${test} PROPERTY COST 10)
  endif()
  if(test MATCHES "^(python_test_wheel|web_(faults|pictures|numbers|files|diff)|test_commands_nomem.*|launch_test_jobs|property_test_analyses)$")
    set_property(TEST ${test} PROPERTY COST 20) # the longest
  endif()
  if(test MATCHES "_nomem") # make starve takes all of their allocations; --timeout does not hold against a property
    set_property(TEST ${test} PROPERTY TIMEOUT 7200)
  endif()
endforeach()
