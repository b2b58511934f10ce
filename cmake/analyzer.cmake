# SPDX-License-Identifier: Apache-2.0
# gcc's -fanalyzer (preset analyzer, `make analyzer`): every warning is an error. What it is wrong about is named here, once, with
# the reason; the code carries no pragmas for it. Reviewed with gcc 12.
add_compile_options(-fanalyzer)
# Wrong about views: `v = ttm_str_from(v, 1)` passes a struct by value and takes it back, and gcc 12 then calls `v` uninitialised.
# valgrind and cppcheck look for the real ones.
add_compile_options(-Wno-analyzer-use-of-uninitialized-value)

# file -> the warning it is wrong about there.
function(ttmem_analyzer_wrong file warning)
  set_property(SOURCE ${CMAKE_SOURCE_DIR}/${file} APPEND PROPERTY COMPILE_OPTIONS -Wno-analyzer-${warning})
endfunction()
# A view of more than no bytes has bytes.
ttmem_analyzer_wrong(src/cbscan/value.c null-argument)
# What was asked for is there: a value that was tried, the operation of an event, a statement that was begun, the run before a step.
foreach(file analyze/fit_find.c analyze/ledger_rest.c analyze/statement.c history/tell.c)
  ttmem_analyzer_wrong(src/${file} null-dereference)
endforeach()
# ttm_error_set never returns 0.
ttmem_analyzer_wrong(src/cli/command_export.c null-dereference)
# Only blocks that are in its list grow or are freed.
ttmem_analyzer_wrong(src/base/spill.c null-dereference)
# realloc of NULL frees nothing; the map keeps its entries.
ttmem_analyzer_wrong(bindings/python/ttmem/hook/ttmem_words.c double-free)
ttmem_analyzer_wrong(bindings/python/ttmem/hook/ttmem_words.c malloc-leak)
