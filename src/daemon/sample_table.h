#pragma once

// What the BPF program and its reader share: how samples are counted in the kernel. Plain C.
//
// A sample is a key of 96 bits (place, who) with a count of 32: 16 bytes. Four of them are a
// bucket, which is one line of the cache. A hit moves to the front of its bucket; a key that is
// not there takes the front, and the last of four goes to the overflow:
//
//     place ──hash──→ bucket  [ newest | . | . | oldest ] ──evicted──→ overflow [ ... ]
//
// A place says which event it was a sample of, too: time is event 0.
//
// Each CPU has two such sets: one is counted into while the other is read. Nothing here locks:
// only the CPU that owns a set writes it, and the reader waits for that CPU's last handler.

#include <linux/types.h>

enum {
  SAMPLE_WAYS = 4,
  SAMPLE_BUCKETS = 4096,
  SAMPLE_OVERFLOW = 8192,
  SAMPLE_EVENTS = 16,
};

// What a place is, in its bits 58 and 59.
enum place_kind {
  PLACE_FILE = 0,     // image (18 bits), offset in its file (38 bits)
  PLACE_KERNEL = 1,   // an address of the kernel (its low 56 bits)
  PLACE_PROCESS = 2,  // an address (56 bits) of the process that `who` is: no file is behind it
  PLACE_UNKNOWN = 3,  // an address of the process that `who` is: what is there was not found out
};

enum {
  PLACE_OFFSET_BITS = 38,
  PLACE_IMAGE_BITS = 18,
  PLACE_ADDRESS_BITS = 56,
  PLACE_KIND_SHIFT = 58,
  PLACE_EVENT_SHIFT = 60,
};

// Images that are no files.
enum {
  IMAGE_NONE = 0,
  IMAGE_VDSO = 1,
  IMAGE_ANONYMOUS = 2,  // no file, or one that the host says has no code of its own
  IMAGE_FIRST_FILE = 3,
};

enum { EVENT_TIME = 0 };

struct sample_entry {
  __u64 place;          // its upper four bits: the event
  __u64 who_and_count;  // count in the low 32 bits; 0: the entry is free
};

// What one CPU did since its set was last emptied.
struct sample_counters {
  __u64 handled;  // calls of the program: all that follows adds up to it
  __u64 idle;
  __u64 hits;
  __u64 misses;
  __u64 lost;  // of `hits` and `misses`: samples whose entry was evicted and found no room

  __u64 evicted;  // entries in the overflow, lost ones included
  __u64 range_hits;
  __u64 range_searches;   // user samples that needed the kernel's list of mappings
  __u64 range_refusals;   // of those: its lock was needed, and taken
  __u64 records_refused;  // names of images or tasks that found no room in their ring
  __u64 timed;            // calls whose time was taken
  __u64 timed_ns;
  __u64 timed_misses;  // of those calls: whose entry was new in the table
  __u64 timed_misses_ns;
  __u64 timed_searches;  // of those calls: that needed the list of mappings, new entry or not
  __u64 timed_searches_ns;
  // 128 bytes: what follows begins a line of the cache.
  __u64 event_handled[SAMPLE_EVENTS];  // `handled`, by event
};

struct sample_set {
  struct sample_counters counters;
  struct sample_entry buckets[SAMPLE_BUCKETS][SAMPLE_WAYS];
  struct sample_entry overflow[SAMPLE_OVERFLOW];
  __u64 overflow_used;
  __u64 padding[7];
};

static inline __u64 pack_file_place(__u32 image, __u64 offset) {
  return ((__u64)PLACE_FILE << PLACE_KIND_SHIFT) |
         ((__u64)(image & ((1u << PLACE_IMAGE_BITS) - 1)) << PLACE_OFFSET_BITS) |
         (offset & (((__u64)1 << PLACE_OFFSET_BITS) - 1));
}

static inline __u64 pack_address_place(enum place_kind kind, __u64 address) {
  return ((__u64)kind << PLACE_KIND_SHIFT) | (address & (((__u64)1 << PLACE_ADDRESS_BITS) - 1));
}

static inline __u64 with_event(__u64 place, __u32 event) {
  return place | ((__u64)event << PLACE_EVENT_SHIFT);
}
static inline __u32 place_event(__u64 place) {
  return (__u32)(place >> PLACE_EVENT_SHIFT);
}

static inline enum place_kind place_kind_of(__u64 place) {
  return (enum place_kind)((place >> PLACE_KIND_SHIFT) & 3);
}
static inline __u32 place_image(__u64 place) {
  return (__u32)(place >> PLACE_OFFSET_BITS) & ((1u << PLACE_IMAGE_BITS) - 1);
}
static inline __u64 place_offset(__u64 place) {
  return place & (((__u64)1 << PLACE_OFFSET_BITS) - 1);
}
// The kernel's addresses have all upper bits set.
static inline __u64 place_address(__u64 place) {
  const __u64 low = place & (((__u64)1 << PLACE_ADDRESS_BITS) - 1);
  return place_kind_of(place) == PLACE_KERNEL ? low | ((__u64)0xff << PLACE_ADDRESS_BITS) : low;
}

static inline __u32 entry_count(const struct sample_entry* entry) {
  return (__u32)entry->who_and_count;
}
static inline __u32 entry_who(const struct sample_entry* entry) {
  return (__u32)(entry->who_and_count >> 32);
}

static inline void evict_entry(struct sample_set* set, const struct sample_entry* entry) {
  __u64 at = set->overflow_used;
  ++set->counters.evicted;
  if (at < SAMPLE_OVERFLOW) {
    // What the comparison says, the verifier of kernels like 6.1 forgets where the compiler keeps a
    // copy of `at`. The empty instruction makes the compiler forget it, too, and keep the mask.
    __asm__ volatile("" : "+r"(at));
    set->overflow[at & (SAMPLE_OVERFLOW - 1)] = *entry;
    set->overflow_used = at + 1;
  } else {
    set->counters.lost += entry_count(entry);
  }
}

static inline void count_sample(struct sample_set* set, __u64 place, __u32 who) {
  // Multiplication spreads neighbouring offsets over the buckets (Fibonacci hashing).
  const __u64 hash = (place ^ ((__u64)who << 17)) * 0x9e3779b97f4a7c15ull;
  struct sample_entry* ways = set->buckets[(hash >> 40) & (SAMPLE_BUCKETS - 1)];
  struct sample_entry found = {place, (__u64)who << 32};
  const struct sample_entry first = ways[0];
  const struct sample_entry second = ways[1];
  const struct sample_entry third = ways[2];
  const struct sample_entry last = ways[3];
#define CULPRIT_IS_KEY(entry) \
  ((entry).place == place && entry_count(&(entry)) != 0 && entry_who(&(entry)) == who)
  if (CULPRIT_IS_KEY(first)) {
    ++set->counters.hits;
    ways[0].who_and_count = first.who_and_count + 1;
    return;
  }
  if (CULPRIT_IS_KEY(second)) {
    found = second;
    ++set->counters.hits;
  } else if (CULPRIT_IS_KEY(third)) {
    found = third;
    ++set->counters.hits;
    ways[2] = second;
  } else {
    if (CULPRIT_IS_KEY(last)) {
      found = last;
      ++set->counters.hits;
    } else {
      ++set->counters.misses;
      if (entry_count(&last) != 0) evict_entry(set, &last);
    }
    ways[3] = third;
    ways[2] = second;
  }
#undef CULPRIT_IS_KEY
  ways[1] = first;
  ++found.who_and_count;
  ways[0] = found;
}

// ---- What the program tells beside counts, in a ring. ----

enum { TASK_NAME_BYTES = 16, PATH_PARTS = 24, PATH_PART_BYTES = 64 };

enum ring_record_kind { RECORD_IMAGE = 1, RECORD_WHO = 2 };

// Who a sample is of: a command in a cgroup, or (for addresses without a file, or where that is
// wanted) one process.
struct who_key {
  __u64 cgroup;
  char name[TASK_NAME_BYTES];  // of the thread group's leader
  __u64 start_ns;              // CLOCK_BOOTTIME; 0 and no pid: any process of that name
  __u32 pid;
  __u32 execs;
  __u32 has_own_code;  // the sample's address has no file
  __u32 padding;
};

struct who_record {
  __u32 kind;
  __u32 id;
  struct who_key key;
};

struct image_key {
  __u64 inode;
  __u32 device;  // as the kernel has it: 12 bits of major number, 20 of minor
  __u32 generation;
};

struct image_record {
  __u32 kind;
  __u32 id;
  struct image_key key;
  __u64 start;  // of the mapping in which it was first seen
  __u64 end;
  __u64 file_offset;  // of `start`
  __u64 process_start_ns;
  __u32 pid;
  __u32 is_deleted;
  __u32 parts;  // of the path, the file's own name first; the root's is left out
  __u32 is_cut;
  char path[PATH_PARTS][PATH_PART_BYTES];
};

// Tells the ring what to hold: nothing else is shared by name.
enum {
  MOST_IMAGES = 16384,
  MOST_WHOS = 16384,
  NAME_RING_BYTES = 1 << 20,
};
