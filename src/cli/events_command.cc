// `culprit events`: what can be counted here, what cannot and why, what other CPUs count,
// and what an event is in the kernel's terms.
//
//   software        what the kernel counts itself (kernel)
//     yes  cpu-clock                 config=0x0     time of a CPU

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "collect/perf/event_trial.h"
#include "events/event_list.h"
#include "events/event_request.h"
#include "events/event_text.h"

namespace culprit {

namespace {

Result<std::vector<EventGroup>> encode(const EventsCommand& command) {
  if (command.cpu.empty()) {
    ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
    return parse_events(command.events, catalog);
  }
  std::vector<EventGroup> groups;
  for (const std::string& name : command.events) {
    ASSIGN_OR_RETURN(EventRequest request, encode_for(command.cpu, name));
    groups.push_back({{std::move(request)}});
  }
  return groups;
}

/// Those that are meant, tried.
TriedList try_list(EventList list, const std::string& pattern, EventTrials& trials) {
  TriedList out;
  for (ListedEvent& event : list.events) {
    if (!is_meant(list, event, pattern)) continue;
    TriedEvent tried;
    tried.is_tried = event.request.has_value();
    if (tried.is_tried) tried.reason = trials.try_event(*event.request);
    tried.event = std::move(event);
    out.events.push_back(std::move(tried));
  }
  list.events.clear();
  out.about = std::move(list);
  return out;
}

Result<std::vector<TriedList>> find_lists(const EventsCommand& command) {
  std::vector<EventList> lists;
  if (command.cpu.empty()) {
    ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
    lists = list_events_here(catalog);
  } else {
    ASSIGN_OR_RETURN(EventList list, list_events_of(command.cpu));
    lists.push_back(std::move(list));
  }
  EventTrials trials;
  std::vector<TriedList> out;
  for (EventList& list : lists) {
    TriedList tried = try_list(std::move(list), command.pattern, trials);
    if (!tried.events.empty()) out.push_back(std::move(tried));
  }
  if (out.empty()) {
    return Error{fmt::format("no event is like '{}'{}", printable(command.pattern),
                             command.cpu.empty() ? " on this machine; --cpu NAME looks at others"
                                                 : " on " + printable(command.cpu))};
  }
  return out;
}

Result<std::string> answer(const EventsCommand& command) {
  if (command.cpu.find_first_of("*?[") != std::string::npos) {
    return print_known_cpus(command.cpu, command.format);
  }
  if (!command.events.empty()) {
    ASSIGN_OR_RETURN(const std::vector<EventGroup> groups, encode(command));
    return print_event_groups(groups, command.format);
  }
  ASSIGN_OR_RETURN(const std::vector<TriedList> lists, find_lists(command));
  const bool is_overview = command.pattern.empty() && command.cpu.empty();
  return print_event_lists(lists, is_overview, command.format, standard_output_style(0));
}

}  // namespace

int run(const EventsCommand& command) {
  const Result<std::string> text = answer(command);
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
