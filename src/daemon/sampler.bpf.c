// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR GPL-2.0-or-later
//
// The part of the daemon that runs in the kernel: one straight program that counts each sample in
// a table of its CPU (sample_table.h). It walks no stack and reads no user memory.
//
// Where a user address belongs is looked up in the kernel's tree of mappings and remembered by CPU:
// 64 slots of processes, 8 ranges each. A slot is valid while its process (start, number of execs)
// and the size of its executable mappings are what they were. The tree is read as it is, and what
// was found holds if nobody could have changed it meanwhile (mm_lock_seq). Where that is not so, or
// the tree is not one that we know, bpf_find_vma takes its lock, which costs many times as much: it
// sends the CPU an interrupt to give the lock back.
//
// The structs below are declared with the fields that are used; libbpf relocates them by name to
// those of the running kernel.

// clang-format off: the order matters
#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
// clang-format on

#include "daemon/sample_table.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qstr {
  const unsigned char* name;
};
struct super_block {
  __u32 s_dev;
};
struct inode {
  unsigned long i_ino;
  __u32 i_generation;
  unsigned int i_nlink;
  struct super_block* i_sb;
};
struct dentry {
  struct dentry* d_parent;
  struct qstr d_name;
};
struct vfsmount {
  struct dentry* mnt_root;
};
struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
};
struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
};
struct file {
  struct path f_path;
  struct inode* f_inode;
};
typedef struct {
  void* vdso;
} mm_context_t;
struct maple_tree {
  void* ma_root;
};
struct maple_range_64 {
  unsigned long pivot[15];
  void* slot[16];
};
struct maple_arange_64 {
  unsigned long pivot[9];
  void* slot[10];
};
struct seqcount {
  unsigned int sequence;  // odd: somebody may change mappings
};
struct mm_struct {
  struct maple_tree mm_mt;
  struct seqcount mm_lock_seq;
  unsigned long exec_vm;
  mm_context_t context;
};
struct vm_area_struct {
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned long vm_pgoff;
  struct file* vm_file;
};
struct task_struct {
  int pid;
  int tgid;
  struct task_struct* group_leader;
  struct mm_struct* mm;
  __u64 start_boottime;
  __u64 self_exec_id;
  char comm[TASK_NAME_BYTES];
};
#pragma clang attribute pop

// Kinds of nodes in the tree of mappings.
enum maple_type { maple_dense, maple_leaf_64, maple_range_64, maple_arange_64 };

enum { SLOTS = 64, RANGES = 8, PAGE_SHIFT = 12, NOT_THERE = -2 };

struct range {
  __u64 start;
  __u64 end;
  __u64 delta;  // file offset - address
  __u32 image;
  __u32 padding;
};

struct slot {
  __u64 start_ns;
  __u64 exec_pages;
  __u64 name[2];
  __u32 pid;
  __u32 execs;
  __u32 generation;
  __u32 who;
  __u32 process;  // `who` of this one process; 0: not asked for yet
  __u32 next;
  __u64 unlocked;  // twice the searches without the lock; its changes are barriers
  struct range ranges[RANGES];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 2);  // two for each CPU: set before loading
  __type(key, __u32);
  __type(value, struct sample_set);
} sets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SLOTS);
  __type(key, __u32);
  __type(value, struct slot);
} slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MOST_IMAGES);
  __type(key, struct image_key);
  __type(value, __u32);
} images SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, MOST_WHOS);
  __type(key, struct who_key);
  __type(value, __u32);
} whos SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, NAME_RING_BYTES);
} names SEC(".maps");

// Written by the host before it loads the program: whether each process is a `who` of its own.
const volatile __u32 by_process = 0;
// Written by the host: which of its two sets each CPU counts into, and what invalidates all slots.
volatile __u32 active_set = 0;
volatile __u32 generation = 0;
// Numbers given out; they go round after 2^18 and 2^32.
__u32 next_image = IMAGE_FIRST_FILE;
__u32 next_who = 1;

static __always_inline void note_refused(struct sample_set* set) {
  ++set->counters.records_refused;
}

/// The number of `key`, which is told to the host when it is new. 0: there is no room.
static __always_inline __u32 intern_who(const struct who_key* key, struct sample_set* set) {
  const __u32* known = bpf_map_lookup_elem(&whos, key);
  if (known) return *known;
  struct who_record* record = bpf_ringbuf_reserve(&names, sizeof *record, 0);
  if (!record) {
    note_refused(set);
    return 0;
  }
  __u32 id = __sync_fetch_and_add(&next_who, 1);
  if (id == 0) id = __sync_fetch_and_add(&next_who, 1);
  record->kind = RECORD_WHO;
  record->id = id;
  record->key = *key;
  const long failed = bpf_map_update_elem(&whos, key, &id, BPF_NOEXIST);
  if (failed) {
    // Another CPU was faster, or the map is full.
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    known = bpf_map_lookup_elem(&whos, key);
    if (known) return *known;
    note_refused(set);
    return 0;
  }
  // A process with code of its own making is looked at while it lives.
  bpf_ringbuf_submit(record, key->has_own_code ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
  return id;
}

/// Who a task is to reports: its leader's name and its cgroup, and which process where that is
/// wanted.
static __always_inline void make_who_key(const struct slot* slot, struct task_struct* leader,
                                         __u32 is_one_process, struct who_key* key) {
  __builtin_memset(key, 0, sizeof *key);
  key->cgroup = bpf_get_current_cgroup_id();
  bpf_core_read_str(key->name, sizeof key->name, &leader->comm);
  if (!is_one_process) return;
  key->start_ns = slot->start_ns;
  key->pid = slot->pid;
  key->execs = slot->execs;
}

/// The names from the file to the root of the mount tree.
static __always_inline void describe_path(struct file* file, struct image_record* record) {
  struct dentry* at = BPF_CORE_READ(file, f_path.dentry);
  struct vfsmount* vfs = BPF_CORE_READ(file, f_path.mnt);
  struct mount* mount =
      (struct mount*)((char*)vfs - bpf_core_field_offset(((struct mount*)0)->mnt));
  // It is in memory, where the verifier does not follow its value: it would try each one.
  volatile __u32* parts = &record->parts;
  *parts = 0;
  record->is_cut = 1;
  for (int step = 0; step < 2 * PATH_PARTS; ++step) {
    struct dentry* root = BPF_CORE_READ(mount, mnt.mnt_root);
    struct dentry* parent = BPF_CORE_READ(at, d_parent);
    if (at == root || at == parent) {
      struct mount* above = BPF_CORE_READ(mount, mnt_parent);
      if (above == mount || !above) {
        record->is_cut = 0;
        break;
      }
      at = BPF_CORE_READ(mount, mnt_mountpoint);
      mount = above;
      continue;
    }
    const __u32 part = *parts;
    if (part >= PATH_PARTS) break;
    bpf_probe_read_kernel_str(record->path[part], PATH_PART_BYTES, BPF_CORE_READ(at, d_name.name));
    *parts = part + 1;
    at = parent;
  }
}

/// The number of the mapped file, which is described to the host when it is new. 0: no room.
static __always_inline __u32 intern_image(struct task_struct* task, struct vm_area_struct* vma,
                                          struct file* file, struct sample_set* set) {
  struct inode* inode = BPF_CORE_READ(file, f_inode);
  struct image_key key = {};
  key.inode = BPF_CORE_READ(inode, i_ino);
  key.device = BPF_CORE_READ(inode, i_sb, s_dev);
  key.generation = BPF_CORE_READ(inode, i_generation);
  const __u32* known = bpf_map_lookup_elem(&images, &key);
  if (known) return *known;
  struct image_record* record = bpf_ringbuf_reserve(&names, sizeof *record, 0);
  if (!record) {
    note_refused(set);
    return IMAGE_NONE;
  }
  // Numbers go round long before any is still in use (the host forgets old ones in time).
  __u32 id = __sync_fetch_and_add(&next_image, 1) & ((1u << PLACE_IMAGE_BITS) - 1);
  if (id < IMAGE_FIRST_FILE) id += IMAGE_FIRST_FILE;
  record->kind = RECORD_IMAGE;
  record->id = id;
  record->key = key;
  record->start = BPF_CORE_READ(vma, vm_start);
  record->end = BPF_CORE_READ(vma, vm_end);
  record->file_offset = (__u64)BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT;
  record->process_start_ns = BPF_CORE_READ(task, group_leader, start_boottime);
  record->pid = task->tgid;
  record->is_deleted = BPF_CORE_READ(inode, i_nlink) == 0;
  describe_path(file, record);
  if (bpf_map_update_elem(&images, &key, &id, BPF_NOEXIST)) {
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    known = bpf_map_lookup_elem(&images, &key);
    if (known) return *known;
    note_refused(set);
    return IMAGE_NONE;
  }
  // The host opens the file while its process lives.
  bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
  return id;
}

struct search {
  struct sample_set* set;
  struct range found;
  __u32 is_known;
};

static long describe_range(struct task_struct* task, struct vm_area_struct* vma,
                           struct search* search) {
  const __u64 start = BPF_CORE_READ(vma, vm_start);
  struct file* file = BPF_CORE_READ(vma, vm_file);
  search->found.start = start;
  search->found.end = BPF_CORE_READ(vma, vm_end);
  search->found.image = IMAGE_ANONYMOUS;
  search->found.delta = 0;
  search->is_known = 1;
  if (file) {
    search->found.delta = ((__u64)BPF_CORE_READ(vma, vm_pgoff) << PAGE_SHIFT) - start;
    search->found.image = intern_image(task, vma, file, search->set);
    search->is_known = search->found.image != IMAGE_NONE;
  } else if (bpf_core_field_exists(((struct mm_struct*)0)->context.vdso) &&
             (__u64)BPF_CORE_READ(task, mm, context.vdso) == start) {
    search->found.image = IMAGE_VDSO;
    search->found.delta = -start;
  }
  return 0;
}

enum { RANGE_PIVOTS = 15, ARANGE_PIVOTS = 9, MOST_LEVELS = 5 };

/// Whether this kernel keeps mappings in the tree that find_in_tree() knows, with a number of its
/// changes.
static __always_inline int knows_tree(void) {
  return bpf_core_field_exists(((struct mm_struct*)0)->mm_lock_seq.sequence) &&
         bpf_core_field_exists(((struct mm_struct*)0)->mm_mt.ma_root) &&
         bpf_core_field_size(((struct maple_range_64*)0)->pivot) == RANGE_PIVOTS * sizeof(__u64) &&
         bpf_core_field_size(((struct maple_arange_64*)0)->pivot) == ARANGE_PIVOTS * sizeof(__u64);
}

/// The mapping of `address` in the tree of the kernel's lib/maple_tree.c. A node's kind is in bits
/// 3 to 6 of its address; slot i has what is above pivot i - 1, up to pivot i. Null: there is none,
/// or the tree is of another form.
static __always_inline struct vm_area_struct* find_in_tree(struct mm_struct* mm, __u64 address) {
  __u64 entry = (__u64)BPF_CORE_READ(mm, mm_mt.ma_root);
  if ((entry & 3) != 2) return 0;  // no node, but a single mapping or none
  for (int level = 0; level < MOST_LEVELS; ++level) {
    const __u64 node = entry & ~255ull;
    const __u64 kind = (entry >> 3) & 15;
    const int is_leaf = kind == bpf_core_enum_value(enum maple_type, maple_leaf_64);
    const int is_arange = kind == bpf_core_enum_value(enum maple_type, maple_arange_64);
    const int is_range = kind == bpf_core_enum_value(enum maple_type, maple_range_64);
    if (!(is_leaf || is_arange || is_range)) return 0;
    // A node of the other kind has fewer: what was read beyond them is not looked at.
    __u64 pivots[RANGE_PIVOTS] = {};
    __u64 pivots_at = bpf_core_field_offset(((struct maple_range_64*)0)->pivot);
    __u64 slots_at = bpf_core_field_offset(((struct maple_range_64*)0)->slot);
    if (is_arange) {
      pivots_at = bpf_core_field_offset(((struct maple_arange_64*)0)->pivot);
      slots_at = bpf_core_field_offset(((struct maple_arange_64*)0)->slot);
    }
    bpf_probe_read_kernel(pivots, sizeof pivots, (void*)(node + pivots_at));
    if (is_arange) pivots[ARANGE_PIVOTS] = ~0ull;
    __u64 slot = 0;
    __u64 is_above = 1;
#pragma unroll
    for (int i = 0; i < RANGE_PIVOTS; ++i) {
      is_above &= pivots[i] < address;
      slot += is_above;
    }
    if (bpf_probe_read_kernel(&entry, sizeof entry,
                              (void*)(node + slots_at + slot * sizeof entry)) != 0) {
      return 0;
    }
    if (is_leaf) return (struct vm_area_struct*)entry;
  }
  return 0;
}

/// Describes the range of `address` without the lock of its mappings. 0: somebody may have changed
/// them, or there is no such range.
static __always_inline int describe_unlocked(struct task_struct* task, __u64 address,
                                             struct slot* slot, struct search* search) {
  if (!knows_tree()) return 0;
  struct mm_struct* mm = task->mm;
  if (!mm) return 0;
  const __u32 before = BPF_CORE_READ(mm, mm_lock_seq.sequence);
  if (before & 1) return 0;
  // An atomic operation that returns a value is a full barrier.
  __sync_fetch_and_add(&slot->unlocked, 1);
  struct vm_area_struct* vma = find_in_tree(mm, address);
  if (!vma) return 0;
  describe_range(task, vma, search);
  __sync_fetch_and_add(&slot->unlocked, 1);
  return search->is_known && search->found.start <= address && address < search->found.end &&
         BPF_CORE_READ(mm, mm_lock_seq.sequence) == before;
}

/// Brings the slot of a process up to date; what it knew of another is forgotten.
static __always_inline void validate_slot(struct slot* slot, struct task_struct* leader,
                                          __u64 exec_pages, struct sample_set* set) {
  const __u64 start_ns = leader->start_boottime;
  const __u32 execs = (__u32)leader->self_exec_id;
  const __u32 pid = (__u32)leader->tgid;
  __u64 name[2];
  bpf_core_read(name, sizeof name, &leader->comm);
  const int is_same = slot->start_ns == start_ns && slot->pid == pid && slot->execs == execs &&
                      slot->generation == generation && slot->name[0] == name[0] &&
                      slot->name[1] == name[1];
  if (is_same && slot->exec_pages == exec_pages && slot->who != 0) return;
  for (int i = 0; i < RANGES; ++i) slot->ranges[i].end = 0;
  slot->exec_pages = exec_pages;
  slot->next = 0;
  if (is_same && slot->who != 0) return;
  slot->start_ns = start_ns;
  slot->execs = execs;
  slot->pid = pid;
  slot->generation = generation;
  slot->name[0] = name[0];
  slot->name[1] = name[1];
  slot->process = 0;
  struct who_key key;
  make_who_key(slot, leader, by_process, &key);
  slot->who = intern_who(&key, set);
}

/// `who` of this one process, which has code of its own.
static __always_inline __u32 intern_process(struct slot* slot, struct task_struct* leader,
                                            struct sample_set* set) {
  if (slot->process != 0) return slot->process;
  struct who_key key;
  make_who_key(slot, leader, 1, &key);
  key.has_own_code = 1;
  slot->process = intern_who(&key, set);
  return slot->process;
}

static __always_inline void count_in_range(struct sample_set* set, struct slot* slot,
                                           struct task_struct* leader, const struct range* range,
                                           __u64 address, __u32 event) {
  const int is_file = range->image != IMAGE_ANONYMOUS;
  const __u64 place = is_file ? pack_file_place(range->image, address + range->delta)
                              : pack_address_place(PLACE_PROCESS, address);
  count_sample(set, with_event(place, event),
               is_file ? slot->who : intern_process(slot, leader, set));
}

static __always_inline void count_user(struct sample_set* set, struct slot* slot,
                                       struct task_struct* task, struct task_struct* leader,
                                       __u64 address, __u32 event) {
  for (int i = 0; i < RANGES; ++i) {
    const struct range* range = &slot->ranges[i];
    if (address < range->start || address >= range->end) continue;
    ++set->counters.range_hits;
    count_in_range(set, slot, leader, range, address, event);
    return;
  }
  struct search search = {.set = set};
  ++set->counters.range_searches;
  long failed = 0;
  if (!describe_unlocked(task, address, slot, &search)) {
    search.is_known = 0;
    failed = bpf_find_vma(task, address, describe_range, &search, 0);
  }
  if (failed && failed != NOT_THERE) ++set->counters.range_refusals;
  if (failed || !search.is_known) {
    count_sample(set, with_event(pack_address_place(PLACE_UNKNOWN, address), event),
                 intern_process(slot, leader, set));
    return;
  }
  slot->ranges[slot->next % RANGES] = search.found;
  slot->next = (slot->next + 1) % RANGES;
  count_in_range(set, slot, leader, &search.found, address, event);
}

static __always_inline void handle(struct sample_set* set, struct bpf_perf_event_data* context,
                                   __u32 event) {
  struct task_struct* task = bpf_get_current_task_btf();
  if (task->pid == 0 && event == EVENT_TIME) {
    ++set->counters.idle;
    return;
  }
  struct task_struct* leader = task->group_leader;
  __u32 at = (__u32)leader->tgid % SLOTS;
  struct slot* slot = bpf_map_lookup_elem(&slots, &at);
  if (!slot) return;
  const __u64 address = PT_REGS_IP(&context->regs);
  validate_slot(slot, leader, task->mm ? task->mm->exec_vm : 0, set);
  if ((__s64)address < 0) {
    count_sample(set, with_event(pack_address_place(PLACE_KERNEL, address), event), slot->who);
  } else {
    count_user(set, slot, task, leader, address, event);
  }
}

enum { TIMED_ONE_IN = 64 };

/// Which event it is, its link says. While it runs, the kernel calls no other on this CPU.
SEC("perf_event")
int count_event(struct bpf_perf_event_data* context) {
  const __u32 event = (__u32)bpf_get_attach_cookie(context) & (SAMPLE_EVENTS - 1);
  const __u32 at = 2 * bpf_get_smp_processor_id() + (active_set & 1);
  struct sample_set* set = bpf_map_lookup_elem(&sets, &at);
  if (!set) return 0;
  const int is_timed = set->counters.handled % TIMED_ONE_IN == 0;
  const __u64 misses = set->counters.misses;
  const __u64 searches = set->counters.range_searches;
  const __u64 start_ns = is_timed ? bpf_ktime_get_ns() : 0;
  ++set->counters.handled;
  ++set->counters.event_handled[event];
  handle(set, context, event);
  if (is_timed) {
    const __u64 took_ns = bpf_ktime_get_ns() - start_ns;
    ++set->counters.timed;
    set->counters.timed_ns += took_ns;
    if (set->counters.range_searches != searches) {
      ++set->counters.timed_searches;
      set->counters.timed_searches_ns += took_ns;
    } else if (set->counters.misses != misses) {
      ++set->counters.timed_misses;
      set->counters.timed_misses_ns += took_ns;
    }
  }
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
