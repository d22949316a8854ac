#include "why/kernel_work.h"

#include <algorithm>

namespace culprit {
namespace {

constexpr std::string_view kNewMemoryAdvice =
    "Use buffers again instead of allocating them anew. Where malloc and free of large blocks give "
    "memory back and take it again, glibc keeps it with GLIBC_TUNABLES "
    "glibc.malloc.mmap_threshold and glibc.malloc.trim_threshold of 1073741824 (mallopt: "
    "M_MMAP_THRESHOLD, M_TRIM_THRESHOLD). What is really new takes up to 512 times fewer faults in "
    "huge pages (glibc.malloc.hugetlb=1, or madvise: MADV_HUGEPAGE).";

// The names are those of Linux 4.19 to 6.18.
constexpr KernelKind kKinds[] = {
    {"fresh_memory", "page faults: fresh memory",
     "The program touches memory for the first time: the kernel clears and maps it then, page by "
     "page.",
     kNewMemoryAdvice},
    {"mapped_files", "page faults: mapped files",
     "Pages of mapped files (programs and libraries, too) are mapped when they are first touched.",
     "MAP_POPULATE or madvise(MADV_POPULATE_READ) maps all at once; read() into a buffer that is "
     "used again takes no faults. Of programs that start often: fewer and smaller libraries."},
    {"copied_pages", "page faults: copies of pages",
     "Pages that a fork has shared, or of private mappings, are copied when they are written.",
     "posix_spawn or vfork instead of fork where exec follows; fork before memory is filled; do "
     "not write (reference counts, too) what only is to be read."},
    {"page_faults", "page faults", "The kernel maps pages when they are first touched.",
     "Touch less new memory: use buffers again, map files once."},
    {"memory_returned", "memory given back",
     "Memory is unmapped, page by page; what is allocated next has to be mapped and cleared again.",
     kNewMemoryAdvice},
    {"memory_mapping", "memory maps",
     "The program maps memory or files, or changes the rights of mappings.",
     "Map once and use it again; few large mappings instead of many small ones."},
    {"files", "reads and writes of files",
     "Bytes are copied between the program and the kernel's file cache.",
     "Larger blocks make fewer calls: a buffer of 64 KiB and more (setvbuf, BufferedReader). mmap "
     "instead of read, or copy_file_range and sendfile from file to file, do not copy at all. Do "
     "not write what is only read once and thrown away."},
    {"transfers", "reads and writes", "Bytes are copied between the program and the kernel.",
     "Larger blocks make fewer calls."},
    {"flushes", "flushes to the disk", "The program waits until its data are on the disk.",
     "One fsync for many changes (transactions, group commit); fdatasync where sizes stay."},
    {"file_names", "files found, opened, listed",
     "Names of files are looked up, or files opened, closed and asked about.",
     "Ask once and keep the answer; openat and fstatat relative to an open folder; the kind of an "
     "entry is in what readdir gives (d_type): stat is not needed for it."},
    {"pipes", "pipes", "Bytes go through a pipe, with a change of process for small ones.",
     "Read and write larger blocks: a program that must not read too far (a shell's read) asks a "
     "pipe for one byte at a time, a file for a block. F_SETPIPE_SZ makes the pipe larger; shared "
     "memory does not copy."},
    {"network", "sockets", "Bytes go through sockets.",
     "Fewer and larger messages: sendmmsg, recvmmsg, writev; one connection for many requests."},
    {"terminals", "terminals", "Output goes to a terminal, line by line or byte by byte.",
     "Print less, or into a file or a buffer (setvbuf)."},
    {"locks", "locks (futex)", "Threads wait for locks, or wake others up.",
     "Hold the lock for a shorter time, or divide what it protects; count per thread and add up at "
     "the end; signal a condition after the unlock. culprit record --off-cpu shows who waits."},
    {"processes", "processes begin and end",
     "Processes or threads are made, run another program or end.",
     "Keep processes and threads for further work (a pool); posix_spawn instead of fork; in shell "
     "loops the shell's own means instead of programs."},
    {"waiting", "waiting for events", "The program asks whether there is something to do.",
     "Wait for many at a time (epoll), for longer, and do all there is after each wait."},
    {"sleeping", "sleep", "Threads sleep for a time that they choose, and are woken by a timer.",
     "Wait for the event itself (a condition variable, poll) instead of looking again and again; "
     "sleep longer, and outside of locks."},
    {"yielding", "sched_yield", "A thread that has to wait gives its CPU away again and again.",
     "A mutex or a condition variable that sleeps; OMP_WAIT_POLICY=passive for OpenMP."},
    {"clocks", "clocks", "The program reads the clock by a system call.",
     "clock_gettime needs none where the kernel's clock source is the CPU's (tsc): "
     "/sys/devices/system/clocksource/clocksource0/current_clocksource. Ask for the time less "
     "often."},
    {"signals", "signals", "Signals are sent, handled or masked.",
     "Fewer timers and signals; sigsetjmp without saving the mask."},
    {"copying", "copying to and from the program",
     "The kernel copies bytes between its memory and the program's.",
     "Larger blocks make fewer calls; mmap instead of read does not copy."},
    {"calls", "entering and leaving the kernel", "Many system calls that do little each.",
     "Fewer calls that do more: buffers, readv and writev, io_uring."},
    {"interrupts", "interrupts", "Devices, timers and other CPUs interrupt the program.", ""},
    {"other", "other work of the kernel", "", ""},
};

struct Word {
  std::string_view text;
  std::string_view key;
};

const Word* find_word(const Word* first, const Word* last, std::string_view name, bool whole) {
  const auto found = std::find_if(first, last, [&](const Word& word) {
    return whole ? name == word.text : name.starts_with(word.text);
  });
  return found == last ? nullptr : found;
}

template <size_t size>
const Word* find_prefix(const Word (&words)[size], std::string_view name) {
  return find_word(words, words + size, name, false);
}

template <size_t size>
const Word* find_name(const Word (&words)[size], std::string_view name) {
  return find_word(words, words + size, name, true);
}

// The names of system calls, without what versions add (pread64, openat2, epoll_pwait2).
constexpr Word kCalls[] = {
    {"readahead", "files"},
    {"readlink", "file_names"},
    {"read", "files"},
    {"pread", "files"},
    {"write", "files"},
    {"pwrite", "files"},
    {"sendfile", "files"},
    {"copy_file_range", "files"},
    {"splice", "pipes"},
    {"vmsplice", "pipes"},
    {"tee", "pipes"},
    {"lseek", "files"},
    {"ftruncate", "files"},
    {"truncate", "files"},
    {"fallocate", "files"},
    {"fadvise", "files"},
    {"fsync", "flushes"},
    {"fdatasync", "flushes"},
    {"sync", "flushes"},
    {"msync", "flushes"},
    {"open", "file_names"},
    {"close", "file_names"},
    {"newfstat", "file_names"},
    {"newstat", "file_names"},
    {"newlstat", "file_names"},
    {"stat", "file_names"},
    {"fstat", "file_names"},
    {"lstat", "file_names"},
    {"access", "file_names"},
    {"faccessat", "file_names"},
    {"getdents", "file_names"},
    {"getcwd", "file_names"},
    {"unlink", "file_names"},
    {"rename", "file_names"},
    {"mkdir", "file_names"},
    {"rmdir", "file_names"},
    {"fcntl", "file_names"},
    {"flock", "file_names"},
    {"chdir", "file_names"},
    {"fchdir", "file_names"},
    {"creat", "file_names"},
    {"link", "file_names"},
    {"symlink", "file_names"},
    {"munmap", "memory_returned"},
    {"madvise", "memory_returned"},
    {"brk", "memory_mapping"},
    {"mmap", "memory_mapping"},
    {"mprotect", "memory_mapping"},
    {"mremap", "memory_mapping"},
    {"mlock", "memory_mapping"},
    {"futex", "locks"},
    {"clone", "processes"},
    {"fork", "processes"},
    {"vfork", "processes"},
    {"exec", "processes"},
    {"exit", "processes"},
    {"wait4", "processes"},
    {"waitid", "processes"},
    {"poll", "waiting"},
    {"ppoll", "waiting"},
    {"select", "waiting"},
    {"pselect", "waiting"},
    {"epoll", "waiting"},
    {"nanosleep", "sleeping"},
    {"clock_nanosleep", "sleeping"},
    {"io_uring", "waiting"},
    {"pause", "waiting"},
    {"sched_yield", "yielding"},
    {"clock_gettime", "clocks"},
    {"gettimeofday", "clocks"},
    {"time", "clocks"},
    {"rt_sig", "signals"},
    {"kill", "signals"},
    {"tgkill", "signals"},
    {"sigaltstack", "signals"},
    {"send", "network"},
    {"recv", "network"},
    {"socket", "network"},
    {"accept", "network"},
    {"connect", "network"},
    {"bind", "network"},
    {"listen", "network"},
    {"shutdown", "network"},
    {"setsockopt", "network"},
    {"getsockopt", "network"},
    {"pipe", "pipes"},
};

// What architectures put before the name of a system call.
constexpr std::string_view kCallPrefixes[] = {
    "__x64_sys_",   "__arm64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__se_sys_", "__do_sys_",
    "__riscv_sys_", "__s390x_sys_", "ksys_",
};

// The compiler may have put the function of the system call into another one: these stay.
constexpr Word kInsideCalls[] = {
    {"do_sys_openat", "openat"}, {"do_filp_open", "openat"},  {"vfs_fstatat", "stat"},
    {"vfs_statx", "stat"},       {"do_statx", "stat"},        {"do_futex", "futex"},
    {"kernel_clone", "clone"},   {"do_execve", "execve"},     {"do_group_exit", "exit_group"},
    {"do_exit", "exit"},         {"kernel_wait4", "wait4"},   {"vm_mmap_pgoff", "mmap"},
    {"__vm_munmap", "munmap"},   {"do_readv", "readv"},       {"do_writev", "writev"},
    {"do_preadv", "preadv"},     {"do_pwritev", "pwritev"},   {"do_epoll_wait", "epoll_wait"},
    {"do_sys_poll", "poll"},     {"iterate_dir", "getdents"}, {"ret_from_fork", "clone"},
};

// Reads and writes are of what lies below them.
constexpr Word kBelowTransfers[] = {
    {"pipe_", "pipes"},       {"anon_pipe_", "pipes"}, {"sock_", "network"},
    {"tcp_", "network"},      {"udp_", "network"},     {"unix_stream_", "network"},
    {"tty_", "terminals"},    {"n_tty_", "terminals"}, {"eventfd_", "waiting"},
    {"signalfd_", "signals"}, {"timerfd_", "clocks"},
};

// Of a read or write without any other function below it, what it is of is not known.
constexpr std::string_view kOfAnyFile[] = {
    "vfs_read",     "vfs_write",   "new_sync_",     "rw_verify_area", "fdget",
    "__fdget",      "__fget",      "fput",          "security_",      "apparmor_",
    "aa_file_perm", "bpf_lsm_",    "fsnotify",      "__fsnotify",     "mutex_lock",
    "mutex_unlock", "import_ubuf", "do_syscall_64", "x64_sys_call",
};

constexpr Word kFaults[] = {
    {"exc_page_fault", "page fault"},       {"asm_exc_page_fault", "page fault"},
    {"do_user_addr_fault", "page fault"},   {"do_page_fault", "page fault"},
    {"do_translation_fault", "page fault"}, {"do_mem_abort", "page fault"},
    {"page_fault", "page fault"},           {"async_page_fault", "page fault"},
};

constexpr Word kBelowFaults[] = {
    {"do_anonymous_page", "fresh_memory"},  {"do_huge_pmd_anonymous", "fresh_memory"},
    {"__do_huge_pmd_anon", "fresh_memory"}, {"vma_alloc_anon", "fresh_memory"},
    {"alloc_anon_folio", "fresh_memory"},   {"clear_page", "fresh_memory"},
    {"clear_huge_page", "fresh_memory"},    {"folio_zero", "fresh_memory"},
    {"clear_subpage", "fresh_memory"},      {"do_wp_page", "copied_pages"},
    {"wp_page_copy", "copied_pages"},       {"do_cow_fault", "copied_pages"},
    {"copy_mc_", "copied_pages"},           {"do_read_fault", "mapped_files"},
    {"do_fault", "mapped_files"},           {"do_shared_fault", "mapped_files"},
    {"__do_fault", "mapped_files"},         {"filemap_", "mapped_files"},
    {"do_swap_page", "page_faults"},
};

constexpr Word kInterrupts[] = {
    {"asm_sysvec_", "interrupts"},
    {"sysvec_", "interrupts"},
    {"asm_common_interrupt", "interrupts"},
    {"common_interrupt", "interrupts"},
    {"apic_timer_interrupt", "interrupts"},
    {"el0_interrupt", "interrupts"},
    {"el1_interrupt", "interrupts"},
    {"el0t_64_irq", "interrupts"},
    {"el1h_64_irq", "interrupts"},
    {"__irqentry_text", "interrupts"},
    {"irq_exit", "interrupts"},
    {"handle_softirqs", "interrupts"},
    {"__do_softirq", "interrupts"},
};

// A heap that shrinks gives memory back.
constexpr Word kBelowBrk[] = {
    {"do_brk_munmap", "memory_returned"},    {"do_vmi_", "memory_returned"},
    {"do_mas_", "memory_returned"},          {"__do_munmap", "memory_returned"},
    {"unmap_region", "memory_returned"},     {"unmap_vmas", "memory_returned"},
    {"unmap_page_range", "memory_returned"},
};

constexpr std::string_view kFileCache[] = {
    "filemap_",           "find_get_",    "folio_",      "xas_",           "xa_",
    "mark_page_accessed", "pagecache_",   "grab_cache_", "ext4_da_write_", "ext4_block_write",
    "block_write_",       "iomap_write_", "iomap_iter",  "balance_dirty_", "generic_write_end",
};

// What the innermost function tells, or the first above it that tells anything, without a call.
constexpr Word kLeaves[] = {
    {"clear_page", "fresh_memory"},
    {"clear_huge_page", "fresh_memory"},
    {"clear_subpage", "fresh_memory"},
    {"do_anonymous_page", "fresh_memory"},
    {"handle_mm_fault", "page_faults"},
    {"__handle_mm_fault", "page_faults"},
    {"lock_vma_under_rcu", "page_faults"},
    {"filemap_map_pages", "mapped_files"},
    {"next_uptodate_", "mapped_files"},
    {"set_pte_range", "mapped_files"},
    {"wp_page_copy", "copied_pages"},
    {"copy_mc_", "copied_pages"},
    {"zap_", "memory_returned"},
    {"unmap_page_range", "memory_returned"},
    {"free_unref_", "memory_returned"},
    {"release_pages", "memory_returned"},
    {"folios_put", "memory_returned"},
    {"free_pages_and_swap", "memory_returned"},
    {"copy_user_", "copying"},
    {"_copy_to_iter", "copying"},
    {"_copy_from_iter", "copying"},
    {"copy_page_to_iter", "copying"},
    {"copy_page_from_iter", "copying"},
    {"__arch_copy_", "copying"},
    {"rep_movs_alternative", "copying"},
    {"memcpy_to_iter", "copying"},
    {"filemap_", "files"},
    {"generic_perform_write", "files"},
    {"generic_file_", "files"},
    {"ext4_", "files"},
    {"xfs_", "files"},
    {"btrfs_", "files"},
    {"shmem_", "files"},
    {"vfs_read", "files"},
    {"vfs_write", "files"},
    {"ksys_", "files"},
    {"link_path_walk", "file_names"},
    {"__d_lookup", "file_names"},
    {"lookup_fast", "file_names"},
    {"path_", "file_names"},
    {"do_filp_open", "file_names"},
    {"strncpy_from_user", "file_names"},
    {"getname", "file_names"},
    {"futex_", "locks"},
    {"do_futex", "locks"},
    {"__futex_", "locks"},
    {"copy_process", "processes"},
    {"copy_page_range", "processes"},
    {"copy_present_", "processes"},
    {"dup_mm", "processes"},
    {"do_exit", "processes"},
    {"begin_new_exec", "processes"},
    {"load_elf_binary", "processes"},
    {"pipe_", "pipes"},
    {"anon_pipe_", "pipes"},
    {"sock_", "network"},
    {"tcp_", "network"},
    {"udp_", "network"},
    {"skb_", "network"},
    {"entry_SYSCALL", "calls"},
    {"do_syscall_64", "calls"},
    {"syscall_", "calls"},
    {"x64_sys_call", "calls"},
    {"el0_svc", "calls"},
    {"exit_to_user_mode", "calls"},
    {"asm_sysvec_", "interrupts"},
    {"sysvec_", "interrupts"},
    {"handle_softirqs", "interrupts"},
    {"__do_softirq", "interrupts"},
};

/// "pread64" of "__x64_sys_pread64"; "" of other functions.
std::string_view find_call(std::string_view function) {
  for (const std::string_view prefix : kCallPrefixes) {
    if (function.starts_with(prefix)) return function.substr(prefix.size());
  }
  const Word* const inside = find_prefix(kInsideCalls, function);
  return inside == nullptr ? "" : inside->key;
}

using Names = std::vector<std::string_view>;

template <size_t size>
std::string_view find_below(const Word (&words)[size], const Names& functions, size_t end) {
  for (size_t i = 0; i < end; ++i) {
    if (const Word* const word = find_prefix(words, functions[i])) return word->key;
  }
  return "";
}

bool is_of_any_file(std::string_view call, const Names& functions, size_t end) {
  if (!call.starts_with("read") && !call.starts_with("write")) return false;
  return std::all_of(functions.begin(), functions.begin() + static_cast<ptrdiff_t>(end),
                     [](std::string_view function) {
                       return !find_call(function).empty() ||
                              std::ranges::any_of(kOfAnyFile, [&](std::string_view prefix) {
                                return function.starts_with(prefix);
                              });
                     });
}

/// `end`: the function of the call; those before it were called by it.
const KernelKind& kind_of_call(std::string_view call, const Names& functions, size_t end) {
  const Word* const known = find_prefix(kCalls, call);
  if (known == nullptr) return kernel_kind("other");
  if (call == "brk") {
    const std::string_view shrinks = find_below(kBelowBrk, functions, end);
    return kernel_kind(shrinks.empty() ? known->key : shrinks);
  }
  if (known->key != "files") return kernel_kind(known->key);
  const std::string_view below = find_below(kBelowTransfers, functions, end);
  if (!below.empty()) return kernel_kind(below);
  const bool is_vague = is_of_any_file(call, functions, end);
  return kernel_kind(is_vague ? "transfers" : known->key);
}

}  // namespace

const KernelKind& kernel_kind(std::string_view key) {
  const auto found =
      std::ranges::find_if(kKinds, [&](const KernelKind& kind) { return kind.key == key; });
  return found == std::end(kKinds) ? std::end(kKinds)[-1] : *found;
}

bool is_copying(std::string_view function) {
  const Word* const leaf = find_prefix(kLeaves, function);
  return leaf != nullptr && leaf->key == "copying";
}

bool is_of_file_cache(std::string_view function) {
  return std::ranges::any_of(kFileCache,
                             [&](std::string_view prefix) { return function.starts_with(prefix); });
}

KernelRequest find_kernel_request(const Names& functions) {
  for (size_t i = 0; i < functions.size(); ++i) {
    const std::string_view function = functions[i];
    if (find_name(kFaults, function) != nullptr) {
      const std::string_view below = find_below(kBelowFaults, functions, i);
      return {&kernel_kind(below.empty() ? "page_faults" : below), kPageFault};
    }
    if (find_prefix(kInterrupts, function) != nullptr) {
      return {&kernel_kind("interrupts"), kInterrupt};
    }
    const std::string_view call = find_call(function);
    if (!call.empty()) return {&kind_of_call(call, functions, i), call};
  }
  const std::string_view alone = find_below(kLeaves, functions, functions.size());
  return {&kernel_kind(alone.empty() ? "other" : alone), ""};
}

}  // namespace culprit
