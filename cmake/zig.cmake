# SPDX-License-Identifier: Apache-2.0
# A toolchain for CMake: the compiler of scripts/zig-cc and the libraries of scripts/deps, both brought before for TTMEM_TARGET.
# usage: cmake --toolchain cmake/zig.cmake -DTTMEM_TARGET=aarch64-linux-musl ...; scripts/static does all of it.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TTMEM_TARGET)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR ${TTMEM_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
if(TTMEM_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
endif()
if(TTMEM_TARGET MATCHES "wasm")
  set(CMAKE_SYSTEM_NAME Generic)
endif()
set(tools ${CMAKE_CURRENT_LIST_DIR}/../build/zig/bin/${TTMEM_TARGET})
set(CMAKE_C_COMPILER ${tools}-cc)
set(CMAKE_AR ${tools}-ar)
set(CMAKE_RANLIB ${tools}-ranlib)

set(CMAKE_FIND_ROOT_PATH ${CMAKE_CURRENT_LIST_DIR}/../build/deps/${TTMEM_TARGET})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_FIND_ROOT_PATH}/lib/pkgconfig)
