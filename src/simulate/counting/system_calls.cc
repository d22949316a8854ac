#include "simulate/counting/system_calls.h"

#include <fcntl.h>

#include "base/file.h"

namespace culprit::counting {

SystemCalls::SystemCalls(std::string_view architecture) {
  // Linux' numbers for x86-64, and the generic ones.
  const bool is_x86 = architecture == "x86_64";
  constexpr int64_t kNone = -1;
  numbers_ = is_x86 ? Numbers{9, 11, 25, 28, 59, 322, 231, 60, 202, 56, 157, 12, 158}
                    : Numbers{222, 215, 216, 233, 221, 281, 94, 93, 98, 220, 167, 214, kNone};
  clone_pointer_ = is_x86 ? 4 : 3;
  const Result<std::string> pages = read_file("/sys/kernel/mm/transparent_hugepage/enabled", 4096);
  maps_huge_pages_ = pages && pages->find("[always]") != std::string::npos;
}

AnnouncedCall SystemCalls::announce(const SystemCall& call, uint64_t base) const {
  // What QEMU makes of it: a vfork is a fork, and there is no clone3.
  constexpr uint64_t kSharesMemory = 0x100;  // CLONE_VM
  constexpr uint64_t kVfork = 0x4000;        // CLONE_VFORK
  const uint64_t first = call.arguments[0];
  const bool shares = (first & kSharesMemory) != 0 && (first & kVfork) == 0;
  return {.is_futex = call.number == numbers_.futex,
          .address = first + base,
          .ends_thread = ends_thread(call),
          .starts_thread = call.number == numbers_.clone && shares};
}

bool SystemCalls::ends_process(const SystemCall& call) const {
  return call.number == numbers_.exit_group;
}

std::optional<ExecCall> SystemCalls::find_exec(const SystemCall& call) const {
  const auto& arguments = call.arguments;
  if (call.number == numbers_.execve) {
    return ExecCall{true, arguments[0], arguments[1], arguments[2]};
  }
  if (call.number != numbers_.execveat) return std::nullopt;
  const bool is_by_path = static_cast<int>(arguments[0]) == AT_FDCWD && arguments[4] == 0;
  return ExecCall{is_by_path, arguments[1], arguments[2], arguments[3]};
}

/// The pages that the kernel would take natively; the engine's own mapping of them does not matter.
uint64_t SystemCalls::huge_mapping_bytes(const SystemCall& call) const {
  constexpr uint64_t kAnonymous = 0x20;   // MAP_ANONYMOUS
  constexpr uint64_t kHugeTlb = 0x40000;  // MAP_HUGETLB
  if (call.number != numbers_.mmap) return 0;
  const uint64_t flags = call.arguments[3];
  const bool is_huge = (flags & kHugeTlb) != 0 || (maps_huge_pages_ && (flags & kAnonymous) != 0);
  return is_huge ? call.arguments[1] : 0;
}

/// aarch64 sets the first thread's by an instruction, which is not seen.
std::optional<uint64_t> SystemCalls::find_thread_pointer(const SystemCall& call) const {
  constexpr uint64_t kSetPointer = 0x1002;   // ARCH_SET_FS
  constexpr uint64_t kNewPointer = 0x80000;  // CLONE_SETTLS
  const auto& arguments = call.arguments;
  if (call.number == numbers_.arch_prctl && arguments[0] == kSetPointer) return arguments[1];
  if (call.number == numbers_.clone && (arguments[0] & kNewPointer) != 0) {
    return arguments[clone_pointer_];
  }
  return std::nullopt;
}

std::optional<SystemCalls::PageSize> SystemCalls::find_page_size(const SystemCall& call) const {
  constexpr uint64_t kHuge = 14;    // MADV_HUGEPAGE
  constexpr uint64_t kNoHuge = 15;  // MADV_NOHUGEPAGE
  const MemoryRange range{call.arguments[0], call.arguments[0] + call.arguments[1]};
  const bool is_madvise = call.number == numbers_.madvise;
  if (call.number == numbers_.munmap || (is_madvise && call.arguments[2] == kNoHuge)) {
    return PageSize{range, false};
  }
  if (is_madvise && call.arguments[2] == kHuge) return PageSize{range, true};
  return std::nullopt;
}

}  // namespace culprit::counting
