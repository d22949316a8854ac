#pragma once

// What instructions can be held up by, and how much of a stall each cause may have.
//
// Guilty until ruled out: a cause has all of a stall, unless something says that it cannot have
// that much (its upper bound); and no more than what no other cause can have had is certain (its
// lower bound). What all of them together cannot have had is unexplained; then the list is not
// whole, or a bound is too low, and nothing is certain of any.
//
//     stall 100 cycles, bounds: memory 80, translation 50
//       memory       50 to 80     translation can have had 50 of them at most
//       translation  20 to 50
//       unexplained  0

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace culprit {

enum class StallCause : uint8_t {
  load_l2,
  load_l3,
  load_memory,
  load_other_core,
  translation,
  misprediction,
  code_fetch,
  store_buffer,
  bandwidth,
  divider,
  port,
  chain,
  forwarding,
  serializing,
  microcode,
};
inline constexpr size_t kStallCauses = 15;
inline constexpr auto kMisprediction = static_cast<size_t>(StallCause::misprediction);

struct StallCauseName {
  std::string_view letter;  // in listings
  std::string_view key;     // in JSON
  std::string_view words;
};
inline constexpr std::array<StallCauseName, kStallCauses> kStallCauseNames = {{
    {"d2", "load_l2", "data from L2"},
    {"d3", "load_l3", "data from L3"},
    {"dm", "load_memory", "data from memory"},
    {"dx", "load_other_core", "data from another core"},
    {"t", "translation", "address translation"},
    {"b", "misprediction", "branch misprediction"},
    {"i", "code_fetch", "code fetch"},
    {"w", "store_buffer", "store buffer"},
    {"m", "bandwidth", "memory bandwidth"},
    {"q", "divider", "division, square root"},
    {"p", "port", "execution port"},
    {"c", "chain", "chain of operations"},
    {"l", "forwarding", "store forwarding, alias"},
    {"s", "serializing", "atomic, fence"},
    {"y", "microcode", "microcode, strings"},
}};
constexpr const StallCauseName& name_of(StallCause cause) {
  return kStallCauseNames[static_cast<size_t>(cause)];
}

/// Of a cause that is possible, and of which nothing says how much of it there was.
inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// How many cycles each cause may have taken. [cycles]
using CauseCycles = std::array<double, kStallCauses>;

struct CauseBounds {
  CauseCycles low{};
  CauseCycles high{};
  double unexplained = 0;
};

/// Units:  stall, most, chance [cycles] -> [cycles]
/// Shape:  `most`: by cause, 0 where it is ruled out, infinity where nothing is known of it;
///         `chance`: how far off the stall may be, as it was sampled
/// Errors: lower bounds hold if nothing that is not in the list had a part: another thread on the
///         core, time that a hypervisor took, what an interrupt left behind
CauseBounds bound_causes(double stall, std::span<const double, kStallCauses> most,
                         double chance = 0);

/// How far off sampled cycles may be: half of the interval of 95 %. 0 where they were counted.
double find_chance(double cycles, uint64_t samples);

/// The causes, likeliest first: by the upper bound; where bounds are alike, because the stall
/// itself is all that bounds them, by what each is said to have taken.
std::array<size_t, kStallCauses> order_causes(double stall, const CauseCycles& high,
                                              const CauseCycles& likely);

}  // namespace culprit
