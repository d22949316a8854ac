/* The file of paths: which constructs there are, each below those around it (protocol.h). */
#ifndef CULPRIT_REGIONS_PATHS_H
#define CULPRIT_REGIONS_PATHS_H

#include <stdint.h>

#include "protocol.h"

/* A construct, wherever it is met: by its kind and site, or its name. */
struct construct {
  uint16_t kind;
  uint16_t detail;
  uint32_t is_outlined;
  uint64_t site;
  uint32_t name; /* of paths_find_name(); 0: none. Those with one are the same at every site */
};

/* Reads our settings. Nothing is made until there is something to write. */
void paths_configure(char** environment);
/* Whether constructs are to be measured. */
int paths_are_on(void);
/* The file, made at the first call; NULL if it cannot be. */
struct culprit_region_paths* paths_file(void);
const char* paths_folder(void);
/* Tells the files of this process from those of others with its number. */
uint64_t paths_salt(void);

/* The number of a name, `length` bytes of it; 0 where there is no room. */
uint32_t paths_find_name(const char* name, uint64_t length);

/* The number of `construct` below path `parent`. A construct inside itself is the same path.
 * 0 where there is no room. */
uint32_t paths_find(uint32_t parent, const struct construct* construct);
/* Where the construct ended, if nobody said it before. */
void paths_set_end(uint32_t path, uint64_t address);
void paths_set_flag(uint32_t flag);

/* A forked child begins a file of its own with the same paths. */
void paths_after_fork(void);

/* Reads a file that the host left in the folder, of exactly `size` bytes; 0: it is not there. */
int paths_read_file(const char* name, void* to, uint64_t size);
/* Tells the host that we are in this process. */
void paths_note_loaded(void);

/* Files are mapped with all their pages from now on, so that writing causes no page faults. */
void paths_fill_files(void);
/* Makes a file of `size` zeroes in the folder and maps it; NULL if that cannot be. */
void* paths_map_file(const char* name, uint64_t size);

#endif
