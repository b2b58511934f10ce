# SPDX-License-Identifier: Apache-2.0
# web/ becomes one C file with the page inside. npm's packages are brought by scripts/setup; nothing is fetched here.
find_program(TTMEM_NODE NAMES node nodejs)
if(NOT TTMEM_NODE OR NOT EXISTS ${CMAKE_SOURCE_DIR}/web/node_modules/uplot/package.json)
  message(FATAL_ERROR "The page of the HTML report needs node and the packages of web/package-lock.json.\n"
                      "Bring them with:  scripts/setup build   (make demo and make test do it by themselves)")
endif()
file(GLOB web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*.ts ${CMAKE_SOURCE_DIR}/web/src/*.css)
set(web_page ${CMAKE_BINARY_DIR}/generated/html_page.c)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
add_custom_command(
  OUTPUT ${web_page}
  COMMAND ${TTMEM_NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs ${web_page}
  DEPENDS ${web_sources} ${CMAKE_SOURCE_DIR}/web/build.mjs ${CMAKE_SOURCE_DIR}/web/page.html ${CMAKE_SOURCE_DIR}/web/package-lock.json
  COMMENT "Bundling the page of the HTML report"
  VERBATIM)
list(APPEND ttmem_sources ${web_page})
