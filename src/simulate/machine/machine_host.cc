// The machine that runs us, from <sysfs>/devices/system/cpu/cpu0/cache/index*.

#include <charconv>
#include <fmt/format.h>
#include <optional>

#include "base/file.h"
#include "simulate/machine/machine.h"

namespace culprit::simulate {
namespace {

/// The first line of a small file, or "" if it cannot be read.
std::string read_word(const std::string& path) {
  const Result<std::string> text = read_file(path, 4096);
  return text ? text->substr(0, text->find('\n')) : "";
}

/// "48K" -> 49152; nullopt if it is no size.
std::optional<uint64_t> parse_size(const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || value > (uint64_t{1} << 40)) return std::nullopt;
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (unit.empty()) return value;
  if (unit == "K") return value << 10;
  if (unit == "M") return value << 20;
  return std::nullopt;
}

CacheGeometry* find_level(MachineModel& machine, const std::string& level,
                          const std::string& type) {
  if (level == "1") return type == "Instruction" ? &machine.l1i : &machine.l1d;
  if (level == "2") return &machine.l2;
  if (level == "3") return &machine.l3;
  return nullptr;
}

/// Reads one index folder. Whether it described a level of `machine`.
bool read_level(const std::string& folder, MachineModel& machine) {
  const std::string type = read_word(folder + "/type");
  CacheGeometry* cache = find_level(machine, read_word(folder + "/level"), type);
  const std::optional<uint64_t> size = parse_size(read_word(folder + "/size"));
  const std::optional<uint64_t> line = parse_size(read_word(folder + "/coherency_line_size"));
  const std::optional<uint64_t> ways = parse_size(read_word(folder + "/ways_of_associativity"));
  if (cache == nullptr || !size || !line || *line == 0 || *line > 128) return false;
  cache->size_bytes = *size;
  // 0: fully associative, which is more ways than we have; 16 behave like it.
  cache->ways = !ways || *ways == 0 || *ways > 64 ? 16 : static_cast<uint32_t>(*ways);
  machine.line_bytes = static_cast<uint32_t>(*line);
  if (type == "Unified" && cache == &machine.l1d) machine.l1i = machine.l1d;
  return true;
}

}  // namespace

Result<MachineModel> read_host_machine(const std::string& sysfs_root, const MachineModel& rest) {
  const std::string folder = sysfs_root + "/devices/system/cpu/cpu0/cache";
  MachineModel machine = rest;
  machine.name = "host";
  machine.l2.size_bytes = 0;
  machine.l3.size_bytes = 0;
  bool found = false;
  for (int index = 0; index < 10; ++index) {
    found |= read_level(fmt::format("{}/index{}", folder, index), machine);
  }
  if (!found) {
    return Error{
        fmt::format("{} does not describe this machine's caches: name a machine file", folder),
        ErrorKind::not_found};
  }
  if (Result<void> checked = check_machine(machine); !checked) {
    return Error{fmt::format("{}: {}: name a machine file", folder, checked.error().message)};
  }
  return machine;
}

}  // namespace culprit::simulate
