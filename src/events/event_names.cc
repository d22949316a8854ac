#include "events/event_names.h"

#include <algorithm>
#include <fmt/format.h>

#include "events/cpu_tables.h"
#include "events/generic_events.h"
#include "events/pfm_events.h"

#include "base/text.h"

namespace culprit {
namespace {

constexpr size_t kLongestWord = 96;  // edit distance takes time by the square
constexpr size_t kMostNames = 3;

std::string lower(std::string text) {
  for (char& c : text) c = c == '.' ? ':' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

/// Candidates nearest first, compared without case.
std::vector<std::string> nearest_names(const std::string& typed,
                                       const std::vector<std::string>& candidates) {
  const std::string word = lower(typed.substr(0, kLongestWord));
  std::vector<std::string> left;
  for (const std::string& name : candidates) left.push_back(lower(name));
  std::vector<std::string> names;
  while (names.size() < kMostNames) {
    const std::string nearest = nearest_word(word, left);
    if (nearest.empty()) break;
    const auto at = std::find(left.begin(), left.end(), nearest);
    const std::string& name = candidates.at(static_cast<size_t>(at - left.begin()));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    *at = std::string(4 * kLongestWord, '\0');  // far from any word
  }
  return names;
}

std::string did_you_mean(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return fmt::format("\ndid you mean {}?", printable(fmt::format("{}", fmt::join(names, " or "))));
}

/// What can be typed on this machine.
std::vector<std::string> names_here(const PmuCatalog& catalog) {
  std::vector<std::string> names;
  for (const GenericEvent& event : list_generic_events()) {
    names.emplace_back(event.name);
    if (!event.alias.empty()) names.emplace_back(event.alias);
  }
  for (const CacheEventName& event : list_cache_events()) names.push_back(event.name);
  for (const Pmu& pmu : catalog.pmus) {
    for (const auto& [name, event] : pmu.events) names.push_back(name);
  }
  if (!catalog.is_this_machine) return names;
  for (const PfmPmu& pmu : list_pfm_pmus()) {
    if (!pmu.is_present) continue;
    for (std::string& name : list_pfm_event_names(pmu.name)) names.push_back(std::move(name));
  }
  return names;
}

/// PMUs elsewhere with an event of exactly this name: "skx, icx".
std::string find_elsewhere(const std::string& typed) {
  const std::string word = lower(typed);
  std::vector<std::string> pmus;
  for (const PfmPmu& pmu : list_pfm_pmus()) {
    if (!pmu.is_core || pmu.is_present) continue;
    for (const std::string& name : list_pfm_event_names(pmu.name)) {
      const std::string known = lower(name);
      if (known == word || known.starts_with(word + ":")) {
        pmus.push_back(pmu.name);
        break;
      }
    }
  }
  for (const CpuTable& table : cpu_tables()) {
    if (find_cpu_event(table, typed) != nullptr) pmus.emplace_back(table.name);
  }
  if (pmus.empty()) return "";
  const bool is_long = pmus.size() > kMostNames;
  if (is_long) pmus.resize(kMostNames);
  return fmt::format("{}{}", fmt::join(pmus, ", "), is_long ? ", …" : "");
}

}  // namespace

std::string suggest_events(const std::string& typed, const PmuCatalog& catalog) {
  for (const Pmu& pmu : catalog.pmus) {
    if (pmu.events.contains(typed)) return fmt::format("\ndid you mean {}/{}/?", pmu.name, typed);
  }
  const std::string elsewhere = typed.size() > kLongestWord ? "" : find_elsewhere(typed);
  std::string text = did_you_mean(nearest_names(typed, names_here(catalog)));
  if (!elsewhere.empty()) {
    text += fmt::format("\nthere is an event of this name on other CPUs: {}", elsewhere);
  }
  return text;
}

std::string suggest_events_of(const std::string& cpu, const std::string& typed) {
  std::vector<std::string> names = list_pfm_event_names(cpu);
  if (const CpuTable* table = find_cpu_table(cpu)) {
    for (const CpuEvent& event : table->events) names.emplace_back(event.name);
  }
  return did_you_mean(nearest_names(typed, names));
}

std::string suggest_cpus(const std::string& typed) {
  std::vector<std::string> names;
  for (const PfmPmu& pmu : list_pfm_pmus()) names.push_back(pmu.name);
  for (const CpuTable& table : cpu_tables()) names.emplace_back(table.name);
  return did_you_mean(nearest_names(typed, names));
}

}  // namespace culprit
