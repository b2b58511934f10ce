# SPDX-License-Identifier: Apache-2.0
# ttmem and tt-memory-profiler: two mains over the same commands.
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(NCURSESW REQUIRED ncursesw) # libraries only: its flags would choose feature macros for every file
file(GLOB shown_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/history/*.c ${CMAKE_SOURCE_DIR}/src/serve/*.c ${CMAKE_SOURCE_DIR}/src/mcp/*.c ${CMAKE_SOURCE_DIR}/src/ui/*.c)
add_library(ttmem_shown STATIC ${shown_sources})
target_link_libraries(ttmem_shown PUBLIC ttmem_static PkgConfig::SQLITE PkgConfig::MICROHTTPD ${NCURSESW_LIBRARIES})

file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.c ${CMAKE_SOURCE_DIR}/src/launch/*.c)
set(ttmem_main ${CMAKE_SOURCE_DIR}/src/cli/main.c)
set(profiler_main ${CMAKE_SOURCE_DIR}/src/cli/profiler_main.c)
set(cli_shared ${cli_sources})
list(REMOVE_ITEM cli_shared ${ttmem_main} ${profiler_main})

# Files that travel inside: mock boards, the demonstration log of `ttmem cb log`, and what `ttmem run` puts before a Python program.
include(cmake/embed.cmake)
set(board_files)
foreach(board n150 n300 t3k galaxy p100 p150 p300)
  list(APPEND board_files ${board}=${CMAKE_SOURCE_DIR}/boards/${board}.yaml)
endforeach()
set(hook_files)
foreach(file sitecustomize ttmem_environment ttmem_files ttmem_start ttmem_names ttmem_nodes ttmem_recorder ttmem_traces ttmem_wrap)
  list(APPEND hook_files ${file}.py=${CMAKE_SOURCE_DIR}/bindings/python/ttmem/hook/${file}.py)
endforeach()
set(demo_files metal_cb.log=${CMAKE_SOURCE_DIR}/demo/metal_cb.log)
foreach(table board_files hook_files demo_files)
  ttmem_embed(${CMAKE_BINARY_DIR}/generated/${table}.c ttm_${table} ${${table}})
  list(APPEND cli_shared ${CMAKE_BINARY_DIR}/generated/${table}.c)
endforeach()

add_library(ttmem_cli OBJECT ${cli_shared})
target_link_libraries(ttmem_cli PUBLIC ttmem_shown ttmem_cbscan)

function(ttmem_add_program name main)
  add_executable(${name} ${main} $<TARGET_OBJECTS:ttmem_cli>)
  target_link_libraries(${name} PRIVATE ttmem_shown ttmem_cbscan)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# CMake owns the name `ttmem` for the shared library, so the target of the program is called ttmem_program.
ttmem_add_program(ttmem_program ${ttmem_main})
ttmem_add_program(tt-memory-profiler ${profiler_main})
set_target_properties(ttmem_program PROPERTIES OUTPUT_NAME ttmem)

# The Python scripts of old are links to one file, which goes by the name it was called with and starts the ttmem beside it.
file(GLOB old_names CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/*.py ${CMAKE_SOURCE_DIR}/memory_profiler/*.py)
foreach(old_name ${old_names})
  get_filename_component(name ${old_name} NAME)
  if(IS_SYMLINK ${old_name})
    install(PROGRAMS ${CMAKE_SOURCE_DIR}/scripts/old_name.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ${name})
  endif()
endforeach()
