#pragma once

// Names of the events of time off the CPU, which collectors write and answers look for.

#include <string_view>

namespace culprit {

inline constexpr std::string_view kOffCpuEvent = "off-cpu";       // the task left by itself
inline constexpr std::string_view kPreemptedEvent = "preempted";  // it could have run on

}  // namespace culprit
