#pragma once

// Machine code of the running kernel and its modules, from /proc/kcore: an ELF core file whose
// segments are the kernel's memory as it is now, patched as it runs. And from a vmlinux, where that
// may not be read: as it was linked.
//
//     ASSIGN_OR_RETURN(const KernelMemory memory, KernelMemory::open("/proc/kcore"));
//     add_code_from_memory(memory, symbols.kernel_address, facts);

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "binary/elf_file.h"
#include "model/image_facts.h"

namespace culprit {

/// A stretch of the kernel's memory, and where it is in the core file.
struct KernelSegment {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t offset = 0;
  friend bool operator==(const KernelSegment&, const KernelSegment&) = default;
};

/// `head`: the first bytes of a core file, with its program headers.
/// Errors: no 64-bit little-endian core file; headers beyond `head`
Result<std::vector<KernelSegment>> parse_kernel_segments(std::span<const std::byte> head);

class KernelMemory {
 public:
  static Result<KernelMemory> open(const std::string& path);

  /// "" unless one segment has all of it, it can be read, and it is no larger than a function.
  [[nodiscard]] std::string read(uint64_t address, uint64_t size_bytes) const;

 private:
  KernelMemory(Fd file, std::vector<KernelSegment> segments)
      : file_(std::move(file)), segments_(std::move(segments)) {}
  Fd file_;
  std::vector<KernelSegment> segments_;
};

/// The code of the facts' functions, whose offsets count from `base`.
/// Shape:  -> functions whose code was added
size_t add_code_from_memory(const KernelMemory& memory, uint64_t base, ImageFacts& facts);

/// The same from a vmlinux of the same build-id, by names; all must lie at one distance.
size_t add_code_from_vmlinux(const ElfFile& vmlinux, ImageFacts& facts);

}  // namespace culprit
