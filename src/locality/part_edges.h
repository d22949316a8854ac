#pragma once

// PartEdges: adds up the edges of a part of the code, or of an object, by the statements at their
// other ends.

#include <array>
#include <tsl/robin_map.h>
#include <vector>

#include "locality/locality.h"

namespace culprit {

class PartEdges {
 public:
  /// `tells_own`: statements of the part itself are told apart; else they are "itself".
  PartEdges(CodeIndex& code, bool tells_own)
      : others_(code, LocalityBy::statement), tells_own_(tells_own) {}

  /// `from_here`, `to_here`: which of the edge's ends are the part's.
  void add(const Edge& edge, bool from_here, bool to_here);

  /// Each list falling.
  void finish(std::array<LevelEdges, kTenureLevels.size()>& levels);

 private:
  void count(const Edge& edge, size_t level, size_t list, const Location& other, bool is_own);

  struct Key {
    uint8_t level;
    uint8_t list;
    uint32_t row;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return (uint64_t{key.row} << 16 | uint64_t{key.level} << 8 | key.list) * 0x9e3779b97f4a7c15;
    }
  };

  Statements others_;
  bool tells_own_;
  struct Count {
    uint64_t all = 0;
    std::vector<uint64_t> groups{};
  };
  tsl::robin_map<Key, Count, Hash> counts_;
};

}  // namespace culprit
