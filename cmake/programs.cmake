# SPDX-License-Identifier: Apache-2.0
# ttmem and tt-memory-profiler: two mains over the same commands.
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(NCURSESW REQUIRED ncursesw) # libraries only: its flags would choose feature macros for every file
file(GLOB shown_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/serve/*.c ${CMAKE_SOURCE_DIR}/src/ui/*.c)
add_library(ttmem_shown STATIC ${shown_sources})
target_link_libraries(ttmem_shown PUBLIC ttmem_static PkgConfig::MICROHTTPD ${NCURSESW_LIBRARIES})

file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.c)
set(ttmem_main ${CMAKE_SOURCE_DIR}/src/cli/main.c)
set(profiler_main ${CMAKE_SOURCE_DIR}/src/cli/profiler_main.c)
set(cli_shared ${cli_sources})
list(REMOVE_ITEM cli_shared ${ttmem_main} ${profiler_main})

# `ttmem cb log` without a file reads the demonstration log, wherever the program stands.
set(metal_demo ${CMAKE_SOURCE_DIR}/demo/metal_cb.log)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${metal_demo})
file(READ ${metal_demo} metal_demo_hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," metal_demo_hex "${metal_demo_hex}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/metal_demo.c CONTENT
  "#include <stddef.h>\nextern const unsigned char ttm_metal_demo[];\nextern const size_t ttm_metal_demo_bytes;\nconst unsigned char ttm_metal_demo[] = {@metal_demo_hex@};\nconst size_t ttm_metal_demo_bytes = sizeof ttm_metal_demo;\n" @ONLY)
list(APPEND cli_shared ${CMAKE_BINARY_DIR}/generated/metal_demo.c)

# Mock boards, and the recorder that `ttmem run` puts before a Python program.
include(cmake/embed.cmake)
set(board_files)
foreach(board n150 n300 t3k galaxy p100 p150 p300)
  list(APPEND board_files ${board}=${CMAKE_SOURCE_DIR}/boards/${board}.yaml)
endforeach()
set(package ${CMAKE_SOURCE_DIR}/bindings/python/ttmem)
ttmem_embed(${CMAKE_BINARY_DIR}/generated/board_files.c ttm_board_files ${board_files})
ttmem_embed(${CMAKE_BINARY_DIR}/generated/hook_files.c ttm_hook_files
  sitecustomize.py=${package}/hook/sitecustomize.py ttmem_start.py=${package}/hook/ttmem_start.py ttmem_recorder.py=${package}/recorder.py)
list(APPEND cli_shared ${CMAKE_BINARY_DIR}/generated/board_files.c ${CMAKE_BINARY_DIR}/generated/hook_files.c)

if(cli_shared)
  add_library(ttmem_cli OBJECT ${cli_shared})
  target_link_libraries(ttmem_cli PUBLIC ttmem_shown)
endif()

function(ttmem_add_program name main)
  if(NOT main IN_LIST cli_sources)
    message(STATUS "${name}: ${main} is not there yet, skipped")
    return()
  endif()
  add_executable(${name} ${main})
  if(TARGET ttmem_cli)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:ttmem_cli>)
  endif()
  target_link_libraries(${name} PRIVATE ttmem_shown)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# CMake owns the name `ttmem` for the shared library, so the target of the program is called ttmem_program.
ttmem_add_program(ttmem_program ${ttmem_main})
ttmem_add_program(tt-memory-profiler ${profiler_main})
if(TARGET ttmem_program)
  set_target_properties(ttmem_program PROPERTIES OUTPUT_NAME ttmem)
endif()
