#include "stalls/stall_ways.h"

namespace culprit {

bool can_happen(StallWay way, const CodeFeatures& features) {
  const bool loads = features.loads && !features.is_of_stack;
  const bool stores = features.stores && !features.is_of_stack;
  switch (way) {
    case StallWay::load_l2:
    case StallWay::load_l3:
    case StallWay::load_memory:
    case StallWay::load_other_core:
    case StallWay::load_line:
    case StallWay::load_second_tlb:
    case StallWay::load_walk:
      return loads;
    case StallWay::store_line:
    case StallWay::store_second_tlb:
    case StallWay::store_walk:
    case StallWay::store:
      return stores;
    case StallWay::misprediction:
      return features.may_mispredict;
    case StallWay::divider:
      return features.divides;
    case StallWay::forwarding:
      return features.loads;
    case StallWay::serializing:
      return features.serializes;
    case StallWay::microcode:
      return features.is_microcoded;
    case StallWay::code_cache:
    case StallWay::code_second_tlb:
    case StallWay::code_walk:
    case StallWay::code_target:
    case StallWay::port:
    case StallWay::chain:
      break;
  }
  return true;
}

}  // namespace culprit
