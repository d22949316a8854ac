#pragma once

// The ways in which a cause can hold code up: what one event may count of it, and what one
// instruction can do of it. "Address translation" is a hit of the second TLB or a page walk, for a
// load or for a store: it is ruled out where all of them are.

#include <cstddef>
#include <cstdint>

#include "stalls/code_features.h"
#include "stalls/stall_causes.h"

namespace culprit {

/// The largest plausible costs of an event. [cycles]
/// Source: nothing was measured for them: they are round figures above what such events are known
///         to cost on servers under load. Upper bounds rest on them, and so are no estimates
struct LargestCosts {
  static constexpr double kL2 = 30;
  static constexpr double kL3 = 250;
  static constexpr double kMemory = 1000;
  static constexpr double kOtherCore = 600;
  static constexpr double kSecondTlb = 15;
  static constexpr double kWalk = 400;     // of nested tables, with misses of its own
  static constexpr double kRedirect = 40;  // of a mispredicted branch, beside its operands
  static constexpr double kCodeL2 = 60;
  static constexpr double kLine = 100;  // to move a line at the bandwidth that one core has
  /// Where a model's bandwidth is the limit, it moves a line in some ten cycles.
  static constexpr double kLineToModelled = kLine / 10;
  static constexpr double kAtomic = 100;
  static constexpr double kMicrocode = 200;
  static constexpr double kDivision = 100;
  static constexpr double kForwarding = 50;  // a store whose value has to come from the cache
  static constexpr double kPort = 8;         // micro-operations of one instruction that share one
  static constexpr double kOperation = 20;   // no division, no microcode, data in L1
  /// A modelled cost of the code itself may be too small by this part of it.
  static constexpr double kModelError = 0.5;
};

enum class StallWay : uint8_t {
  load_l2,
  load_l3,
  load_memory,
  load_other_core,
  load_line,  // a line whose way the bandwidth of memory makes longer
  store_line,
  load_second_tlb,
  load_walk,
  store_second_tlb,
  store_walk,
  misprediction,
  code_cache,
  code_second_tlb,
  code_walk,
  code_target,  // of a branch that the front end did not know
  store,
  divider,
  forwarding,
  serializing,
  microcode,
  port,
  chain,
};
inline constexpr size_t kStallWays = 22;

struct StallWayFacts {
  StallCause cause;
  double of_event;      // the largest cost of one event [cycles]
  double of_execution;  // of one execution of an instruction [cycles]; infinity: nothing bounds it
};

constexpr StallWayFacts facts_of(StallWay way) {
  using Largest = LargestCosts;
  switch (way) {
    case StallWay::load_l2:
      return {StallCause::load_l2, Largest::kL2, Largest::kL2};
    case StallWay::load_l3:
      return {StallCause::load_l3, Largest::kL3, Largest::kL3};
    case StallWay::load_memory:
      return {StallCause::load_memory, Largest::kMemory, Largest::kMemory};
    case StallWay::load_other_core:
      return {StallCause::load_other_core, Largest::kOtherCore, Largest::kOtherCore};
    case StallWay::load_line:
    case StallWay::store_line:
      return {StallCause::bandwidth, Largest::kLine, Largest::kLine};
    case StallWay::load_second_tlb:
    case StallWay::store_second_tlb:
      return {StallCause::translation, Largest::kSecondTlb, Largest::kSecondTlb};
    case StallWay::load_walk:
    case StallWay::store_walk:
      return {StallCause::translation, Largest::kWalk, Largest::kWalk};
    case StallWay::misprediction:
      return {StallCause::misprediction, Largest::kRedirect, Largest::kRedirect};
    case StallWay::code_cache:
      return {StallCause::code_fetch, Largest::kMemory, Largest::kMemory};
    case StallWay::code_second_tlb:
      return {StallCause::code_fetch, Largest::kSecondTlb, Largest::kSecondTlb};
    case StallWay::code_walk:
      return {StallCause::code_fetch, Largest::kWalk, Largest::kWalk};
    case StallWay::code_target:
      return {StallCause::code_fetch, Largest::kRedirect, Largest::kRedirect};
    case StallWay::store:
      return {StallCause::store_buffer, Largest::kMemory, Largest::kMemory};
    case StallWay::divider:
      return {StallCause::divider, Largest::kDivision, Largest::kDivision};
    case StallWay::forwarding:
      return {StallCause::forwarding, Largest::kForwarding, Largest::kForwarding};
    case StallWay::serializing:
      return {StallCause::serializing, Largest::kAtomic, Largest::kAtomic};
    case StallWay::microcode:
      // A string instruction is as long as its string.
      return {StallCause::microcode, Largest::kMicrocode, kNoBound};
    case StallWay::port:
      return {StallCause::port, Largest::kPort, Largest::kPort};
    case StallWay::chain:
      break;
  }
  return {StallCause::chain, Largest::kOperation, Largest::kOperation};
}

/// Whether an instruction can be held up so, by what it is.
bool can_happen(StallWay way, const CodeFeatures& features);

}  // namespace culprit
