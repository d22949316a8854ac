// /sys/bus/event_source/devices → PmuCatalog. Every file is small and may be missing or odd:
// what cannot be understood is left out, because the rest can still be used.

#include "events/pmu_catalog.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "events/event_syntax.h"

namespace culprit {
namespace {

constexpr uint64_t kLargestFile = 64 * 1024;
constexpr int kMostCpus = 8192;  // as the kernel's largest configuration

std::optional<std::string> find_text(const std::string& path) {
  Result<std::string> text = read_file(path, kLargestFile);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

/// Names in a folder, sorted; none if it cannot be read.
std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<int> parse_small(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

/// "3" or "0-3".
std::optional<std::pair<int, int>> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  const std::optional<int> first = parse_small(text.substr(0, dash));
  const std::optional<int> last =
      dash == std::string_view::npos ? first : parse_small(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

/// "0-3,8" → 0 1 2 3 8.
std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string_view field : split(text, ',')) {
    const auto range = parse_range(field);
    if (!range || range->second >= kMostCpus) return {};
    for (int cpu = range->first; cpu <= range->second; ++cpu) cpus.push_back(cpu);
    if (cpus.size() > kMostCpus) return {};
  }
  return cpus;
}

/// "config:0-7,32-35", "config1:0", or "config" for all bits.
std::optional<TermFormat> parse_format(std::string_view text) {
  constexpr unsigned kBits = 64;
  const size_t colon = text.find(':');
  const std::string_view where = text.substr(0, colon);
  TermFormat format;
  if (where == "config1") {
    format.config = 1;
  } else if (where == "config2") {
    format.config = 2;
  } else if (where != "config") {
    return std::nullopt;  // config3 and later: not in EventRequest
  }
  if (colon == std::string_view::npos) {
    format.ranges.push_back({0, kBits - 1});
    return format;
  }
  for (const std::string_view field : split(text.substr(colon + 1), ',')) {
    const auto range = parse_range(field);
    if (!range || range->second >= static_cast<int>(kBits)) return std::nullopt;
    format.ranges.push_back(
        {static_cast<unsigned>(range->first), static_cast<unsigned>(range->second)});
    if (format.ranges.size() > kBits) return std::nullopt;
  }
  return format;
}

std::map<std::string, TermFormat> read_formats(const std::string& folder) {
  std::map<std::string, TermFormat> formats;
  for (const std::string& name : list_folder(folder)) {
    const std::optional<std::string> text = find_text(folder + "/" + name);
    const std::optional<TermFormat> format = text ? parse_format(*text) : std::nullopt;
    if (format) formats[name] = *format;
  }
  return formats;
}

std::map<std::string, NamedEvent> read_events(const std::string& folder) {
  std::map<std::string, NamedEvent> events;
  for (const std::string& name : list_folder(folder)) {
    if (name.ends_with(".scale") || name.ends_with(".unit") || name.ends_with(".per-pkg") ||
        name.ends_with(".snapshot")) {
      continue;
    }
    const std::optional<std::string> terms = find_text(folder + "/" + name);
    if (!terms) continue;
    NamedEvent event{.terms = *terms, .scale = 1.0, .unit = ""};
    if (const auto scale = find_text(folder + "/" + name + ".scale")) {
      const double factor = std::strtod(scale->c_str(), nullptr);
      if (factor > 0) event.scale = factor;
    }
    event.unit = find_text(folder + "/" + name + ".unit").value_or("");
    events[name] = event;
  }
  return events;
}

std::map<std::string, uint64_t> read_capabilities(const std::string& folder) {
  std::map<std::string, uint64_t> capabilities;
  for (const std::string& name : list_folder(folder)) {
    const std::optional<std::string> text = find_text(folder + "/" + name);
    const std::optional<uint64_t> value = text ? parse_event_number(*text) : std::nullopt;
    if (value) capabilities[name] = *value;
  }
  return capabilities;
}

/// PMUs of cores name their CPUs in "cpus", those of packages in "cpumask".
void read_cpus(const std::string& folder, const std::vector<int>& online, Pmu& pmu) {
  const std::optional<std::string> cores = find_text(folder + "/cpus");
  const std::optional<std::string> packages = find_text(folder + "/cpumask");
  const bool is_sampler = pmu.name.starts_with("arm_spe");  // a core's, though it has a cpumask
  pmu.is_core = pmu.name == "cpu" || pmu.name.starts_with("cpum_cf") || cores.has_value();
  pmu.is_per_cpu_only = !pmu.is_core && packages.has_value() && !is_sampler;
  pmu.cpus = parse_cpu_list(cores ? *cores : packages.value_or(""));
  if (pmu.is_core && pmu.cpus == online) pmu.cpus.clear();
}

std::optional<Pmu> read_pmu(const std::string& folder, const std::string& name,
                            const std::vector<int>& online) {
  const std::optional<std::string> type = find_text(folder + "/type");
  const std::optional<uint64_t> number = type ? parse_event_number(*type) : std::nullopt;
  if (!number || *number > UINT32_MAX) return std::nullopt;
  Pmu pmu;
  pmu.name = name;
  pmu.type = static_cast<uint32_t>(*number);
  pmu.formats = read_formats(folder + "/format");
  pmu.events = read_events(folder + "/events");
  pmu.capabilities = read_capabilities(folder + "/caps");
  read_cpus(folder, online, pmu);
  return pmu;
}

/// Folders where tracefs may be.
constexpr const char* kTraceFolders[] = {"/kernel/tracing", "/kernel/debug/tracing"};

std::vector<std::string> read_tracepoints(const std::string& root) {
  constexpr uint64_t kLargestList = 16 << 20;
  std::vector<std::string> names;
  for (const char* folder : kTraceFolders) {
    const Result<std::string> text = read_file(root + folder + "/available_events", kLargestList);
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      if (line.find(':') != std::string_view::npos) names.emplace_back(line);
    }
    break;
  }
  return names;
}

/// Reads one id below the first tracefs that is there.
Result<uint64_t> read_tracepoint_id(const std::string& root, const std::string& system,
                                    const std::string& name) {
  const auto is_plain = [](const std::string& word) {
    return !word.empty() && word.find('/') == std::string::npos && word[0] != '.';
  };
  if (!is_plain(system) || !is_plain(name)) return Error{"that is no name of a tracepoint"};
  for (const char* folder : kTraceFolders) {
    const std::string events = root + folder + "/events";
    if (!file_exists(events)) continue;
    Result<std::string> text = read_file(events + "/" + system + "/" + name + "/id", kLargestFile);
    if (!text) return text.error();
    if (const std::optional<uint64_t> id = parse_event_number(trim(*text))) return *id;
    return Error{"its id in " + events + " is not a number"};
  }
  return Error{"there is no " + root +
               "/kernel/tracing/events: tracefs is not mounted, may not be read by this user, or "
               "this kernel has no tracepoints"};
}

}  // namespace

uint64_t TermFormat::max_value() const {
  unsigned bits = 0;
  for (const BitRange& range : ranges) bits += range.last - range.first + 1;
  return bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

// Linux shows of Arm's common events (numbers below 0x40) those that the CPU's PMCEID registers
// have: armv8pmu_event_attr_is_visible() of drivers/perf/arm_pmuv3.c.
bool Pmu::lacks(uint64_t config) const {
  constexpr uint64_t kCommonEvents = 0x40;
  if (!name.starts_with("armv8") || events.empty() || config >= kCommonEvents) return false;
  return std::none_of(events.begin(), events.end(), [&](const auto& event) {
    const std::string& terms = event.second.terms;  // "event=0x0008"
    constexpr std::string_view kStart = "event=0x";
    return terms.starts_with(kStart) && find_number(terms.substr(kStart.size()), 16) == config;
  });
}

const Pmu* PmuCatalog::find(std::string_view name) const {
  for (const Pmu& pmu : pmus) {
    if (pmu.name == name) return &pmu;
  }
  return nullptr;
}

std::vector<const Pmu*> PmuCatalog::core_pmus() const {
  std::vector<const Pmu*> cores;
  for (const Pmu& pmu : pmus) {
    if (pmu.is_core) cores.push_back(&pmu);
  }
  return cores;
}

Result<PmuCatalog> read_pmu_catalog(const std::string& root) {
  const std::string devices = root + "/bus/event_source/devices";
  if (!file_exists(devices)) {
    return Error{"cannot see which events this machine counts: there is no " + devices +
                 " (sysfs is not mounted, or this kernel has no perf_event)"};
  }
  const std::vector<int> online =
      parse_cpu_list(find_text(root + "/devices/system/cpu/online").value_or(""));
  PmuCatalog catalog;
  for (const std::string& name : list_folder(devices)) {
    if (std::optional<Pmu> pmu = read_pmu(devices + "/" + name, name, online)) {
      catalog.pmus.push_back(std::move(*pmu));
    }
  }
  catalog.tracepoint_id = [root](const std::string& system, const std::string& name) {
    return read_tracepoint_id(root, system, name);
  };
  catalog.list_tracepoints = [root] { return read_tracepoints(root); };
  catalog.is_this_machine = root == "/sys";
  return catalog;
}

}  // namespace culprit
