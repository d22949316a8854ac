#include "events/event_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/text.h"
#include "events/cpu_tables.h"
#include "events/generic_events.h"
#include "events/pfm_events.h"

namespace culprit {
namespace {

constexpr size_t kLongestWord = 96;  // edit distance takes time by the square
constexpr size_t kMostNames = 3;

/// The form in which names are compared: without case, makers' dots as libpfm4's colons.
std::string comparable(std::string_view name) {
  std::string text = to_lower(name);
  std::replace(text.begin(), text.end(), '.', ':');
  return text;
}

/// Candidates nearest first, compared without case.
std::vector<std::string> nearest_names(const std::string& typed,
                                       const std::vector<std::string>& candidates) {
  const std::string word = comparable(typed.substr(0, kLongestWord));
  std::vector<std::string> left;  // not so much shorter or longer that they cannot be near
  std::vector<const std::string*> originals;
  for (const std::string& name : candidates) {
    const size_t difference =
        std::max(name.size(), word.size()) - std::min(name.size(), word.size());
    if (difference > word.size() / 2) continue;
    left.push_back(comparable(name));
    originals.push_back(&name);
  }
  std::vector<std::string> names;
  while (names.size() < kMostNames) {
    const std::string nearest = nearest_word(word, left);
    if (nearest.empty()) break;
    const size_t at =
        static_cast<size_t>(std::find(left.begin(), left.end(), nearest) - left.begin());
    const std::string& name = *originals.at(at);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    left.erase(left.begin() + static_cast<long>(at));
    originals.erase(originals.begin() + static_cast<long>(at));
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

/// Every event, and event with unit mask, of CPUs that are not here, in lower case → their PMUs.
const std::map<std::string, std::vector<std::string>>& names_elsewhere() {
  static const auto names = [] {
    std::map<std::string, std::vector<std::string>> found;
    const auto add = [&](const std::string& name, std::string_view pmu) {
      std::vector<std::string>& pmus = found[name];
      if (pmus.empty() || pmus.back() != pmu) pmus.emplace_back(pmu);
    };
    for (const PfmPmu& pmu : list_pfm_pmus()) {
      if (!pmu.is_core || pmu.is_present) continue;
      for (const std::string& listed : list_pfm_event_names(pmu.name)) {
        const std::string name = comparable(listed);
        add(name, pmu.name);
        add(name.substr(0, name.find(':')), pmu.name);
      }
    }
    for (const CpuTable& table : cpu_tables()) {
      for (const CpuEvent& event : table.events) add(comparable(event.name), table.name);
    }
    return found;
  }();
  return names;
}

/// PMUs elsewhere with an event of exactly this name: "skx, icx, …".
std::string find_elsewhere(const std::string& typed) {
  const auto found = names_elsewhere().find(comparable(typed));
  if (found == names_elsewhere().end()) return "";
  std::vector<std::string> pmus = found->second;
  const bool is_long = pmus.size() > kMostNames;
  if (is_long) pmus.resize(kMostNames);
  return fmt::format("{}{}", fmt::join(pmus, ", "), is_long ? ", …" : "");
}

}  // namespace

std::string suggest_events(const std::string& typed, const PmuCatalog& catalog) {
  for (const Pmu& pmu : catalog.pmus) {
    if (pmu.events.contains(typed)) return fmt::format("\ndid you mean {}/{}/?", pmu.name, typed);
  }
  const std::string elsewhere = find_elsewhere(typed);
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
