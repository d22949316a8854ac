#include "events/event_request.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>

#include "base/text.h"
#include "events/event_lookup.h"
#include "events/event_modifiers.h"
#include "events/event_syntax.h"

namespace culprit {
namespace {

constexpr size_t kMostRequests = 16 * 1024;  // names that match many PMUs multiply

/// A request and the modifiers that are put into it once its place in a group is known.
struct Pending {
  EventRequest request;
  Modifiers modifiers;
  bool can_tell_guests = true;
};

/// The kernel schedules these beside events of any PMU.
bool goes_with_any(const EventRequest& request) {
  return request.pmu == "software" || request.pmu == "tracepoint" || request.pmu == "breakpoint";
}

/// PMUs of packages and the like take no exclusions: perf_event_open refuses them with any.
bool can_tell_guests(const EventRequest& request, const PmuCatalog& catalog) {
  const Pmu* pmu = catalog.find(request.pmu);
  return pmu == nullptr || pmu->is_core || goes_with_any(request);
}

/// "cycles:u" in a group with modifiers "p" is "cycles:up".
std::string name_of(const EventWords& event, const std::string& modifiers,
                    const std::string& group_modifiers) {
  if (group_modifiers.empty()) return event.text;
  if (!modifiers.empty()) return event.text + group_modifiers;
  return event.text + (event.has_terms ? "" : ":") + group_modifiers;
}

/// One member of a group on all its PMUs.
Result<std::vector<Pending>> look_up_member(const EventWords& event, const GroupWords& group,
                                            bool is_first, const PmuCatalog& catalog) {
  ASSIGN_OR_RETURN(FoundEvent found, look_up_event(event, catalog));
  Modifiers modifiers;
  RETURN_IF_ERROR(modifiers.add(found.modifiers, event.text));
  if (!is_first && found.modifiers.find_first_of("De") != std::string::npos) {
    return Error{
        fmt::format("event '{}': D and e are for the whole group; write them after its "
                    "brace or at its first event",
                    printable(event.text))};
  }
  RETURN_IF_ERROR(modifiers.add(group.modifiers, event.text));
  std::vector<Pending> out;
  for (EventRequest& request : found.requests) {
    if (request.name.empty()) request.name = name_of(event, found.modifiers, group.modifiers);
    const bool tells = can_tell_guests(request, catalog);
    out.push_back({std::move(request), modifiers, tells});
  }
  return out;
}

bool is_absent(const EventRequest& event, const PmuCatalog& catalog) {
  const Pmu* const pmu = catalog.find(event.pmu);
  if (pmu == nullptr || (event.type != pmu->type && event.type != PERF_TYPE_RAW)) return false;
  return pmu->lacks(event.config);
}

EventGroup finish(std::vector<Pending> members) {
  EventGroup group;
  for (Pending& member : members) {
    const uint8_t asked = member.request.precise_level;  // libpfm4's precise=
    member.modifiers.apply(member.request, group.members.empty());
    if (!member.can_tell_guests && !member.modifiers.name_place()) {
      member.request.exclude_guest = false;
    }
    member.request.precise_level = std::max(asked, member.request.precise_level);
    group.members.push_back(std::move(member.request));
  }
  return group;
}

std::vector<std::string> pmus_of(const std::vector<Pending>& members) {
  std::vector<std::string> pmus;
  for (const Pending& member : members) {
    const std::string& pmu = member.request.pmu;
    if (!goes_with_any(member.request) && std::find(pmus.begin(), pmus.end(), pmu) == pmus.end()) {
      pmus.push_back(pmu);
    }
  }
  return pmus;
}

/// One group per PMU; events of the kernel itself go with the first.
void add_split(std::vector<Pending> members, const std::vector<std::string>& pmus,
               std::vector<EventGroup>& out) {
  for (const std::string& pmu : pmus) {
    std::vector<Pending> part;
    for (const Pending& member : members) {
      const bool is_here =
          goes_with_any(member.request) ? pmu == pmus.front() : member.request.pmu == pmu;
      if (is_here) part.push_back(member);
    }
    out.push_back(finish(std::move(part)));
  }
}

Result<void> add_group(const GroupWords& group, const PmuCatalog& catalog,
                       std::vector<EventGroup>& out) {
  std::vector<Pending> members;
  bool is_multiplied = false;
  for (const EventWords& event : group.members) {
    ASSIGN_OR_RETURN(std::vector<Pending> found,
                     look_up_member(event, group, members.empty(), catalog));
    is_multiplied |= found.size() > 1;
    for (Pending& request : found) members.push_back(std::move(request));
    if (members.size() > kMostRequests) return Error{"too many events are asked for"};
  }
  if (!group.is_braced) {
    for (Pending& member : members) out.push_back(finish({std::move(member)}));
    return {};
  }
  const std::vector<std::string> pmus = pmus_of(members);
  const size_t first = out.size();
  if (pmus.size() < 2) {
    out.push_back(finish(std::move(members)));
  } else if (is_multiplied) {
    add_split(std::move(members), pmus, out);
  } else {
    return Error{
        fmt::format("a group counts on one PMU, and this one mixes {}: write them as "
                    "separate events or groups",
                    fmt::join(pmus, " and "))};
  }
  for (size_t i = first; i < out.size(); ++i) out[i].is_braced = true;
  return {};
}

}  // namespace

Result<std::vector<EventGroup>> parse_events(std::span<const std::string> specs,
                                             const PmuCatalog& catalog) {
  ASSIGN_OR_RETURN(const std::vector<GroupWords> groups, parse_event_syntax(specs));
  std::vector<EventGroup> out;
  for (const GroupWords& group : groups) {
    RETURN_IF_ERROR(add_group(group, catalog, out));
    if (out.size() > kMostRequests) return Error{"too many events are asked for"};
  }
  for (EventGroup& group : out) {
    for (EventRequest& event : group.members) event.is_absent = is_absent(event, catalog);
  }
  return out;
}

Result<EventRequest> encode_for(const std::string& cpu, const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<GroupWords> groups, parse_event_syntax(std::span(&name, 1)));
  if (groups.size() != 1 || groups[0].is_braced || groups[0].members[0].has_terms) {
    return Error{fmt::format("'{}' is not one event of a CPU", printable(name))};
  }
  const EventWords& event = groups[0].members[0];
  ASSIGN_OR_RETURN(FoundEvent found, look_up_foreign_event(cpu, event));
  Modifiers modifiers;
  RETURN_IF_ERROR(modifiers.add(found.modifiers, event.text));
  found.requests[0].name = event.text;
  EventGroup group = finish({{std::move(found.requests[0]), modifiers}});
  return std::move(group.members[0]);
}

}  // namespace culprit
