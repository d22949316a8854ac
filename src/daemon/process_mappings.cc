#include "daemon/process_mappings.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "daemon/query_mapping.h"

namespace culprit {
namespace {

/// Field 22 of /proc/PID/stat: when it started, in ticks since boot; 0: it is gone.
uint64_t read_start_ticks(uint32_t pid) {
  const std::string text = read_file(fmt::format("/proc/{}/stat", pid), 4096).value_or("");
  const size_t name_end = text.rfind(')');  // names may hold anything
  if (name_end == std::string::npos) return 0;
  const std::vector<std::string_view> fields = split(std::string_view(text).substr(name_end), ' ');
  return fields.size() > 20 ? find_number(fields[20], 10).value_or(0) : 0;
}

std::vector<ProcMapping> read_mappings(uint32_t pid) {
  constexpr uint64_t kMostBytes = 16 << 20;  // of a process that maps a hundred thousand files
  return parse_proc_maps(read_file(fmt::format("/proc/{}/maps", pid), kMostBytes).value_or(""));
}

}  // namespace

bool is_alive(uint32_t pid, uint64_t start_ns) {
  static const auto kTicks = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  return read_start_ticks(pid) == start_ns / (1'000'000'000 / kTicks);
}

MmapRecord to_record(uint32_t pid, const ProcMapping& entry) {
  MmapRecord map;
  map.pid = pid;
  map.start = entry.start;
  map.length = entry.end - entry.start;
  map.file_offset = entry.file_offset;
  map.executable = true;
  map.device_major = entry.device_major;
  map.device_minor = entry.device_minor;
  map.inode = entry.inode;
  map.path = entry.path;
  return map;
}

const std::vector<ProcMapping>& ProcessMappings::of(uint32_t pid, uint64_t start_ns) {
  constexpr size_t kMostLists = 16;
  const std::pair key{pid, start_ns};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  if (known_.size() == kMostLists) known_.clear();
  return known_.emplace(key, read_mappings(pid)).first->second;
}

std::optional<ProcMapping> ProcessMappings::find_recorded(const image_record& record) {
  const RunAddress start(record.start);
  const auto is_it = [&](const ProcMapping& entry) {
    return entry.start == start && entry.file_offset == record.file_offset;
  };
  if (const auto asked = query_mapping(record.pid, start)) {
    return *asked && is_it(**asked) ? *asked : std::nullopt;
  }
  const std::pair key{record.pid, record.process_start_ns};
  const bool was_read = known_.contains(key);
  const auto look = [&]() -> std::optional<ProcMapping> {
    const ProcMapping* const entry = find(record.pid, record.process_start_ns, start);
    return entry != nullptr && is_it(*entry) ? std::optional(*entry) : std::nullopt;
  };
  const std::optional<ProcMapping> entry = look();
  if (entry || !was_read) return entry;
  known_.erase(key);  // it may be newer than the list
  return look();
}

const ProcMapping* ProcessMappings::find(uint32_t pid, uint64_t start_ns, RunAddress address) {
  const std::vector<ProcMapping>& entries = of(pid, start_ns);
  // The kernel lists them by address.
  const auto above =
      std::upper_bound(entries.begin(), entries.end(), address,
                       [](RunAddress at, const ProcMapping& entry) { return at < entry.start; });
  if (above == entries.begin()) return nullptr;
  const ProcMapping& entry = *std::prev(above);
  return address < entry.end ? &entry : nullptr;
}

}  // namespace culprit
