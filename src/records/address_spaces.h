#pragma once

// AddressSpaces: which file was mapped where in which process, as records tell it
// in the order of time.
//
//   exec clears a process; fork shares the parent's mappings until one of the two
//   changes; a later mapping covers, and if need be splits, earlier ones. That
//   something was unmapped is not recorded, and does not matter: nothing runs there.

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/address.h"

namespace culprit {

/// What is mapped, as a number of the caller's choice.
using FileKey = uint32_t;

struct Mapping {
  RunAddress start;
  RunAddress end;
  uint64_t file_offset = 0;  // of `start`
  FileKey file = 0;
  friend bool operator==(const Mapping&, const Mapping&) = default;
};

class AddressSpaces {
 public:
  /// An empty or wrapping range is ignored. A process has at most kMaxMappings; more are left out.
  void map(uint32_t pid, const Mapping& mapping);
  void fork(uint32_t parent_pid, uint32_t pid);
  void clear(uint32_t pid);  // exec, or the end

  /// The mapping that holds `address`; valid until the next change.
  [[nodiscard]] const Mapping* find(uint32_t pid, RunAddress address) const;
  /// All mappings of a process, by address.
  [[nodiscard]] const std::vector<Mapping>& mappings(uint32_t pid) const;

  static constexpr size_t kMaxMappings = 1 << 20;

 private:
  using Space = std::vector<Mapping>;  // by address, without overlaps
  Space& writable(uint32_t pid);

  std::unordered_map<uint32_t, std::shared_ptr<Space>> spaces_;
};

}  // namespace culprit
