#include "locality/caches.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <vector>

#include "base/number.h"
#include "base/text.h"

namespace culprit {
namespace {

constexpr const char* kKeys[] = {"simulate.l1d", "simulate.l2", "simulate.l3", "simulate.l1i"};
constexpr const char* kWords[] = {"L1D", "L2", "L3", "L1I"};

std::string find_text(const Profile& profile, const char* key) {
  const auto found = profile.environment.find(key);
  return found == profile.environment.end() ? "" : found->second;
}

/// "32768/8".
std::optional<CacheSize> parse_cache(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto bytes = find_number(text.substr(0, slash), 10);
  const auto ways = find_number(text.substr(slash + 1), 10);
  if (!bytes || !ways || *ways == 0 || *ways > UINT32_MAX) return std::nullopt;
  return CacheSize{*bytes, static_cast<uint32_t>(*ways)};
}

/// "4/14/47/200". Profiles that were recorded earlier have none.
Latencies parse_latencies(const std::string& text) {
  const std::vector<std::string_view> words = split(text, '/');
  Latencies latencies{};
  if (words.size() != latencies.size()) return latencies;
  for (size_t i = 0; i < words.size(); ++i) {
    constexpr uint64_t kMost = 1'000'000;
    latencies[i] = static_cast<double>(std::min(find_number(words[i], 10).value_or(0), kMost));
  }
  return latencies;
}

std::string describe_size(uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MB", bytes >> 20);
  return fmt::format("{} kB", bytes >> 10);
}

/// "1/16,1,200000000", which a run lacks in which no sample began; groups of sets are lines of
/// equal numbers modulo the sets of the smallest level, at most kMostGroups.
SetSampling find_sampling(const Profile& profile, const Caches& caches) {
  constexpr uint64_t kMostGroups = 64;
  constexpr uint64_t kMostRandomGroups = 16;
  const std::string text = find_text(profile, "simulate.sets");
  const auto one_of =
      text.starts_with("1/") ? find_number(text.substr(2, text.find(',') - 2), 10) : std::nullopt;
  if (!one_of || *one_of < 2 || *one_of > kMostGroups) return {};
  uint64_t groups = kMostGroups;
  for (const auto& level : caches.levels) {
    if (level) groups = std::gcd(groups, level->size_bytes / level->ways / caches.line_bytes);
  }
  const uint64_t random_groups = std::clamp<uint64_t>(groups / *one_of, 2, kMostRandomGroups);
  return {static_cast<uint32_t>(*one_of), static_cast<uint32_t>(random_groups)};
}

}  // namespace

std::optional<size_t> tenure_level(CacheLevel level) {
  for (size_t i = 0; i < kTenureLevels.size(); ++i)
    if (kTenureLevels[i] == level) return i;
  return std::nullopt;
}

const char* level_word(CacheLevel level) {
  const auto at = tenure_level(level);
  return at ? kWords[*at] : "?";
}

Result<Caches> find_caches(const Profile& profile) {
  const std::string recorded = find_text(profile, "simulate.locality");
  if (recorded.empty() || profile.tenures.empty()) {
    return Error{
        "this profile has no locality: it was not recorded. What becomes of the lines in the "
        "caches is recorded by\n"
        "         culprit record --locality all PROGRAM"};
  }
  Caches caches;
  caches.machine = find_text(profile, "simulate.machine");
  caches.all_levels = recorded == "all";
  const auto line_bytes = find_number(find_text(profile, "simulate.line-bytes"), 10);
  // Spatial use is a share of this: without it nothing could be said.
  if (!line_bytes || *line_bytes == 0 || *line_bytes > 4096) {
    return Error{
        "this profile does not say how large the lines of its caches are: record it again"};
  }
  caches.line_bytes = static_cast<uint32_t>(*line_bytes);
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    caches.levels[i] = parse_cache(find_text(profile, kKeys[i]));
  }
  caches.latencies = parse_latencies(find_text(profile, "simulate.latencies"));
  caches.sampling = find_sampling(profile, caches);
  return caches;
}

std::string describe_caches(const Caches& caches) {
  std::vector<std::string> parts;
  for (size_t i = 0; i + 1 < kTenureLevels.size(); ++i) {
    if (!caches.levels[i]) continue;
    parts.push_back(fmt::format("{} {}, {} ways", kWords[i],
                                describe_size(caches.levels[i]->size_bytes),
                                caches.levels[i]->ways));
  }
  parts.push_back(fmt::format("lines of {} B", caches.line_bytes));
  return fmt::format("{}: {}", caches.machine.empty() ? "caches" : printable(caches.machine),
                     fmt::join(parts, "; "));
}

}  // namespace culprit
