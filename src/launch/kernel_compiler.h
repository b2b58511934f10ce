/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for the RISC-V kernel compiler that ttnn asks for and its wheel does not bring. On a mock board no kernel runs: it is enough that
 * every call leaves the files it was asked for. Memory numbers do not depend on it, but for the sizes of kernel binaries, which mean
 * nothing here. */
#ifndef TTM_LAUNCH_KERNEL_COMPILER_H
#define TTM_LAUNCH_KERNEL_COMPILER_H

#include <stdbool.h>

/* True when the program was called by the compiler's name: through a link of a runtime root that ttmem made. */
bool ttm_is_kernel_compiler(const char *program);

/* The compiler's command line. Compiling (-c) leaves an empty object and a dependency file, linking a small executable that ttnn's ELF
 * reader accepts. The exit code. */
int ttm_kernel_compiler_main(int argc, char **argv);

#endif
