#include "collect/regions/region_requests.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "base/text.h"
#include "collect/regions/guest/protocol.h"

namespace culprit {
namespace {

template <class T>
Result<void> write_struct(const std::string& path, const T& value) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
  const bool is_written =
      file && std::fwrite(&value, sizeof value, 1, file.get()) == 1 && std::fflush(file.get()) == 0;
  return is_written ? Result<void>() : Error{fmt::format("cannot write '{}'", path)};
}

Result<culprit_region_function> pack(const RegionFunction& from) {
  culprit_region_function to{};
  const bool fits = from.code.size() <= sizeof to.code && from.moved.size() <= sizeof to.moved &&
                    from.references.size() <= std::size(to.references) &&
                    from.path.size() < sizeof to.path;
  if (!fits) {
    return Error{
        fmt::format("{} cannot be a region: its file's path or its first instructions are "
                    "too long",
                    in_quotes(from.name))};
  }
  to.file_offset = from.file_offset;
  to.replaced = static_cast<uint32_t>(from.code.size());
  std::memcpy(to.code, from.code.data(), from.code.size());
  to.moved_bytes = static_cast<uint32_t>(from.moved.size());
  std::memcpy(to.moved, from.moved.data(), from.moved.size());
  for (const RegionFunction::Reference& one : from.references) {
    to.references[to.reference_count++] = {static_cast<uint16_t>(one.at),
                                           static_cast<uint16_t>(one.behind),
                                           one.is_address ? 1u : 0u, one.target};
  }
  std::memcpy(to.path, from.path.data(), from.path.size());
  return to;
}

}  // namespace

Result<void> write_region_requests(const std::string& folder, const RegionRequests& requests) {
  if (!requests.functions.empty()) {
    if (requests.functions.size() > CULPRIT_MAX_FUNCTIONS) {
      return Error{fmt::format("{} functions cannot be regions at a time: {} are the most",
                               requests.functions.size(), CULPRIT_MAX_FUNCTIONS)};
    }
    const auto file = std::make_unique<culprit_region_functions>();
    for (const RegionFunction& function : requests.functions) {
      ASSIGN_OR_RETURN(file->functions[file->count], pack(function));
      ++file->count;
    }
    RETURN_IF_ERROR(write_struct(folder + "/" + CULPRIT_FUNCTIONS_FILE, *file));
  }
  if (requests.counters.empty()) return {};
  culprit_region_counters counters{};
  static_assert(sizeof(perf_event_attr) <= sizeof counters.attrs[0]);
  if (requests.counters.size() > CULPRIT_MAX_COUNTERS) {
    return Error{fmt::format("{} events cannot be counted in regions at a time: {} are the most",
                             requests.counters.size(), CULPRIT_MAX_COUNTERS)};
  }
  counters.count = static_cast<uint32_t>(requests.counters.size());
  counters.attr_bytes = sizeof(perf_event_attr);
  for (size_t i = 0; i < requests.counters.size(); ++i) {
    std::memcpy(counters.attrs[i], &requests.counters[i], sizeof(perf_event_attr));
  }
  return write_struct(folder + "/" + CULPRIT_COUNTERS_FILE, counters);
}

}  // namespace culprit
