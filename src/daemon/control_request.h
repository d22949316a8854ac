#pragma once

// What may be asked of a running daemon, as a line of text.
//
//     status | flush | epoch | rate HZ | events LIST | pause | resume | label KEY=VALUE | stop

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

enum class ControlVerb : uint8_t { status, flush, epoch, rate, events, pause, resume, label, stop };

struct ControlRequest {
  ControlVerb verb = ControlVerb::status;
  double rate_hz = 0;  // rate
  std::string key;     // label
  std::string value;   // of a label; events: what is sampled beside time, or kNoEvents
};

inline constexpr size_t kLongestRequest = 512;
inline constexpr std::string_view kNoEvents = "none";
inline constexpr double kLowestRateHz = 1;
inline constexpr double kHighestRateHz = 20'000;

/// Errors: what may be said instead.
Result<ControlRequest> parse_control_request(std::string_view line);

/// Errors: it is no number, or too low or high to be a rate.
Result<double> parse_rate_hz(std::string_view text);

}  // namespace culprit
