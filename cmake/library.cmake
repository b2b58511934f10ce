# SPDX-License-Identifier: Apache-2.0
# libttmem: the rooms of src/ in the order of the flow. cbscan, history, launch, serve, ui and cli belong to the programs (cbscan.cmake,
# programs.cmake): who links the library gets no C++ grammar, no history, no child processes, no HTTP server and no terminal with it.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED libxxhash) # only its header: src/base/hash.c compiles the functions in
pkg_check_modules(CAIRO cairo) # only its header: src/report/write/canvas_png.c opens the library when a picture is asked for, or says that it cannot
set(ttmem_needs Threads::Threads ZLIB::ZLIB PkgConfig::ZSTD PkgConfig::SQLITE PkgConfig::UTF8PROC ${CMAKE_DL_LIBS} m)

set(ttmem_sources)
foreach(room base parse profile watch l1 analyze train report store)
  file(GLOB_RECURSE room_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.c)
  list(APPEND ttmem_sources ${room_sources})
endforeach()
# What differs between systems is in one file each (base/os.h).
set(ttmem_os linux)
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  set(ttmem_os macos)
endif()
list(FILTER ttmem_sources EXCLUDE REGEX "/base/os_[a-z]+\\.c$")
list(APPEND ttmem_sources ${CMAKE_SOURCE_DIR}/src/base/os_${ttmem_os}.c)
# Only for a program that has musl inside.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/bytes_musl.c PROPERTIES COMPILE_OPTIONS -fno-builtin)
if(NOT TTMEM_TARGET MATCHES "musl")
  list(REMOVE_ITEM ttmem_sources ${CMAKE_SOURCE_DIR}/src/base/bytes_musl.c)
endif()

include(cmake/web.cmake)

add_library(ttmem_objects OBJECT ${ttmem_sources})
target_include_directories(ttmem_objects PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/hash.c PROPERTIES INCLUDE_DIRECTORIES "${XXHASH_INCLUDE_DIRS}")
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/report/write/canvas_png.c PROPERTIES INCLUDE_DIRECTORIES "${CAIRO_INCLUDE_DIRS}")
target_link_libraries(ttmem_objects PUBLIC ${ttmem_needs})

# Inside the project everything links the static library and may see src/; users get include/ only.
add_library(ttmem_static STATIC $<TARGET_OBJECTS:ttmem_objects>)
set_target_properties(ttmem_static PROPERTIES OUTPUT_NAME ttmem)
target_include_directories(ttmem_static PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
target_link_libraries(ttmem_static PUBLIC ${ttmem_needs})

if(TTMEM_FUZZ)
  return()
endif()

# docs/library.md: what breaks a program raises the minor version before 1.0, the major one after it.
set(ttmem_soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(ttmem_soversion 0.${PROJECT_VERSION_MINOR})
endif()
add_library(ttmem SHARED $<TARGET_OBJECTS:ttmem_objects>)
set_target_properties(ttmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${ttmem_soversion} LINKER_LANGUAGE C)
target_link_libraries(ttmem PRIVATE ${ttmem_needs})

# How many folders up from <libdir>/pkgconfig the prefix is (lib/x86_64-linux-gnu is one deeper than lib).
file(RELATIVE_PATH TTMEM_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_SOURCE_DIR}/cmake/ttmem.pc.in ${CMAKE_BINARY_DIR}/ttmem.pc @ONLY)

# The CMake package: ttmem::ttmem, and ttmem::static in a file of its own, for its needs are nobody else's.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ttmem)
configure_package_config_file(cmake/ttmem-config.cmake.in ${CMAKE_BINARY_DIR}/ttmem-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ttmem-config-version.cmake COMPATIBILITY SameMinorVersion)
set_target_properties(ttmem_static PROPERTIES EXPORT_NAME static)
install(TARGETS ttmem EXPORT ttmem-targets DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ttmem_static EXPORT ttmem-static-targets DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(targets ttmem-targets ttmem-static-targets)
  install(EXPORT ${targets} NAMESPACE ttmem:: DESTINATION ${package})
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/ttmem-config.cmake ${CMAKE_BINARY_DIR}/ttmem-config-version.cmake DESTINATION ${package})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ttmem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES ${CMAKE_BINARY_DIR}/ttmem.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
