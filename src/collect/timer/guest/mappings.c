/* See mappings.h. Static buffers under a try-lock; no allocation. */
#define _GNU_SOURCE
#include "mappings.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "maps.h"
#include "record.h"

enum { kCapacity = 4096, kMinScanGapNs = 10000000 };

/* One reported mapping. start and end are read by other threads' handlers. */
struct reported {
  uint64_t start;
  uint64_t end;
  uint64_t offset;
  uint64_t inode;
  uint32_t major;
  uint32_t minor;
};

static struct reported table[kCapacity];
static uint32_t table_size;
static char busy;
static char is_void;
static uint64_t last_scan_ns;
static uint64_t main_stack_end;

int mappings_know(uint64_t address) {
  if (__atomic_load_n(&is_void, __ATOMIC_ACQUIRE)) return 0;
  const uint32_t size = __atomic_load_n(&table_size, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < size; ++i) {
    if (address >= __atomic_load_n(&table[i].start, __ATOMIC_RELAXED) &&
        address < __atomic_load_n(&table[i].end, __ATOMIC_RELAXED)) {
      return 1;
    }
  }
  return 0;
}

uint64_t mappings_main_stack_end(void) {
  return main_stack_end;
}

void mappings_invalidate(void) {
  __atomic_store_n(&is_void, 1, __ATOMIC_RELEASE);
}

void mappings_after_fork(void) {
  __atomic_clear(&busy, __ATOMIC_RELEASE);
  last_scan_ns = 0;
}

static int is_reported(const struct mapping* found) {
  for (uint32_t i = 0; i < table_size; ++i) {
    if (table[i].start == found->start && table[i].end == found->end &&
        table[i].offset == found->offset && table[i].inode == found->inode &&
        table[i].major == found->major && table[i].minor == found->minor) {
      return 1;
    }
  }
  return 0;
}

/* Puts it where something else was mapped before, or at the end. */
static void remember(const struct mapping* found) {
  uint32_t at = 0;
  while (at < table_size && (table[at].end <= found->start || table[at].start >= found->end)) ++at;
  if (at == kCapacity) return;
  table[at].offset = found->offset;
  table[at].inode = found->inode;
  table[at].major = found->major;
  table[at].minor = found->minor;
  __atomic_store_n(&table[at].start, found->start, __ATOMIC_RELAXED);
  __atomic_store_n(&table[at].end, found->end, __ATOMIC_RELAXED);
  if (at == table_size) __atomic_store_n(&table_size, at + 1, __ATOMIC_RELEASE);
}

static int report(struct culprit_ring* ring, uint64_t time_ns, const struct mapping* found) {
  const char* const path = found->name[0] == '\0' ? "//anon" : found->name; /* as perf has it */
  struct {
    struct perf_event_header header;
    uint32_t pid, tid;
    uint64_t address, length, offset;
    uint32_t major, minor;
    uint64_t inode, inode_generation;
    uint32_t protection, flags;
  } body;
  memset(&body, 0, sizeof body);
  body.header.type = PERF_RECORD_MMAP2;
  body.header.misc = PERF_RECORD_MISC_USER;
  body.pid = ring->pid;
  body.tid = ring->tid;
  body.address = found->start;
  body.length = found->end - found->start;
  body.offset = found->offset;
  body.major = found->major;
  body.minor = found->minor;
  body.inode = found->inode;
  body.protection = (found->rights[0] == 'r' ? PROT_READ : 0u) |
                    (found->rights[1] == 'w' ? PROT_WRITE : 0u) | PROT_EXEC;
  body.flags = found->rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  return record_write_named(ring, &body.header, sizeof body, path, time_ns);
}

/* A look at what is mapped. */
struct look {
  struct culprit_ring* ring;
  uint64_t time_ns;
};

static void take(const struct mapping* found, void* data) {
  const struct look* const look = data;
  if (strcmp(found->name, "[stack]") == 0) main_stack_end = found->end;
  if (found->rights[2] != 'x' || strcmp(found->name, "[vsyscall]") == 0) return;
  if (is_reported(found)) return;
  if (report(look->ring, look->time_ns, found)) remember(found);
}

void mappings_scan(struct culprit_ring* ring, uint64_t time_ns) {
  if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) return;
  if (last_scan_ns == 0 || time_ns - last_scan_ns >= kMinScanGapNs) {
    last_scan_ns = time_ns;
    if (__atomic_exchange_n(&is_void, 0, __ATOMIC_ACQ_REL)) {
      __atomic_store_n(&table_size, 0, __ATOMIC_RELEASE);
    }
    struct look look = {ring, time_ns};
    maps_read(take, &look);
  }
  __atomic_clear(&busy, __ATOMIC_RELEASE);
}
