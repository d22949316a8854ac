#pragma once

// KnownMappings: which file an address of the program shows, asked when a block is translated.
// The engine is asked where it is not known yet; what the program maps or unmaps afterwards makes
// us forget the range.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "simulate/counts/counts_writer.h"

namespace culprit::counting {

/// Memory that is mapped in one piece.
struct FoundMapping {
  counts_file::MappedRange mapping{};  // its addresses are the program's
  std::string path;                    // "": memory without a file
};
/// nullopt: nothing is mapped at the address.
using FindMapping = std::function<std::optional<FoundMapping>(uint64_t address)>;

/// Asks the kernel, for a program that is in this process's own memory, its addresses shifted by
/// `base`.
std::optional<FoundMapping> find_own_mapping(uint64_t address, uint64_t base);

class KnownMappings {
 public:
  explicit KnownMappings(CountsWriter& writer) : writer_(writer) {}

  void set_finder(FindMapping finder) { finder_ = std::move(finder); }
  /// Is told of each mapping of a file that is found.
  using Listener = std::function<void(uint32_t number, const FoundMapping& found)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

  /// The number of the mapping at `address`; 0: memory without a file.
  uint32_t find(uint64_t address);

  /// What was there has changed.
  void forget(uint64_t start, uint64_t bytes);

 private:
  struct Range {
    uint64_t end;
    uint32_t mapping;
  };

  CountsWriter& writer_;
  FindMapping finder_;
  Listener listener_;
  std::map<uint64_t, Range> ranges_;  // by start, without overlaps
};

}  // namespace culprit::counting
