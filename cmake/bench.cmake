# SPDX-License-Identifier: Apache-2.0
# A bench program is bench/NAME.c, a folder bench/NAME/*.c, or both together.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c ${CMAKE_SOURCE_DIR}/bench/*/*.c)
set(bench_names)
foreach(source ${bench_sources})
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/bench ${source})
  string(REGEX REPLACE "(/.*|\\.c)$" "" name ${name})
  list(APPEND bench_names ${name})
  list(APPEND bench_${name}_sources ${source})
endforeach()
list(REMOVE_DUPLICATES bench_names)

foreach(name ${bench_names})
  add_executable(bench_${name} ${bench_${name}_sources})
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  target_include_directories(bench_${name} PRIVATE ${CMAKE_SOURCE_DIR}/bench)
  target_link_libraries(bench_${name} PRIVATE ttmem_shown)
endforeach()
