#pragma once

// An ELF file with its compressed debug sections inflated. libelf would do it one section
// after the other; here each section is a job of its own, so that threads can share them:
//
//   file      | ELF header | ... | zlib: .debug_info | zlib: .debug_str | ... | section headers |
//   inflated  | the same, with holes ..................................... | patched headers |
//             | .debug_info | .debug_str |
//
// Sections that DebugInfo never reads (where variables are, macros) become empty. zstd
// works, too, which elfutils 0.188 does not know.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <sys/mman.h>
#include <vector>

#include "binary/elf_file.h"

namespace culprit {

class InflatedElf {
 public:
  /// nullopt if nothing is compressed, if sections claim absurd sizes, or if it is no file of this
  /// machine's kind (64 bits, little endian): libelf reads those.
  static std::optional<InflatedElf> plan(const ElfFile& file);

  /// Jobs by size, the largest first.
  [[nodiscard]] size_t job_count() const { return jobs_.size(); }
  /// Inflates one section; different jobs may run at the same time. A damaged section
  /// becomes empty.
  void run(size_t job);
  /// The whole file, once all jobs have run.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {buffer_.get(), size_bytes_}; }

 private:
  struct Job {
    std::span<const std::byte> compressed;
    uint32_t method = 0;       // ELFCOMPRESS_*
    size_t header_at = 0;      // of the section's header in the buffer
    uint64_t inflated_at = 0;  // in the buffer
    uint64_t inflated_bytes = 0;
  };

  struct Unmap {
    size_t bytes;
    void operator()(std::byte* pages) const { ::munmap(pages, bytes); }
  };
  std::unique_ptr<std::byte[], Unmap> buffer_;  // pages of its own: holes cost no memory
  size_t size_bytes_ = 0;
  std::vector<Job> jobs_;
};

}  // namespace culprit
