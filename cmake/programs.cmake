# SPDX-License-Identifier: Apache-2.0
# ttmem, and tt-memory-profiler, which is the same file under another name.
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(PQ libpq) # only its header: src/history/postgres.c opens the library when a server is named, or says that it cannot
pkg_check_modules(NCURSESW REQUIRED ncursesw) # libraries only: its flags would choose feature macros for every file
file(GLOB shown_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/history/*.c ${CMAKE_SOURCE_DIR}/src/serve/*.c ${CMAKE_SOURCE_DIR}/src/mcp/*.c ${CMAKE_SOURCE_DIR}/src/ui/*.c)
add_library(ttmem_shown STATIC ${shown_sources})
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/history/postgres.c PROPERTIES INCLUDE_DIRECTORIES "${PQ_INCLUDE_DIRS}")
target_link_libraries(ttmem_shown PUBLIC ttmem_static PkgConfig::MICROHTTPD ${NCURSESW_LINK_LIBRARIES})

file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.c ${CMAKE_SOURCE_DIR}/src/launch/*.c)

# Files that travel inside: mock boards, the demonstration log of `ttmem cb log`, and what `ttmem run` puts before a Python program.
include(cmake/embed.cmake)
set(board_files)
foreach(board n150 n300 t3k galaxy p100 p150 p300)
  list(APPEND board_files ${board}=${CMAKE_SOURCE_DIR}/boards/${board}.yaml)
endforeach()
set(hook_files)
set(hook ${CMAKE_SOURCE_DIR}/bindings/python/ttmem/hook)
file(GLOB hook_parts CONFIGURE_DEPENDS ${hook}/*.py)
foreach(part ${hook_parts})
  get_filename_component(name ${part} NAME)
  list(APPEND hook_files ${name}=${part})
endforeach()
set(demo_files metal_cb.log=${CMAKE_SOURCE_DIR}/demo/metal_cb.log)
# What of the recorder is in C. It is loaded by the Python of the program, which knows nothing of the tools that we are built with.
set(TTMEM_NATIVE "" CACHE FILEPATH "ttmem_native.so, where this build's C library is not that of the machine's Python")
set(native ${TTMEM_NATIVE})
if(NOT native)
  add_library(ttmem_native MODULE ${hook}/ttmem_native.c ${hook}/ttmem_calls.c ${hook}/ttmem_words.c ${hook}/ttmem_mock.c)
  set_target_properties(ttmem_native PROPERTIES PREFIX "")
  target_compile_options(ttmem_native PRIVATE -O2 -fno-sanitize=all)
  target_link_options(ttmem_native PRIVATE -fno-sanitize=all)
  target_link_libraries(ttmem_native PRIVATE ${CMAKE_DL_LIBS})
  set(native $<TARGET_FILE:ttmem_native>)
endif()
set(native_table ${CMAKE_BINARY_DIR}/generated/native_files.c)
add_custom_command(OUTPUT ${native_table}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${native_table} -DTABLE=ttm_native_files -DPAIR=ttmem_native.so=${native}
    -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${native} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
list(APPEND cli_sources ${native_table})
foreach(table board_files hook_files demo_files)
  ttmem_embed(${CMAKE_BINARY_DIR}/generated/${table}.c ttm_${table} ${${table}})
  list(APPEND cli_sources ${CMAKE_BINARY_DIR}/generated/${table}.c)
endforeach()

# CMake owns the name `ttmem` for the shared library, so the target of the program is called ttmem_program.
list(REMOVE_ITEM cli_sources ${CMAKE_SOURCE_DIR}/src/cli/main.c)
add_library(ttmem_cli OBJECT ${cli_sources}) # tests link it too
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cli/command.c PROPERTIES COMPILE_DEFINITIONS TTMEM_COMMIT="${commit}")
target_link_libraries(ttmem_cli PUBLIC ttmem_shown ttmem_cbscan)
add_executable(ttmem_program ${CMAKE_SOURCE_DIR}/src/cli/main.c $<TARGET_OBJECTS:ttmem_cli>)
target_link_libraries(ttmem_program PRIVATE ttmem_shown ttmem_cbscan)
set_target_properties(ttmem_program PROPERTIES OUTPUT_NAME ttmem)
add_custom_command(TARGET ttmem_program POST_BUILD VERBATIM
  COMMAND ${CMAKE_COMMAND} -E create_symlink ttmem ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tt-memory-profiler)
if(NOT CMAKE_CROSSCOMPILING)
  add_custom_command(TARGET ttmem_program POST_BUILD VERBATIM
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/make-pages $<TARGET_FILE:ttmem_program> ${CMAKE_BINARY_DIR}/share)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
install(TARGETS ttmem_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tt-memory-profiler DESTINATION ${CMAKE_INSTALL_BINDIR})

# The page of `make web`, which `ttmem serve` hands out.
install(FILES ${CMAKE_SOURCE_DIR}/build/ttmem.html DESTINATION ${CMAKE_INSTALL_DATADIR}/ttmem OPTIONAL)

# The Python scripts of old are links to one file, which goes by the name it was called with and starts the ttmem beside it.
file(GLOB old_names CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/*.py ${CMAKE_SOURCE_DIR}/memory_profiler/*.py)
foreach(old_name ${old_names})
  get_filename_component(name ${old_name} NAME)
  if(IS_SYMLINK ${old_name})
    install(PROGRAMS ${CMAKE_SOURCE_DIR}/scripts/old_name.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ${name})
  endif()
endforeach()
