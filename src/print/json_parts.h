#pragma once

// The parts that the JSON of several commands shares. Heavy: includes the JSON library.

#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/text.h"
#include "print/event_display.h"
#include "print/values.h"
#include <nlohmann/json.hpp>

namespace culprit {

using Json = nlohmann::ordered_json;

/// Addresses are strings ("0x12a0"): JSON readers lose digits of 64-bit numbers.
inline std::string json_address(uint64_t address) {
  return fmt::format("{:#x}", address);
}

inline Json json_value(const Value& value) {
  return {{"samples", value.samples}, {"value", value.value}, {"error", value.error}};
}

/// {"cpu-clock": {"samples", "value", "error"}}
inline Json json_values(const std::vector<std::string>& event_names,
                        const std::vector<Value>& values) {
  Json object = Json::object();
  for (size_t event = 0; event < values.size(); ++event) {
    object[event_names[event]] = json_value(values[event]);
  }
  return object;
}

Json json_events(const Profile& profile, const std::vector<std::string>& event_names,
                 const std::vector<Value>& totals);
Json json_runs(const Profile& profile);
Json json_machine(const Machine& machine);
Json json_clock(const Machine& machine);  // null if it was not calibrated
Json json_ledger(const Ledger& ledger);

/// JSON as text, never failing: bytes that are no UTF-8 are replaced.
inline std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace culprit
