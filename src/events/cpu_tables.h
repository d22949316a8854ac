#pragma once

// Event codes of CPUs that Debian's libpfm4 for x86 knows nothing of: Arm, POWER and Zen 5, as
// far as accounting for their cycles needs them. Every row's code is the maker's.

#include <cstdint>
#include <span>
#include <string_view>

namespace culprit {

struct CpuEvent {
  std::string_view name;
  uint64_t config = 0;
};

struct CpuTable {
  std::string_view name;  // as libpfm4 calls it where it knows it: "arm_n1"
  std::string_view description;
  std::string_view source;
  std::span<const CpuEvent> events;
};

std::span<const CpuTable> cpu_tables();

/// Finds a table by name, in any case; nullptr if there is none.
const CpuTable* find_cpu_table(std::string_view name);
const CpuEvent* find_cpu_event(const CpuTable& table, std::string_view name);

}  // namespace culprit
