// Stacks as Linux 6.18 has them (innermost first), and what the program did that they are of.

#include "why/kernel_work.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

using Names = std::vector<std::string_view>;

void expect_request(const Names& functions, std::string_view kind, std::string_view call) {
  const KernelRequest request = find_kernel_request(functions);
  EXPECT_EQ(request.kind->key, kind) << functions.front();
  EXPECT_EQ(request.call, call) << functions.front();
}

TEST(FindKernelRequest, NamesTheSystemCall) {
  expect_request(
      {"rep_movs_alternative", "_copy_to_iter", "copy_page_to_iter", "filemap_read", "vfs_read",
       "__x64_sys_pread64", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"},
      "files", "pread64");
  expect_request({"ext4_da_write_begin", "generic_perform_write", "ksys_write", "do_syscall_64"},
                 "files", "write");
  expect_request({"zap_present_ptes", "unmap_page_range", "__vm_munmap", "__arm64_sys_munmap"},
                 "memory_returned", "munmap");
  expect_request({"futex_wake", "do_futex", "__x64_sys_futex"}, "locks", "futex");
  expect_request(
      {"copy_present_ptes", "copy_page_range", "dup_mm", "kernel_clone", "__do_sys_clone"},
      "processes", "clone");
  expect_request(
      {"link_path_walk", "path_lookupat", "vfs_statx", "vfs_fstatat", "__do_sys_newfstatat"},
      "file_names", "stat");
}

// usleep is clock_nanosleep: no question of whether there is something to do.
TEST(FindKernelRequest, TellsSleepFromWaitingForEvents) {
  expect_request({"hrtimer_start_range_ns", "do_nanosleep", "hrtimer_nanosleep", "common_nsleep",
                  "__x64_sys_clock_nanosleep", "do_syscall_64"},
                 "sleeping", "clock_nanosleep");
  expect_request({"ep_poll", "do_epoll_wait", "__x64_sys_epoll_wait"}, "waiting", "epoll_wait");
}

TEST(FindKernelRequest, TellsPipesAndSocketsFromFilesByWhatLiesBelow) {
  expect_request({"_copy_to_iter", "anon_pipe_read", "vfs_read", "ksys_read"}, "pipes", "read");
  expect_request(
      {"tcp_sendmsg_locked", "tcp_sendmsg", "sock_write_iter", "vfs_write", "ksys_write"},
      "network", "write");
}

TEST(FindKernelRequest, TellsFaultsByTheirMemory) {
  expect_request({"clear_page_erms", "get_page_from_freelist", "vma_alloc_anon_folio_noprof",
                  "do_anonymous_page", "__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault",
                  "exc_page_fault", "asm_exc_page_fault"},
                 "fresh_memory", "page fault");
  expect_request({"next_uptodate_folio", "filemap_map_pages", "do_fault", "__handle_mm_fault",
                  "exc_page_fault"},
                 "mapped_files", "page fault");
  expect_request({"copy_mc_enhanced_fast_string", "wp_page_copy", "exc_page_fault"}, "copied_pages",
                 "page fault");
  // A read into memory that nobody has touched: the fault is inside the call, and is what costs.
  expect_request({"clear_page_erms", "do_anonymous_page", "exc_page_fault", "asm_exc_page_fault",
                  "rep_movs_alternative", "filemap_read", "vfs_read", "ksys_read"},
                 "fresh_memory", "page fault");
}

// A read has not come to its file yet: stacks of Linux 6.12.
TEST(FindKernelRequest, DoesNotGuessWhatAReadIsOf) {
  expect_request({"rw_verify_area", "vfs_read", "ksys_read", "do_syscall_64"}, "transfers", "read");
  expect_request({"fdget_pos", "ksys_write"}, "transfers", "write");
  expect_request({"anon_pipe_read", "vfs_read", "ksys_read"}, "pipes", "read");
  expect_request({"write_null", "vfs_write", "ksys_write"}, "files", "write");
  expect_request({"fdget", "__x64_sys_lseek"}, "files", "lseek");
}

// A timer that came due while interrupts were off goes off where a paravirtual kernel permits them,
// on the way in: Linux 6.18.
TEST(FindKernelRequest, TellsTheWayInFromWhatIsCalledOnIt) {
  expect_request({"pvm_irq_enable", "__raw_callee_save_pvm_irq_enable", "do_syscall_64",
                  "entry_SYSCALL_64_after_hwframe"},
                 "calls", "");
  expect_request({"pvm_irq_enable", "__raw_callee_save_pvm_irq_enable", "exc_page_fault"},
                 "page_faults", "page fault");
  expect_request({"pvm_irq_enable"}, "other", "");
}

TEST(FindKernelRequest, TellsAHeapThatShrinksFromOneThatGrows) {
  expect_request({"unmap_vmas", "do_vmi_align_munmap", "do_vmi_munmap", "__do_sys_brk"},
                 "memory_returned", "brk");
  expect_request({"vma_expand", "do_brk_flags", "__do_sys_brk"}, "memory_mapping", "brk");
}

TEST(KernelFunctions, CopyBytesOrFindPages) {
  EXPECT_TRUE(is_copying("_copy_to_iter"));
  EXPECT_TRUE(is_copying("rep_movs_alternative"));
  EXPECT_FALSE(is_copying("vfs_read"));
  EXPECT_TRUE(is_of_file_cache("filemap_get_read_batch"));
  EXPECT_FALSE(is_of_file_cache("vfs_read"));
}

TEST(FindKernelRequest, DoesNotBlameTheProgramForInterrupts) {
  expect_request(
      {"update_process_times", "__sysvec_apic_timer_interrupt", "sysvec_apic_timer_interrupt",
       "asm_sysvec_apic_timer_interrupt", "vfs_read", "ksys_read"},
      "interrupts", "interrupt");
  EXPECT_TRUE(kernel_kind("interrupts").advice.empty());
}

TEST(FindKernelRequest, GuessesByTheInnermostFunctionWhereThatIsAll) {
  expect_request({"clear_page_erms"}, "fresh_memory", "");
  expect_request({"entry_SYSCALL_64"}, "calls", "");
  expect_request({"rep_movs_alternative"}, "copying", "");
  expect_request({"native_queued_spin_lock_slowpath"}, "other", "");
  EXPECT_EQ(find_kernel_request({}).kind->key, "other");
}

TEST(KernelKind, OfUnknownKeysIsOther) {
  EXPECT_EQ(kernel_kind("no such kind").key, "other");
  EXPECT_EQ(kernel_kind("files").title, "reads and writes of files");
}

}  // namespace
}  // namespace culprit
