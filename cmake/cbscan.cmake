# SPDX-License-Identifier: Apache-2.0
# src/cbscan, the C++ source scanner of `ttmem cb scan`, linked by the programs only. It needs the tree-sitter library of the
# system and the C++ grammar's generated parser, taken out of a pinned registry archive into build/downloads (shared by all
# presets, kept until `make clean`). Nothing of it is in the repository. Language ABI 14: every libtree-sitter from 0.20 on reads
# it (Debian 12 has 0.20.7, Ubuntu 22.04 0.20.3).
pkg_check_modules(TREE_SITTER REQUIRED IMPORTED_TARGET tree-sitter)

set(ts_cpp_version 0.23.4)
set(ts_cpp_sha256 615d152f70e7a6bed8f15a93c3c0c264c40dc71c1b6a1445646fff9439e776bc)
set(ts_cpp_name tree-sitter-cpp-${ts_cpp_version}.tgz)
set(ts_cpp_url https://registry.npmjs.org/tree-sitter-cpp/-/${ts_cpp_name})
set(ts_cpp_folder ${CMAKE_SOURCE_DIR}/build/downloads)
set(TTMEM_DOWNLOADS "$ENV{TTMEM_DOWNLOADS}" CACHE PATH "Folder with archives fetched earlier, for builds without a network")

# The archive at hand, checked: build/downloads, else TTMEM_DOWNLOADS, else the registry.
function(ts_cpp_fetch archive)
  if(EXISTS ${archive})
    file(SHA256 ${archive} have)
    if(have STREQUAL ts_cpp_sha256)
      return()
    endif()
    file(REMOVE ${archive}) # a cut download
  endif()
  set(from ${ts_cpp_url})
  if(TTMEM_DOWNLOADS AND EXISTS ${TTMEM_DOWNLOADS}/${ts_cpp_name})
    set(from file://${TTMEM_DOWNLOADS}/${ts_cpp_name})
  endif()
  set(why "0;")
  foreach(try 1 2 3)
    # Under a name of its own: two presets may be configured at once.
    string(RANDOM LENGTH 8 suffix)
    file(DOWNLOAD ${from} ${archive}.${suffix} STATUS why TIMEOUT 120)
    list(GET why 0 code)
    if(code EQUAL 0)
      file(SHA256 ${archive}.${suffix} have)
      if(have STREQUAL ts_cpp_sha256)
        file(RENAME ${archive}.${suffix} ${archive})
        return()
      endif()
      set(why "1;the file that came has another SHA-256: ${have}")
    endif()
    file(REMOVE ${archive}.${suffix})
  endforeach()
  list(GET why 1 reason)
  message(FATAL_ERROR
    "The C++ grammar for `ttmem cb scan` could not be fetched from ${from}: ${reason}\n"
    "Fetch it on a machine with a network (npm pack tree-sitter-cpp@${ts_cpp_version}) and put ${ts_cpp_name} into "
    "${ts_cpp_folder}, or set TTMEM_DOWNLOADS to the folder that holds it; then run make again.")
endfunction()

ts_cpp_fetch(${ts_cpp_folder}/${ts_cpp_name})
set(ts_cpp_source ${CMAKE_BINARY_DIR}/tree-sitter-cpp-${ts_cpp_version})
if(NOT EXISTS ${ts_cpp_source}/package/src/scanner.c)
  file(ARCHIVE_EXTRACT INPUT ${ts_cpp_folder}/${ts_cpp_name} DESTINATION ${ts_cpp_source}
       PATTERNS package/src/*.c package/src/tree_sitter/*.h package/LICENSE)
endif()

# Foreign and generated: no warnings, no sanitizers and no fuzzing counters in half a million lines of tables. But MemorySanitizer must see
# what they write.
add_library(ttmem_grammar OBJECT ${ts_cpp_source}/package/src/parser.c ${ts_cpp_source}/package/src/scanner.c)
target_include_directories(ttmem_grammar PRIVATE ${ts_cpp_source}/package/src)
target_compile_definitions(ttmem_grammar PRIVATE TREE_SITTER_HIDE_SYMBOLS)
target_compile_options(ttmem_grammar PRIVATE -w -O2 -g0)
if(NOT CMAKE_C_FLAGS MATCHES "sanitize=memory")
  target_compile_options(ttmem_grammar PRIVATE -fno-sanitize=all)
endif()
if(TTMEM_ANALYZER)
  target_compile_options(ttmem_grammar PRIVATE -fno-analyzer)
endif()
if(CMAKE_C_FLAGS MATCHES "--coverage")
  target_compile_options(ttmem_grammar PRIVATE -fno-profile-arcs -fno-test-coverage)
endif()

file(GLOB cbscan_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cbscan/*.c)
add_library(ttmem_cbscan STATIC ${cbscan_sources} $<TARGET_OBJECTS:ttmem_grammar>)
target_link_libraries(ttmem_cbscan PUBLIC ttmem_static PRIVATE PkgConfig::TREE_SITTER)
