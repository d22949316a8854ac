#pragma once

// Events by which a simulated profile tells what a repair would save: in sampled stretches the
// model of the core ran again, once as it is and once without each class of cost.
//
//     gain of a repair = 1 - without / replayed        summed over the places of the repair

#include <string>
#include <string_view>

namespace culprit {

/// Cycles of the stretches, as the model is.
inline constexpr std::string_view kReplayedCycles = "sim:replayed-cycles";

/// Their cycles with what depends on the day, and on neighbours: latency beyond L2 twice as long,
/// or half the bandwidth. What they take more is what such a mistake of the model would be.
inline constexpr std::string_view kSlowLatencyCycles = "sim:with-slow-latency";
inline constexpr std::string_view kSlowBandwidthCycles = "sim:with-slow-bandwidth";

inline constexpr std::string_view kWithoutPrefix = "sim:without-";

/// Whether an event is one of these.
inline bool is_forecast_event(std::string_view name) {
  return name == kReplayedCycles || name == kSlowLatencyCycles || name == kSlowBandwidthCycles ||
         name.starts_with(kWithoutPrefix);
}

/// Cycles of the same stretches without a class of cost: "load_latency" is
/// "sim:without-load-latency".
inline std::string without_event(std::string_view branch) {
  std::string name(kWithoutPrefix);
  for (const char letter : branch) name += letter == '_' ? '-' : letter;
  return name;
}

}  // namespace culprit
