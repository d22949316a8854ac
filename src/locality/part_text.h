#pragma once

// What the texts of `locality` and `data` share: a part's levels, kinds of access and edges, and
// advice.

#include <array>
#include <string>
#include <vector>

#include "base/text_style.h"
#include "locality/advice.h"
#include "locality/locality.h"

namespace culprit {

class PartText {
 public:
  PartText(const Caches& caches, CacheLevel level, const TextStyle& style)
      : caches_(caches), level_(level), style_(style) {}

  [[nodiscard]] std::string levels(const Use& use,
                                   const std::array<LevelEdges, kTenureLevels.size()>& edges) const;
  /// `part`: the use of all of them.
  [[nodiscard]] std::string kinds(const std::array<KindUse, kDataKinds>& kinds,
                                  const UseEvents& events, const Use& part) const;
  [[nodiscard]] std::string edges(const Use& use,
                                  const std::array<LevelEdges, kTenureLevels.size()>& edges) const;

 private:
  [[nodiscard]] std::string list(const char* heading, const std::vector<EdgeRow>& rows,
                                 uint64_t all, const char* unit) const;

  const Caches& caches_;
  CacheLevel level_;
  const TextStyle& style_;
};

/// "What to change ..."; "" without advice.
std::string print_locality_advice(const std::vector<LocalityAdvice>& advice,
                                  const UseEvents& events, const TextStyle& style);

}  // namespace culprit
