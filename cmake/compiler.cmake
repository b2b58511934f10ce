# SPDX-License-Identifier: Apache-2.0
# One set of flags for every target, and an early, clear no to compilers we do not test.
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 11)
   OR (CMAKE_C_COMPILER_ID MATCHES "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR "ttmem needs gcc >= 11 or clang >= 14; this is ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # the same objects serve the shared and the static library
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)   # clang-tidy
if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)  # the release preset promises build/bin
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endif()

add_compile_options(-Wall -Wextra -Werror)
# Against what a damaged stack, a stray write or a forged pointer could do, in what is installed; scripts/check-hardening looks at every file.
# Sanitizers see more without it, and the tests' own read() takes the place of the system's; Ubuntu's compilers bring it unasked.
include(CheckCCompilerFlag)
include(CheckPIESupported)
check_pie_supported()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_C_FLAGS MATCHES "sanitize|coverage" AND NOT CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "ttmem_has${flag}" has)
    check_c_compiler_flag("-Werror ${flag}" ${has})
    if(${has})
      add_compile_options(${flag})
    endif()
  endforeach()
  add_compile_options("$<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>") # -U: some compilers bring a value of their own
  add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)
else()
  add_compile_options(-U_FORTIFY_SOURCE)
endif()
# Logs are larger than 2 GiB: off_t must be 64 bits on every machine.
add_compile_definitions(_FILE_OFFSET_BITS=64)
# __FILE__ relative to the source; debug information keeps full paths, so that debuggers find the text.
add_compile_options(-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  add_compile_definitions(_DARWIN_C_SOURCE) # what a file asks for by _POSIX_C_SOURCE would hide the rest there
endif()
