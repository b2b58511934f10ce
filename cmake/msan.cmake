# SPDX-License-Identifier: Apache-2.0
# The preset msan: tests/msan/libc.c is in every program. A test may define what a library does too, as with shared libraries.
add_library(ttmem_msan OBJECT ${CMAKE_SOURCE_DIR}/tests/msan/libc.c)
target_compile_options(ttmem_msan PRIVATE -fno-sanitize=all)
add_link_options(-Wl,-z,muldefs)
foreach(call stat64 lstat64 fstat64 fstatat64 nftw64 pwrite64 dlopen)
  add_link_options(-Wl,--wrap=${call})
endforeach()
link_libraries($<BUILD_INTERFACE:$<TARGET_OBJECTS:ttmem_msan>>)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cli/max_memory.c PROPERTIES COMPILE_DEFINITIONS __SANITIZE_MEMORY__) # clang says it in no macro
