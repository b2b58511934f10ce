# SPDX-License-Identifier: Apache-2.0
# The engine of the page that needs nothing installed, as one WebAssembly module (scripts/web builds it and puts it into the page): what
# reads an input and writes its report page. Folders, children, servers and terminals stay outside.
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED libxxhash)

set(ttmem_sources ${CMAKE_SOURCE_DIR}/src/store/report_name.c)
foreach(room base parse profile l1 analyze report)
  file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
  list(APPEND ttmem_sources ${room_sources})
endforeach()
list(FILTER ttmem_sources EXCLUDE REGEX "/base/(os_[a-z]+|temp_dir|own_dir|spill)\\.c$") # web/engine/os.c has what the system gives
include(cmake/web.cmake)

set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
add_library(ttmem_static STATIC ${ttmem_sources}) # the linker takes what the engine calls
target_include_directories(ttmem_static PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/web/engine/posix ${XXHASH_INCLUDE_DIRS})
# The names of signals stand in logs, the number of the process in names of files: WASI has them on request.
target_compile_definitions(ttmem_static PUBLIC _WASI_EMULATED_SIGNAL _WASI_EMULATED_GETPID)
target_compile_options(ttmem_static PUBLIC -msimd128 -mbulk-memory -mnontrapping-fptoint)
target_link_libraries(ttmem_static PUBLIC ZLIB::ZLIB PkgConfig::ZSTD PkgConfig::SQLITE PkgConfig::UTF8PROC wasi-emulated-getpid m)

file(GLOB engine_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/engine/*.c)
add_executable(ttmem_engine ${engine_sources})
set_source_files_properties(${CMAKE_SOURCE_DIR}/web/engine/bytes.c PROPERTIES COMPILE_OPTIONS -fno-builtin) # its loops are what they stand for
set_target_properties(ttmem_engine PROPERTIES OUTPUT_NAME engine SUFFIX .wasm)
# zig puts the stack first, so that its overflow is an error and not somebody else's data.
target_link_options(ttmem_engine PRIVATE -Wl,-z,stack-size=4194304)
target_link_libraries(ttmem_engine PRIVATE ttmem_static)
