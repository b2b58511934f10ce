/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/kernel_compiler.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/out_file.h"

bool ttm_is_kernel_compiler(const char *program) {
  const char *slash = program ? strrchr(program, '/') : NULL;
  return program && !strcmp(slash ? slash + 1 : program, "riscv-tt-elf-g++");
}

/* ---- The executable ------------------------------------------------------------------------------------------------ */

enum { ENTRY = 0x4000, CODE_WORDS = 16 };
enum { NO_SECTION, TEXT, RELOCATIONS, SYMBOLS, SYMBOL_NAMES, SECTION_NAMES, SECTIONS };

static const char symbol_names[] = "\0_start";
static const char section_names[] = "\0.text\0.rela.text\0.symtab\0.strtab\0.shstrtab";

/* All of it at fixed places. */
typedef struct executable {
  Elf32_Ehdr header;
  Elf32_Phdr segment;
  uint32_t code[CODE_WORDS];
  Elf32_Sym symbols[2];
  char symbol_names[sizeof symbol_names];
  char section_names[sizeof section_names];
  Elf32_Shdr sections[SECTIONS];
} executable;

static Elf32_Shdr section(uint32_t type, uint32_t offset, uint32_t size, uint32_t alignment) {
  return (Elf32_Shdr){.sh_type = type, .sh_offset = offset, .sh_size = size, .sh_addralign = alignment};
}

static uint32_t name_at(const char *name) {
  uint32_t at = 1;
  while (at < sizeof section_names && strcmp(section_names + at, name) != 0) {
    at += (uint32_t)strlen(section_names + at) + 1;
  }
  return at;
}

static void fill_sections(executable *e) {
  Elf32_Shdr *s = e->sections;
  s[TEXT] = section(SHT_PROGBITS, offsetof(executable, code), sizeof e->code, 4);
  s[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  s[TEXT].sh_addr = ENTRY;
  s[RELOCATIONS] = section(SHT_RELA, offsetof(executable, symbols), 0, 4); /* there, and empty */
  s[RELOCATIONS].sh_link = SYMBOLS;
  s[RELOCATIONS].sh_info = TEXT;
  s[RELOCATIONS].sh_entsize = sizeof(Elf32_Rela);
  s[SYMBOLS] = section(SHT_SYMTAB, offsetof(executable, symbols), sizeof e->symbols, 4);
  s[SYMBOLS].sh_link = SYMBOL_NAMES;
  s[SYMBOLS].sh_info = 1;
  s[SYMBOLS].sh_entsize = sizeof(Elf32_Sym);
  s[SYMBOL_NAMES] = section(SHT_STRTAB, offsetof(executable, symbol_names), sizeof e->symbol_names, 1);
  s[SECTION_NAMES] = section(SHT_STRTAB, offsetof(executable, section_names), sizeof e->section_names, 1);
  s[TEXT].sh_name = name_at(".text");
  s[RELOCATIONS].sh_name = name_at(".rela.text");
  s[SYMBOLS].sh_name = name_at(".symtab");
  s[SYMBOL_NAMES].sh_name = name_at(".strtab");
  s[SECTION_NAMES].sh_name = name_at(".shstrtab");
}

static void fill_executable(executable *e) {
  memset(e, 0, sizeof *e);
  memcpy(e->header.e_ident, ELFMAG, SELFMAG);
  e->header.e_ident[EI_CLASS] = ELFCLASS32;
  e->header.e_ident[EI_DATA] = ELFDATA2LSB;
  e->header.e_ident[EI_VERSION] = EV_CURRENT;
  e->header.e_type = ET_EXEC;
  e->header.e_machine = EM_RISCV;
  e->header.e_version = EV_CURRENT;
  e->header.e_entry = ENTRY;
  e->header.e_phoff = offsetof(executable, segment);
  e->header.e_shoff = offsetof(executable, sections);
  e->header.e_ehsize = sizeof e->header;
  e->header.e_phentsize = sizeof e->segment;
  e->header.e_phnum = 1;
  e->header.e_shentsize = sizeof *e->sections;
  e->header.e_shnum = SECTIONS;
  e->header.e_shstrndx = SECTION_NAMES;
  e->segment = (Elf32_Phdr){.p_type = PT_LOAD,
                            .p_offset = offsetof(executable, code),
                            .p_vaddr = ENTRY,
                            .p_paddr = ENTRY,
                            .p_filesz = sizeof e->code,
                            .p_memsz = sizeof e->code,
                            .p_flags = PF_R | PF_X,
                            .p_align = 4};
  for (size_t i = 0; i < CODE_WORDS; i++) e->code[i] = 0x00000013; /* addi x0, x0, 0: nothing */
  e->symbols[1] = (Elf32_Sym){.st_name = 1, .st_value = ENTRY, .st_size = sizeof e->code, .st_shndx = TEXT};
  e->symbols[1].st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC);
  memcpy(e->symbol_names, symbol_names, sizeof symbol_names);
  memcpy(e->section_names, section_names, sizeof section_names);
  fill_sections(e);
}

/* ---- The command line ---------------------------------------------------------------------------------------------- */

static int write_file(const char *path, ttm_str bytes) {
  ttm_error err;
  ttm_out out;
  int status = ttm_out_open(&out, path, &err);
  if (!status) ttm_buf_put(&out.buf, bytes);
  if (!status) status = ttm_out_close(&out, &err);
  if (status) fprintf(stderr, "ttmem, in place of the kernel compiler: %s\n", err.message);
  return status ? 1 : 0;
}

static bool is_source(const char *word) {
  const char *dot = strrchr(word, '.');
  return dot && (!strcmp(dot, ".cc") || !strcmp(dot, ".cpp") || !strcmp(dot, ".c") || !strcmp(dot, ".S"));
}

/* "object: source", where -MF says or beside the object. */
static int write_dependencies(int argc, char **argv, const char *object, const char *path) {
  ttm_buf beside = {0}, text = {0};
  const char *dot = strrchr(object, '.'), *slash = strrchr(object, '/');
  size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - object) : strlen(object);
  ttm_buf_put(&beside, (ttm_str){object, stem});
  ttm_buf_puts(&beside, ".d");
  ttm_buf_char(&beside, '\0');
  ttm_buf_printf(&text, "%s:", object);
  for (int i = 1; i < argc; i++)
    if (is_source(argv[i])) ttm_buf_printf(&text, " %s", argv[i]);
  ttm_buf_char(&text, '\n');
  int status = beside.failed || text.failed ? 1 : write_file(path ? path : beside.at, ttm_buf_str(&text));
  ttm_buf_free(&beside);
  ttm_buf_free(&text);
  return status;
}

int ttm_kernel_compiler_main(int argc, char **argv) {
  const char *output = NULL, *dependencies = NULL;
  bool compile = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-v") || !strcmp(argv[i], "-dumpversion")) {
      puts("riscv-tt-elf-g++ (tenstorrent/sfpi:7.40.0[490]) 15.1.0");
      return 0;
    }
    if (!strcmp(argv[i], "-c")) compile = true;
    if (!strcmp(argv[i], "-o") && i + 1 < argc) output = argv[i + 1];
    if (!strcmp(argv[i], "-MF") && i + 1 < argc) dependencies = argv[i + 1];
  }
  if (!output) return 0;
  if (!compile) {
    executable e;
    fill_executable(&e);
    return write_file(output, (ttm_str){(const char *)&e, sizeof e});
  }
  int status = write_file(output, (ttm_str){"", 0});
  return status ? status : write_dependencies(argc, argv, output, dependencies);
}
