#pragma once

// RangeCollector: takes what the readers of debug information find, and keeps what
// lies in wanted ranges. Several units may claim the same code (templates,
// folded functions): the first that has a function there owns the range.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "binary/debug_facts.h"

namespace culprit {

class RangeCollector {
 public:
  /// `wanted`: ascending, disjoint.
  explicit RangeCollector(std::vector<AddressRange> wanted);

  [[nodiscard]] const std::vector<AddressRange>& wanted() const { return wanted_; }
  /// Is any wanted range in [begin, end) that no earlier unit owns?
  [[nodiscard]] bool wants(LinkAddress begin, LinkAddress end) const;
  /// The wanted ranges that overlap [begin, end): [first, second) by index.
  [[nodiscard]] std::pair<size_t, size_t> find_overlaps(LinkAddress begin, LinkAddress end) const;

  uint32_t intern(std::string_view text);

  /// All that follows belongs to the unit at this offset.
  void begin_unit(uint64_t unit) {
    unit_ = unit;
    owned_.clear();
  }
  void add_function(const DebugFunction& function);
  void add_inline(const DebugInline& call);
  /// Is [begin, end) of range `index` open to line rows of this unit?
  [[nodiscard]] bool wants_lines(size_t index) const;
  void add_line(size_t index, const DebugLine& row);
  /// Drops what the current unit has given so far (to read it again).
  void forget_unit();
  [[nodiscard]] bool has_function(size_t index) const {
    return facts_.ranges[index].function.has_value();
  }

  DebugFacts& facts() { return facts_; }
  /// Sorts and hands over.
  DebugFacts finish();

 private:
  [[nodiscard]] bool is_open(size_t index) const {
    const auto& owner = facts_.ranges[index].unit;
    return !owner || *owner == unit_;
  }

  std::vector<AddressRange> wanted_;
  DebugFacts facts_;
  std::unordered_map<std::string, uint32_t> ids_;
  uint64_t unit_ = 0;
  std::vector<size_t> owned_;  // ranges of the current unit, for forget_unit
};

}  // namespace culprit
