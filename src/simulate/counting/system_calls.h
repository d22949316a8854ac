#pragma once

// System calls of the program, as far as counting has to know what they do: which of them change
// mappings or the size of pages, start and end threads, sleep on a futex, and run another program.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "simulate/turns/announced_call.h"

namespace culprit::counting {

struct SystemCall {
  int64_t number = 0;
  uint64_t arguments[6] = {};
};

/// Addresses of the program.
struct MemoryRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// A call that runs another program in this process.
struct ExecCall {
  bool is_by_path = false;  // else by a descriptor, or relative to one
  uint64_t path = 0;        // addresses of the program, of these three
  uint64_t arguments = 0;
  uint64_t environment = 0;
};

class SystemCalls {
 public:
  SystemCalls() = default;
  /// Knows the calls of programs for "x86_64" or "aarch64".
  explicit SystemCalls(std::string_view architecture);

  /// `base`: the program's addresses are shifted by so much in this process.
  [[nodiscard]] AnnouncedCall announce(const SystemCall& call, uint64_t base) const;
  [[nodiscard]] bool ends_process(const SystemCall& call) const;
  [[nodiscard]] bool ends_thread(const SystemCall& call) const {
    return call.number == numbers_.exit;
  }
  /// Whether the thread that made the call may have another name after it.
  [[nodiscard]] bool may_rename(int64_t number) const { return number == numbers_.prctl; }
  [[nodiscard]] bool is_exec(int64_t number) const {
    return number == numbers_.execve || number == numbers_.execveat;
  }
  [[nodiscard]] std::optional<ExecCall> find_exec(const SystemCall& call) const;

  /// Calls forget(MemoryRange) for what was mapped and is not, or by something else, after the
  /// call. (A new mapping elsewhere needs nothing: what was not mapped is not known either.)
  template <class Forget>
  void visit_mapping_changes(const SystemCall& call, Forget forget) const;

  /// Pages that are of another size after the call; nullopt: none.
  struct PageSize {
    MemoryRange range;
    bool is_huge = false;
  };
  [[nodiscard]] std::optional<PageSize> find_page_size(const SystemCall& call) const;
  /// The length of what an mmap maps by huge pages, wherever that will be; 0: by small ones, or it
  /// is no mmap.
  [[nodiscard]] uint64_t huge_mapping_bytes(const SystemCall& call) const;
  /// The thread pointer that the call gives to its thread, or to one that it starts; nullopt: none.
  [[nodiscard]] std::optional<uint64_t> find_thread_pointer(const SystemCall& call) const;
  [[nodiscard]] bool is_mmap(int64_t number) const { return number == numbers_.mmap; }
  [[nodiscard]] bool is_munmap(int64_t number) const { return number == numbers_.munmap; }
  [[nodiscard]] bool is_mremap(int64_t number) const { return number == numbers_.mremap; }
  [[nodiscard]] bool is_brk(int64_t number) const { return number == numbers_.brk; }

 private:
  struct Numbers {
    int64_t mmap, munmap, mremap, madvise, execve, execveat, exit_group, exit, futex, clone, prctl,
        brk, arch_prctl;
  };
  Numbers numbers_{};
  size_t clone_pointer_ = 0;      // which argument of clone is the thread pointer
  bool maps_huge_pages_ = false;  // the kernel does by itself, where they fit in
};

template <class Forget>
void SystemCalls::visit_mapping_changes(const SystemCall& call, Forget forget) const {
  constexpr uint64_t kFixed = 0x10;  // MAP_FIXED
  const auto& arguments = call.arguments;
  const bool is_fixed_mmap = call.number == numbers_.mmap && (arguments[3] & kFixed) != 0;
  if (call.number == numbers_.munmap || is_fixed_mmap) {
    forget(arguments[0], arguments[1]);
  } else if (call.number == numbers_.mremap) {
    forget(arguments[0], arguments[1] > arguments[2] ? arguments[1] : arguments[2]);
    forget(arguments[4], arguments[2]);
  }
}

}  // namespace culprit::counting
