#pragma once

// Addresses that the dynamic linker writes into data, of tables that a position-independent
// file holds: the file itself has 0 there, or what it likes.

#include <optional>
#include <utility>
#include <vector>

#include "base/address.h"
#include "binary/elf_file.h"

namespace culprit {

class RelativeRelocations {
 public:
  /// R_*_RELATIVE of .rela.dyn, on x86-64 and aarch64; nothing of damaged files.
  static RelativeRelocations read(const ElfFile& file);

  /// The link address that will stand at `at`; none where nothing is written.
  [[nodiscard]] std::optional<uint64_t> find(LinkAddress at) const;

 private:
  std::vector<std::pair<LinkAddress, uint64_t>> values_;  // by address
};

}  // namespace culprit
