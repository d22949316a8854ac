/* See libraries.h. */
#define _GNU_SOURCE
#include "libraries.h"

#include <link.h>
#include <stddef.h>

struct search {
  uint64_t address;
  struct extent found;
};

static int look_at(struct dl_phdr_info* library, size_t size, void* searching) {
  (void)size;
  struct search* search = searching;
  struct extent all = {UINT64_MAX, 0};
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    if (part->p_vaddr < all.begin) all.begin = part->p_vaddr;
    if (part->p_vaddr + part->p_memsz > all.end) all.end = part->p_vaddr + part->p_memsz;
  }
  if (all.end == 0) return 0;
  all.begin += library->dlpi_addr;
  all.end += library->dlpi_addr;
  if (search->address < all.begin || search->address >= all.end) return 0;
  search->found = all;
  return 1;
}

struct extent library_around(const void* address) {
  struct search search = {(uint64_t)(uintptr_t)address, {0, 0}};
  dl_iterate_phdr(look_at, &search);
  return search.found;
}
