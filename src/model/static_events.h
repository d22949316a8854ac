#pragma once

// What the events of the static pipeline model (room `pipeline`) are called. Each counts at one
// instruction, is modelled, and of Engine::static_model.

#include <string_view>

namespace culprit::static_events {

/// + the scheduling model's name of a port, or of ports that share work: cycles it was busy.
inline constexpr std::string_view kBusyPrefix = "static:busy-";
/// Cycles by which loops are slower than their instructions take, for the chains in them.
inline constexpr std::string_view kChain = "static:chain-cycles";
/// Executions of call instructions.
inline constexpr std::string_view kCalls = "static:calls";

}  // namespace culprit::static_events
