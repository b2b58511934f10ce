# SPDX-License-Identifier: Apache-2.0
# Files that travel inside the program, as a table of names and bytes (src/launch/embedded.h).
# ttmem_embed(OUTPUT.c TABLE NAME=FILE ...)
function(ttmem_embed output table)
  set(arrays "")
  set(rows "")
  set(number 0)
  foreach(pair ${ARGN})
    string(FIND "${pair}" "=" at)
    string(SUBSTRING "${pair}" 0 ${at} name)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${pair}" ${at} -1 file)
    if(NOT CMAKE_SCRIPT_MODE_FILE)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
    string(APPEND arrays "static const unsigned char bytes_${number}[] = {${hex}};\n")
    string(APPEND rows "    {\"${name}\", bytes_${number}, sizeof bytes_${number}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT
    "#include \"launch/embedded.h\"\n${arrays}const ttm_embedded ${table}[] = {\n${rows}};\nconst size_t ${table}_count = ${number};\n" @ONLY)
endfunction()

# As a script, for a file that the build makes: cmake -DOUTPUT=... -DTABLE=... -DPAIR=NAME=FILE -P embed.cmake
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  ttmem_embed(${OUTPUT} ${TABLE} ${PAIR})
endif()
