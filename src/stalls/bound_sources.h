#pragma once

// What an upper bound of a cause rests on: what the code is, how often it ran, what a model counted
// of it, sampled events.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stalls/stall_causes.h"

namespace culprit {

/// What an upper bound rests on; several may, in a sum.
class BoundSources {
 public:
  static BoundSources of_code() { return BoundSources(1); }
  static BoundSources of_executions() { return BoundSources(2); }
  static BoundSources of_model() { return BoundSources(4); }
  static BoundSources of_event(size_t number) {
    return BoundSources(uint64_t{1} << (kFirstEvent + number));
  }
  static constexpr size_t kFirstEvent = 3;
  static constexpr size_t kMostEvents = 64 - kFirstEvent;

  BoundSources() = default;
  BoundSources& operator|=(BoundSources other) {
    bits_ |= other.bits_;
    return *this;
  }
  [[nodiscard]] bool has_executions() const { return (bits_ & 2) != 0; }
  [[nodiscard]] bool has_model() const { return (bits_ & 4) != 0; }
  [[nodiscard]] bool has_event() const { return bits_ >> kFirstEvent != 0; }
  [[nodiscard]] bool has_event(size_t number) const {
    return (bits_ >> (kFirstEvent + number) & 1) != 0;
  }
  friend bool operator==(BoundSources, BoundSources) = default;

 private:
  explicit BoundSources(uint64_t bits) : bits_(bits) {}
  uint64_t bits_ = 0;
};

/// "branch-misses", "simulated run", "executions"; nothing where the code alone says it.
/// Shape:  `events`: names, by the numbers of of_event()
std::vector<std::string> name_sources(BoundSources sources, std::span<const std::string> events);

using CauseSources = std::array<BoundSources, kStallCauses>;

}  // namespace culprit
