#pragma once

// Features: what perf wrote down about the machine and the recording, each as a section
// of its own. One that is damaged is left out: the records do not depend on it.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/profile.h"
#include "perfdata/attributes.h"

namespace culprit {

/// Bits of the header's feature map, and of HEADER_FEATURE records.
enum class Feature : uint32_t {
  tracing_data = 1,
  build_id = 2,
  host_name = 3,
  os_release = 4,
  perf_version = 5,
  architecture = 6,
  cpu_count = 7,
  cpu_description = 8,
  cpu_id = 9,
  total_memory = 10,
  command_line = 11,
  event_descriptions = 12,
  group_descriptions = 17,
  sample_time = 21,
  clock_data = 29,
  hybrid_topology = 30,
};
constexpr uint32_t kFeatures = 256;

/// The build-id of a file that samples fell into.
struct RecordedBuildId {
  Mode mode = Mode::user;
  std::string build_id;  // lower-case hexadecimal
  std::string path;
};

struct RecordedFacts {
  std::string host;
  std::string kernel_release;
  std::string architecture;
  std::string cpu_model;
  std::string cpu_id;
  std::string perf_version;
  std::string command;
  uint32_t cpus_online = 0;
  std::vector<RecordedBuildId> build_ids;
  std::optional<std::pair<uint64_t, uint64_t>> sample_time_ns;  // first, last
  /// One instant on the clock of the samples, and as CLOCK_REALTIME.
  std::optional<std::pair<uint64_t, uint64_t>> clocks_ns;
  std::vector<std::string> cpu_kinds;  // hybrid: "cpu_core: 0-3"
  std::vector<std::string> groups;     // "{cycles,instructions}"
};

/// Adds what the section says to `facts`, names of events to `attributes`.
Result<void> parse_feature(Feature feature, std::span<const std::byte> bytes, std::endian order,
                           RecordedFacts& facts, Attributes& attributes);

/// A build-id entry, as in the section and in a HEADER_BUILD_ID record: header included.
Result<RecordedBuildId> parse_build_id(std::span<const std::byte> record, std::endian order);

/// EVENT_UPDATE: the name of an event, where it is one.
Result<void> parse_event_update(std::span<const std::byte> body, std::endian order,
                                Attributes& attributes);

/// Tracepoints' names from their formats (TRACING_DATA).
void parse_tracing_data(std::span<const std::byte> bytes, std::endian order,
                        Attributes& attributes);

}  // namespace culprit
