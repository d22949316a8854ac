#include "base/cpuid.h"

#include <fmt/format.h>
#include <optional>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit {
namespace {

std::string x86_name(std::string_view vendor, uint64_t family, uint64_t model, uint64_t stepping) {
  return fmt::format("{}-{}-{:X}-{:X}", vendor, family, model, stepping);
}

/// Variant (bits 20 to 23) and revision (0 to 3) say which repair of a core it is.
std::string arm_name(uint64_t midr) {
  constexpr uint64_t kRepairs = 0xf0000f;
  return fmt::format("{:#018x}", midr & ~kRepairs);
}

std::optional<std::string> find_x86(std::string_view cpuinfo) {
  const std::string_view vendor = find_cpuinfo(cpuinfo, "vendor_id");
  const auto family = find_number(find_cpuinfo(cpuinfo, "cpu family"), 10);
  const auto model = find_number(find_cpuinfo(cpuinfo, "model"), 10);
  const auto stepping = find_number(find_cpuinfo(cpuinfo, "stepping"), 10);
  if (vendor.empty() || !family || !model || !stepping) return std::nullopt;
  return x86_name(vendor, *family, *model, *stepping);
}

/// "revision : 2.3 (pvr 004e 1203)"
std::optional<std::string> find_power(std::string_view cpuinfo) {
  constexpr std::string_view kMark = "(pvr ";
  const std::string_view revision = find_cpuinfo(cpuinfo, "revision");
  const size_t at = revision.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  const auto words = split(revision.substr(at + kMark.size()), ' ');
  if (words.size() != 2 || words[0].size() != 4 || words[1].size() < 4) return std::nullopt;
  return fmt::format("{}{}", words[0], words[1].substr(0, 4));
}

std::optional<std::string> find_arm(const std::string& root) {
  for (const char* cpu : {"cpu0", "cpu1"}) {
    const Result<std::string> text = read_file(
        fmt::format("{}/sys/devices/system/cpu/{}/regs/identification/midr_el1", root, cpu), 4096);
    if (!text || !trim(*text).starts_with("0x")) continue;
    if (const auto midr = find_number(trim(*text).substr(2), 16)) return arm_name(*midr);
  }
  return std::nullopt;
}

}  // namespace

std::string_view find_cpuinfo(std::string_view cpuinfo, std::string_view key) {
  for (const std::string_view line : split(cpuinfo, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || trim(line.substr(0, colon)) != key) continue;
    return trim(line.substr(colon + 1));
  }
  return {};
}

Result<std::string> read_cpuid(const std::string& root) {
  if (const auto name = find_arm(root)) return *name;
  constexpr uint64_t kMostBytes = 16 << 20;
  ASSIGN_OR_RETURN(const std::string cpuinfo, read_file(root + "/proc/cpuinfo", kMostBytes));
  if (const auto name = find_x86(cpuinfo)) return *name;
  if (const auto name = find_power(cpuinfo)) return *name;
  return Error{"this machine does not say which CPU it has (/proc/cpuinfo, midr_el1)"};
}

std::string normalize_cpuid(std::string_view text) {
  const std::string_view given = trim(text);
  const std::vector<std::string_view> words = split(given, ',');
  std::vector<uint64_t> numbers;
  for (const std::string_view word : words) {
    if (const auto number = find_number(word, 10)) numbers.push_back(*number);
  }
  if (words.size() == 4 && numbers.size() == 3 && !words[0].empty()) {
    return x86_name(words[0], numbers[0], numbers[1], numbers[2]);
  }
  if (words.size() == 2 && numbers.size() == 2) {
    return fmt::format("{:04x}{:04x}", numbers[0], numbers[1]);
  }
  if (given.starts_with("0x")) {
    if (const auto midr = find_number(given.substr(2), 16)) return arm_name(*midr);
  }
  return std::string(given);
}

bool matches_cpuid(const std::string& cpuid, const std::string& pattern) {
  return matches_pattern(cpuid, pattern) || matches_pattern(cpuid, pattern + "-*");
}

}  // namespace culprit
