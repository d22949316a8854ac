#pragma once

// System calls of the program: counted with their time, watched for changes of mappings, and
// execs taken over: instead of the new program itself, QEMU with this plugin is executed on it,
// so that children are followed without anything in the program or its environment.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/plugin/translation.h"
#include "simulate/plugin/turnstile.h"

namespace culprit {

/// Writes what was recorded of locality, if anything was, and ends counting: the process image
/// ends now.
void save_tenures(unsigned vcpu, CountsWriter& writer);

class SystemCalls {
 public:
  /// `target` as QEMU names it; `emulator`: the words before the program in our command line
  /// (without `-0 NAME`), the first being QEMU's own path; `program`: what it runs.
  SystemCalls(std::string_view target, std::vector<std::string> emulator,
              const std::string& program, CountsWriter& writer, Translation& translation);

  void set_base(uint64_t guest_base) { base_ = guest_base; }
  /// Whatever its sleep may look like to others.
  [[nodiscard]] AnnouncedCall announce(int64_t number, uint64_t first_argument) const;
  void before(unsigned vcpu, int64_t number, const uint64_t (&arguments)[6]);
  void after(unsigned vcpu, int64_t number, int64_t result);

 private:
  struct Numbers {
    int64_t mmap, munmap, mremap, madvise, execve, execveat, exit_group, exit, futex, clone;
  };
  void note_mapping_change(int64_t number, const uint64_t (&arguments)[6]);
  void note_page_size(int64_t number, const uint64_t (&arguments)[6]);
  /// Returns only if the program is none that this QEMU can run, or exec fails.
  void take_over_exec(unsigned vcpu, uint64_t path, uint64_t arguments, uint64_t environment);

  [[nodiscard]] std::string resolve_own_path(const std::string& path) const;

  Numbers numbers_;
  uint16_t machine_;  // e_machine of ELF
  std::vector<std::string> emulator_;
  std::string program_;  // whole; "": not known
  CountsWriter& writer_;
  Translation& translation_;
  uint64_t base_ = 0;
  bool maps_huge_pages_ = false;  // the kernel does by itself, where they fit in
};

}  // namespace culprit
