/* Where loaded libraries are in memory. */
#ifndef CULPRIT_REGIONS_LIBRARIES_H
#define CULPRIT_REGIONS_LIBRARIES_H

#include <stdint.h>

struct extent {
  uint64_t begin;
  uint64_t end;
};

/* The memory of the library (or program) around `address`; empty if there is none. */
struct extent library_around(const void* address);

#endif
