/* The mapped memory of this process, by /proc/self/maps: read as signal handlers must. */
#ifndef CULPRIT_GUEST_MAPS_H
#define CULPRIT_GUEST_MAPS_H

#include <stdint.h>

struct mapping {
  uint64_t start;
  uint64_t end;
  uint64_t offset; /* in the file */
  uint64_t inode;
  uint32_t major; /* of the device */
  uint32_t minor;
  const char* rights; /* "r-xp" */
  const char* name;   /* both as long as take_mapping() runs; "": none */
};

typedef void take_mapping(const struct mapping* mapping, void* data);

/* Shows all of them, one after the other. By one thread at a time. */
void maps_read(take_mapping* take, void* data);

#endif
