#pragma once

// DataSymbols: where the variables and sections of a file are, as whoever can read such files tells
// a follower, which does without them.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/file.h"
#include "records/address_spaces.h"

namespace culprit {

struct DataSymbols {
  struct Load {
    FileOffset offset;
    LinkAddress address;
    uint64_t file_bytes = 0;
    uint64_t memory_bytes = 0;  // more than in the file: zeros (.bss)
    bool is_code = false;
  };
  struct Part {
    std::string name;  // as the linker has it
    LinkAddress begin;
    uint64_t size_bytes = 0;
  };
  std::vector<Load> loads;
  std::vector<Part> sections;   // that hold data; in the order of addresses, larger ones first
  std::vector<Part> variables;  // likewise

  /// The address in the file of what a process has at `address`, by a mapping of its code; nullopt:
  /// no part of the file is there.
  [[nodiscard]] std::optional<LinkAddress> find_link_address(const Mapping& code,
                                                             RunAddress address) const;
  /// The place in the file, also of what the file does not hold, as if it went on.
  [[nodiscard]] FileOffset to_offset(LinkAddress address) const;
  /// The innermost that has the address; null: none has.
  static const Part* find(const std::vector<Part>& parts, LinkAddress address);
};

/// Reads them; nullopt: it is no ELF file, or a damaged one. `path`: of the image, where it ran.
using ReadDataSymbols =
    std::function<std::optional<DataSymbols>(const Fd& file, const std::string& path)>;

}  // namespace culprit
