/* The mapped memory of this process, by /proc/self/maps. */
#ifndef CULPRIT_REGIONS_MAPS_H
#define CULPRIT_REGIONS_MAPS_H

#include <stdint.h>

struct mapping {
  uint64_t start;
  uint64_t end;
  uint64_t file_offset;
  uint64_t inode;
  int is_code;
  const char* name; /* as long as take_mapping() runs */
};

typedef void take_mapping(const struct mapping* mapping, void* data);

/* Shows all of them, one after the other. By one thread at a time. */
void maps_read(take_mapping* take, void* data);

#endif
