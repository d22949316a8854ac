#include "events/event_list.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "events/cpu_tables.h"
#include "events/generic_events.h"
#include "events/pfm_events.h"

namespace culprit {
namespace {

/// What -e NAME stands for here; nothing if it stands for several things or none.
std::optional<EventRequest> request_for(const std::string& name, const PmuCatalog& catalog) {
  const Result<std::vector<EventGroup>> groups = parse_events(std::span(&name, 1), catalog);
  if (!groups || groups->empty()) return std::nullopt;
  return groups->front().members.front();  // on hybrid CPUs: on the first kind of core
}

ListedEvent listed(std::string name, const PmuCatalog& catalog) {
  ListedEvent event;
  event.request = request_for(name, catalog);
  event.name = std::move(name);
  if (event.request) event.codes.push_back(event.request->config);
  return event;
}

void add_generic(GenericKind kind, EventList list, const PmuCatalog& catalog,
                 std::vector<EventList>& out) {
  for (const GenericEvent& generic : list_generic_events()) {
    if (generic.kind != kind) continue;
    list.events.push_back(listed(std::string(generic.name), catalog));
    list.events.back().alias = generic.alias;
    list.events.back().description = generic.description;
  }
  out.push_back(std::move(list));
}

void add_caches(const PmuCatalog& catalog, std::vector<EventList>& out) {
  EventList list{.pmu = "cache",
                 .description =
                     "caches, TLBs and branch predictors by the kernel's "
                     "names",
                 .source = "kernel",
                 .events = {}};
  for (const CacheEventName& cache : list_cache_events()) {
    list.events.push_back(listed(cache.name, catalog));
  }
  out.push_back(std::move(list));
}

/// "terms event, umask; counts a package or other part, not a task".
std::string describe_pmu(const Pmu& pmu) {
  std::string text = pmu.formats.empty() ? "" : "terms";
  for (const auto& [term, format] : pmu.formats) {
    text += (text == "terms" ? " " : ", ") + term;
  }
  if (!pmu.is_per_cpu_only) return text;
  return text + (text.empty() ? "" : "; ") + "counts a package or other part, not a task";
}

void add_sysfs(const PmuCatalog& catalog, std::vector<EventList>& out) {
  for (const Pmu& pmu : catalog.pmus) {
    if (pmu.events.empty()) continue;
    EventList list{
        .pmu = pmu.name, .description = describe_pmu(pmu), .source = "sysfs", .events = {}};
    for (const auto& [name, named] : pmu.events) {
      ListedEvent event = listed(fmt::format("{}/{}/", pmu.name, name), catalog);
      event.description = named.terms + (named.unit.empty() ? "" : " [" + named.unit + "]");
      list.events.push_back(std::move(event));
    }
    out.push_back(std::move(list));
  }
}

void add_tracepoints(const PmuCatalog& catalog, std::vector<EventList>& out) {
  if (!catalog.list_tracepoints) return;
  EventList list{.pmu = "tracepoint",
                 .description = "places in the kernel",
                 .source = "tracefs",
                 .events = {}};
  for (std::string& name : catalog.list_tracepoints()) {
    ListedEvent event;
    event.name = std::move(name);
    list.events.push_back(std::move(event));
  }
  if (!list.events.empty()) out.push_back(std::move(list));
}

EventList list_pfm(const PfmPmu& pmu) {
  EventList list{
      .pmu = pmu.name, .description = pmu.description, .source = "libpfm4", .events = {}};
  for (PfmEvent& event : list_pfm_events(pmu.name)) {
    ListedEvent entry;
    entry.name = std::move(event.name);
    entry.description = std::move(event.description);
    entry.codes = std::move(event.codes);
    list.events.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::vector<EventList> list_events_here(const PmuCatalog& catalog) {
  std::vector<EventList> lists;
  add_generic(GenericKind::hardware,
              {.pmu = "hardware",
               .description = "what most CPUs count, by the kernel's names",
               .source = "kernel",
               .events = {}},
              catalog, lists);
  add_caches(catalog, lists);
  add_generic(GenericKind::software,
              {.pmu = "software",
               .description = "what the kernel counts itself",
               .source = "kernel",
               .events = {}},
              catalog, lists);
  add_sysfs(catalog, lists);
  if (catalog.is_this_machine) {
    for (const PfmPmu& pmu : list_pfm_pmus()) {
      if (!pmu.is_present) continue;
      EventList list = list_pfm(pmu);
      for (ListedEvent& event : list.events) {
        if (!event.codes.empty()) event.request = request_for(event.name, catalog);
      }
      lists.push_back(std::move(list));
    }
  }
  add_tracepoints(catalog, lists);
  return lists;
}

Result<EventList> list_events_of(const std::string& cpu) {
  for (const PfmPmu& pmu : list_pfm_pmus()) {
    if (is_same_word(pmu.name, cpu)) return list_pfm(pmu);
  }
  const CpuTable* table = find_cpu_table(cpu);
  if (table == nullptr) return encode_for(cpu, "any").error();  // says which are near
  EventList list{.pmu = std::string(table->name),
                 .description = std::string(table->description),
                 .source = std::string(table->source),
                 .events = {}};
  for (const CpuEvent& event : table->events) {
    ListedEvent entry;
    entry.name = event.name;
    entry.codes.push_back(event.config);
    list.events.push_back(std::move(entry));
  }
  return list;
}

std::vector<KnownCpu> list_cpus() {
  std::vector<KnownCpu> cpus;
  for (const PfmPmu& pmu : list_pfm_pmus()) {
    cpus.push_back({pmu.name, pmu.description, pmu.event_count, pmu.is_present});
  }
  for (const CpuTable& table : cpu_tables()) {
    const bool is_known = std::any_of(cpus.begin(), cpus.end(),
                                      [&](const KnownCpu& cpu) { return cpu.name == table.name; });
    if (is_known) continue;
    cpus.push_back(
        {std::string(table.name), std::string(table.description), table.events.size(), false});
  }
  return cpus;
}

bool is_meant(const EventList& list, const ListedEvent& event, const std::string& pattern) {
  if (pattern.empty()) return true;
  const std::string wanted = to_lower(pattern);
  const std::string name = to_lower(event.name);
  if (wanted.find_first_of("*?[") == std::string::npos) {
    return name.find(wanted) != std::string::npos || is_same_word(list.pmu, wanted) ||
           to_lower(event.alias).find(wanted) != std::string::npos;
  }
  return matches_pattern(name, wanted) || matches_pattern(to_lower(event.alias), wanted) ||
         matches_pattern(to_lower(list.pmu) + "::" + name, wanted);
}

}  // namespace culprit
