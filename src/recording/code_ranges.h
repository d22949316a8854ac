#pragma once

// CodeRanges: which code object lies where, as a JIT compiler tells it: later code covers, and if
// need be splits, what was there. Compilers make code in any order of addresses, and files of
// strangers in the worst one, so adding one takes logarithmic time.

#include <map>

#include "records/address_spaces.h"

namespace culprit {

class CodeRanges {
 public:
  /// An empty or wrapping range is ignored.
  void map(const Mapping& mapping);
  /// The mapping that holds `address`; valid until the next change.
  [[nodiscard]] const Mapping* find(RunAddress address) const;

 private:
  std::map<RunAddress, Mapping> by_start_;  // without overlaps
};

}  // namespace culprit
