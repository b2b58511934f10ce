# SPDX-License-Identifier: Apache-2.0
# Each bench/NAME.c is a program; helpers it does not share live in bench/NAME/*.c.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
foreach(source ${bench_sources})
  get_filename_component(name ${source} NAME_WE)
  file(GLOB helpers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/${name}/*.c)
  add_executable(bench_${name} ${source} ${helpers})
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${CMAKE_SOURCE_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE ttmem_static)
endforeach()
