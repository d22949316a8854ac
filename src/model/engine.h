#pragma once

// What obtained the numbers of an event. Profiles keep the word, so that one of a later version's
// engines keeps its name.

#include <cstdint>
#include <string_view>

#include "model/profile.h"

namespace culprit {

enum class Engine : uint8_t {
  unknown,
  timer,           // the kernel's clocks, by perf_event
  posix_timer,     // timers inside the program
  pmu,             // the hardware's counters
  software,        // other events of the kernel: page faults, context switches
  tracepoint,      // places in the kernel's or a program's code
  breakpoint,      // the hardware's watch registers
  simulate,        // an engine that runs the program instruction by instruction
  branch_records,  // derived from branch records
  static_model,    // executions times what the code costs
};

std::string_view word_of(Engine engine);

/// unknown for words of later versions, and where the event does not say.
Engine engine_of(const Profile& profile, const Event& event);

/// Whether a simulator ran it: times are the simulator's then, not the program's.
bool is_simulated(const Profile& profile, const Run& run);

void mark_simulated(StringTable& strings, Run& run);

}  // namespace culprit
