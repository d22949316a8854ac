/* See paths.h. The table of paths only grows; a hash table beside it finds a path without a lock.
 * No allocation, no stdio. */
#define _GNU_SOURCE
#include "paths.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "collect/timer/guest/maps.h"
#include "collect/timer/guest/text.h"

enum { kHashSlots = 4 * CULPRIT_MAX_PATHS, kNameSlots = 8192 };

/* Which path `construct` below `parent` is. `path` is written last. */
struct entry {
  uint32_t parent;
  uint32_t path; /* 0: free */
  uint16_t kind;
  uint16_t detail;
  uint64_t key; /* site, or name */
};

static char folder[4096];
static int is_configured;
static struct culprit_region_paths* file;
static int has_failed;
static int are_filled; /* files that are mapped */
static uint64_t salt;
static struct entry entries[kHashSlots];
static uint32_t names[kNameSlots]; /* hash table of places in file->names; 0: free */
static char busy;                  /* guards what follows and all writing */
int clock_uses_tsc;

static void lock(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
  }
}

static void unlock(void) {
  __atomic_clear(&busy, __ATOMIC_RELEASE);
}

static const char* find_value(char** environment, const char* name) {
  const size_t length = strlen(name);
  for (; environment != NULL && *environment != NULL; ++environment) {
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return NULL;
}

void paths_configure(char** environment) {
  const char* wanted = find_value(environment, CULPRIT_ENV_REGIONS);
  if (wanted == NULL || wanted[0] == '\0' || strlen(wanted) >= sizeof folder) return;
  strcpy(folder, wanted);
  const char* clock = find_value(environment, CULPRIT_ENV_REGIONS_CLOCK);
  clock_uses_tsc = clock != NULL && strcmp(clock, "tsc") == 0;
  is_configured = 1;
}

int paths_are_on(void) {
  return is_configured && !has_failed;
}

const char* paths_folder(void) {
  return folder;
}

uint64_t paths_salt(void) {
  return salt;
}

/* A file beyond the limit would end the program by SIGXFSZ. */
static int fits_limit(uint64_t size) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size;
}

/* The path of a file in the folder; 0: it does not fit. */
static int name_file(const char* name, char* path, size_t size) {
  struct text text = {path, size, 0};
  text_add(&text, folder);
  text_add(&text, "/");
  text_add(&text, name);
  return text_finish(&text);
}

void paths_fill_files(void) {
  are_filled = 1;
}

void* paths_map_file(const char* name, uint64_t size) {
  char path[4096];
  if (!name_file(name, path, sizeof path) || !fits_limit(size)) return NULL;
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return NULL;
  void* memory = MAP_FAILED;
  if (posix_fallocate(fd, 0, (off_t)size) == 0) {
    const int flags = MAP_SHARED | (are_filled ? MAP_POPULATE : 0);
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  }
  close(fd);
  return memory == MAP_FAILED ? NULL : memory;
}

int paths_read_file(const char* name, void* to, uint64_t size) {
  char path[4096];
  if (!name_file(name, path, sizeof path)) return 0;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return 0;
  uint64_t have = 0;
  while (have < size) {
    const ssize_t got = read(fd, (char*)to + have, size - have);
    if (got <= 0) break;
    have += (uint64_t)got;
  }
  close(fd);
  return have == size;
}

/* One write to the end of a file is a whole row, whoever else writes. */
void paths_note_loaded(void) {
  enum { kEnoughBytes = 1 << 20 };
  char path[4096];
  if (!name_file(CULPRIT_LOADED_FILE, path, sizeof path) || !fits_limit(kEnoughBytes)) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  struct culprit_region_loaded row = {
      (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, (uint32_t)getpid(), 0, {0}};
  const int saved_errno = errno;
  prctl(PR_GET_NAME, row.name);
  const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) {
    const ssize_t written = write(fd, &row, sizeof row);
    (void)written;
    close(fd);
  }
  errno = saved_errno;
}

static struct culprit_region_paths* make_file(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  salt = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  char name[128];
  struct text text = {name, sizeof name, 0};
  text_add_number(&text, (uint64_t)getpid());
  text_add(&text, ".");
  text_add_number(&text, salt);
  text_add(&text, CULPRIT_PATHS_SUFFIX);
  text_finish(&text);
  struct culprit_region_paths* made = paths_map_file(name, sizeof *made);
  if (made == NULL) return NULL;
  made->pid = (uint32_t)getpid();
  made->parent_pid = (uint32_t)getppid();
  made->uses_tsc = (uint32_t)clock_uses_tsc;
  made->start_ticks = clock_now();
  made->path_count = 1;
  made->names_used = 1;
  __atomic_store_n(&made->magic, CULPRIT_PATHS_MAGIC, __ATOMIC_RELEASE);
  return made;
}

struct culprit_region_paths* paths_file(void) {
  struct culprit_region_paths* known = __atomic_load_n(&file, __ATOMIC_ACQUIRE);
  if (known != NULL || !paths_are_on()) return known;
  const int saved_errno = errno;
  lock();
  if (file == NULL && !has_failed) {
    struct culprit_region_paths* made = make_file();
    if (made == NULL) has_failed = 1;
    __atomic_store_n(&file, made, __ATOMIC_RELEASE);
  }
  unlock();
  errno = saved_errno;
  return file;
}

void paths_set_flag(uint32_t flag) {
  struct culprit_region_paths* paths = paths_file();
  if (paths != NULL) __atomic_fetch_or(&paths->flags, flag, __ATOMIC_RELAXED);
}

/* ---- the files that constructs are in ---- */

static int knows_address(uint64_t address) {
  for (uint32_t i = 0; i < file->file_count; ++i) {
    if (address >= file->files[i].start && address < file->files[i].end) return 1;
  }
  return 0;
}

static void take_around(const struct mapping* mapping, void* address) {
  if (*(uint64_t*)address < mapping->start || *(uint64_t*)address >= mapping->end) return;
  struct culprit_region_file* const row = &file->files[file->file_count];
  if (file->file_count == CULPRIT_MAX_FILES || strlen(mapping->name) >= sizeof row->name) return;
  row->start = mapping->start;
  row->end = mapping->end;
  row->file_offset = mapping->offset;
  row->inode = mapping->inode;
  strcpy(row->name, mapping->name);
  __atomic_store_n(&file->file_count, file->file_count + 1, __ATOMIC_RELEASE);
}

/* Writes down the mapping that holds `address`. */
static void learn_address(uint64_t address) {
  if (address != 0 && !knows_address(address)) maps_read(take_around, &address);
}

/* ---- paths ---- */

static uint64_t key_of(const struct construct* construct) {
  return construct->name != 0 ? construct->name : construct->site;
}

static uint32_t hash_of(uint32_t parent, const struct construct* construct) {
  uint64_t mixed = key_of(construct) * UINT64_C(0x9e3779b97f4a7c15);
  mixed ^= ((uint64_t)parent << 16 | construct->kind) * UINT64_C(0xff51afd7ed558ccd);
  return (uint32_t)(mixed >> 33) & (kHashSlots - 1);
}

static int is_same(const struct entry* entry, uint32_t parent, const struct construct* construct) {
  return entry->parent == parent && entry->key == key_of(construct) &&
         entry->kind == construct->kind && entry->detail == construct->detail;
}

/* The path of the same construct around `parent`: recursion does not make paths. 0: none. */
static uint32_t find_around(uint32_t parent, const struct construct* construct) {
  for (uint32_t at = parent; at != 0; at = file->paths[at].parent) {
    const struct culprit_region_path* path = &file->paths[at];
    const int is_there =
        construct->name != 0 ? path->name == construct->name : path->site == construct->site;
    if (is_there && path->kind == construct->kind && path->detail == construct->detail) {
      return at;
    }
  }
  return 0;
}

static uint32_t add_path(uint32_t parent, const struct construct* construct) {
  const uint32_t number = file->path_count;
  if (number == CULPRIT_MAX_PATHS) {
    ++file->lost_paths;
    return 0;
  }
  learn_address(construct->site);
  struct culprit_region_path* path = &file->paths[number];
  path->parent = parent;
  path->kind = construct->kind;
  path->detail = construct->detail;
  path->site = construct->site;
  path->is_outlined = construct->is_outlined;
  path->name = construct->name;
  __atomic_store_n(&file->path_count, number + 1, __ATOMIC_RELEASE);
  return number;
}

static uint32_t add_entry(uint32_t parent, const struct construct* construct) {
  const int saved_errno = errno;
  lock();
  uint32_t slot = hash_of(parent, construct);
  uint32_t path = 0;
  for (uint32_t tries = 0; tries < kHashSlots; ++tries, slot = (slot + 1) & (kHashSlots - 1)) {
    struct entry* entry = &entries[slot];
    if (entry->path != 0) {
      if (!is_same(entry, parent, construct)) continue;
      path = entry->path; /* another thread was faster */
      break;
    }
    path = find_around(parent, construct);
    if (path == 0) path = add_path(parent, construct);
    if (path == 0) break;
    entry->parent = parent;
    entry->kind = construct->kind;
    entry->detail = construct->detail;
    entry->key = key_of(construct);
    __atomic_store_n(&entry->path, path, __ATOMIC_RELEASE);
    break;
  }
  unlock();
  errno = saved_errno;
  return path;
}

uint32_t paths_find(uint32_t parent, const struct construct* construct) {
  uint32_t slot = hash_of(parent, construct);
  for (uint32_t tries = 0; tries < kHashSlots; ++tries, slot = (slot + 1) & (kHashSlots - 1)) {
    const uint32_t path = __atomic_load_n(&entries[slot].path, __ATOMIC_ACQUIRE);
    if (path == 0) break;
    if (is_same(&entries[slot], parent, construct)) return path;
  }
  return paths_file() == NULL ? 0 : add_entry(parent, construct);
}

/* ---- names ---- */

static uint32_t hash_name(const char* name, uint64_t length) {
  uint64_t mixed = length;
  for (uint64_t i = 0; i < length; ++i) {
    mixed = (mixed ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
  }
  return (uint32_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 33) & (kNameSlots - 1);
}

static int is_name(uint32_t at, const char* name, uint64_t length) {
  return strncmp(file->names + at, name, length) == 0 && file->names[at + length] == '\0';
}

static uint32_t add_name(const char* name, uint64_t length) {
  lock();
  uint32_t slot = hash_name(name, length);
  uint32_t found = 0;
  for (uint32_t tries = 0; tries < kNameSlots; ++tries, slot = (slot + 1) & (kNameSlots - 1)) {
    if (names[slot] != 0) {
      if (!is_name(names[slot], name, length)) continue;
      found = names[slot];
      break;
    }
    if (length + 1 > CULPRIT_NAMES_BYTES - file->names_used) break;
    found = (uint32_t)file->names_used;
    memcpy(file->names + found, name, length);
    file->names_used += length + 1;
    __atomic_store_n(&names[slot], found, __ATOMIC_RELEASE);
    break;
  }
  if (found == 0) ++file->lost_paths;
  unlock();
  return found;
}

uint32_t paths_find_name(const char* name, uint64_t length) {
  if (name == NULL || paths_file() == NULL) return 0;
  if (length > CULPRIT_LONGEST_NAME) length = CULPRIT_LONGEST_NAME;
  const uint64_t shorter = strnlen(name, length);
  if (shorter == 0) return 0;
  uint32_t slot = hash_name(name, shorter);
  for (uint32_t tries = 0; tries < kNameSlots; ++tries, slot = (slot + 1) & (kNameSlots - 1)) {
    const uint32_t at = __atomic_load_n(&names[slot], __ATOMIC_ACQUIRE);
    if (at == 0) break;
    if (is_name(at, name, shorter)) return at;
  }
  return add_name(name, shorter);
}

void paths_set_end(uint32_t path, uint64_t address) {
  if (path == 0 || address == 0 || file->paths[path].end != 0) return;
  const int saved_errno = errno;
  lock();
  learn_address(address);
  file->paths[path].end = address;
  unlock();
  errno = saved_errno;
}

void paths_after_fork(void) {
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  struct culprit_region_paths* before = file;
  if (before == NULL) return;
  struct culprit_region_paths* made = make_file();
  if (made == NULL) {
    has_failed = 1;
  } else {
    made->flags = before->flags | CULPRIT_IS_FORKED;
    made->functions_seen = before->functions_seen;
    made->functions_refused = before->functions_refused;
    made->file_count = before->file_count;
    memcpy(made->files, before->files, sizeof made->files);
    memcpy(made->paths, before->paths, sizeof made->paths);
    memcpy(made->names, before->names, sizeof made->names);
    made->names_used = before->names_used;
    made->path_count = before->path_count;
  }
  file = made;
  munmap(before, sizeof *before);
}
