// `culprit events`: what can be counted here, what cannot and why, what other CPUs count,
// and what an event is in the kernel's terms.
//
//   software        what the kernel counts itself (kernel)
//     yes  cpu-clock                 config=0x0     time of a CPU

#include <algorithm>
#include <fmt/format.h>

#include "events/event_list.h"
#include "events/event_request.h"
#include <nlohmann/json.hpp>

#include "base/names.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/event_text.h"
#include "cli/terminal.h"
#include "collect/event_trial.h"

namespace culprit {

namespace {

using Json = nlohmann::ordered_json;

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

/// An event of a list, and whether it can be counted here.
struct TriedEvent {
  ListedEvent event;
  bool is_tried = false;
  std::string reason;  // why not; "" if it can be counted
};

struct TriedList {
  EventList about;  // without its events
  std::vector<TriedEvent> events;

  /// Why none of them can be counted, if all have the same reason.
  [[nodiscard]] std::string common_reason() const {
    for (const TriedEvent& tried : events) {
      if (tried.reason != events.front().reason) return "";
    }
    return events.front().reason;
  }
};

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

std::string codes_of(const ListedEvent& event) {
  std::vector<std::string> words;
  for (const uint64_t code : event.codes) words.push_back(hex_code(code));
  return fmt::format("{}", fmt::join(words, " "));
}

/// "  yes  cycles  0x0  cycles of the core": answers only where they differ.
std::string print_events(const TriedList& list, bool has_answers, const TextStyle& style) {
  constexpr size_t kMostNameColumns = 48;
  constexpr size_t kLeastRoom = 30;
  size_t name_columns = 0;
  size_t code_columns = 0;
  for (const TriedEvent& tried : list.events) {
    name_columns = std::max(name_columns, std::min(tried.event.name.size(), kMostNameColumns));
    code_columns = std::max(code_columns, codes_of(tried.event).size());
  }
  const size_t full_indent = 6 + name_columns + code_columns + (has_answers ? 5 : 0);
  const size_t indent = std::min(full_indent, style.width - kLeastRoom);
  std::string text;
  for (const TriedEvent& tried : list.events) {
    std::string about = tried.event.description;
    if (!tried.event.alias.empty()) about = fmt::format("(or {}) {}", tried.event.alias, about);
    const char* answer = !tried.is_tried ? "?" : tried.reason.empty() ? "yes" : "no";
    std::string line = "  " + (has_answers ? fmt::format("{:<5}", answer) : "");
    line += fmt::format("{:<{}}  {:<{}}  {}", printable(tried.event.name), name_columns,
                        codes_of(tried.event), code_columns, printable(about));
    line.erase(line.find_last_not_of(' ') + 1);
    text += wrap(line, style.width, indent) + "\n";
    if (has_answers && !tried.reason.empty()) {
      text +=
          fmt::format("       {}\n", printable(tried.reason.substr(0, tried.reason.find('\n'))));
    }
  }
  return text;
}

/// A heading, then its events; or of a long list how to see them.
std::string print_list(const TriedList& list, bool is_short, const TextStyle& style) {
  const std::string reason = list.common_reason();
  const std::string about = list.about.description.empty() ? "" : list.about.description + ", ";
  std::string text = fmt::format("{}: {}{} event{}, named by {}\n", printable(list.about.pmu),
                                 printable(about), list.events.size(),
                                 list.events.size() == 1 ? "" : "s", printable(list.about.source));
  if (!reason.empty()) {
    std::string opening = "not counted here: ";
    for (const std::string_view line : split(reason, '\n')) {
      const size_t indent = line.starts_with("->") ? 3 : 0;
      text += "  " + wrap(opening + printable(line), style.width - 2, indent + 2) + "\n";
      opening.clear();
    }
  }
  if (is_short) return text + fmt::format("  culprit events '{}::*' lists them\n", list.about.pmu);
  const bool is_tried = std::any_of(list.events.begin(), list.events.end(),
                                    [](const TriedEvent& tried) { return tried.is_tried; });
  return text + print_events(list, is_tried && reason.empty(), style);
}

std::string print_lists(const std::vector<TriedList>& lists, const EventsCommand& command) {
  constexpr size_t kShortList = 100;
  const TextStyle style = standard_output_style(0);
  const bool is_overview = command.pattern.empty() && command.cpu.empty();
  std::string text;
  for (const TriedList& list : lists) {
    const bool is_short = is_overview && list.events.size() > kShortList;
    text += (text.empty() ? "" : "\n") + print_list(list, is_short, style);
  }
  if (!is_overview) return text;
  return text +
         "\nAlso: raw codes (r1c0, PMU/event=0xc0,umask=1/), breakpoints (mem:ADDRESS:rw)\n"
         "Next  culprit events --cpu '*'   CPUs whose events are known\n";
}

Json json_of(const TriedList& list) {
  Json json{{"name", printable(list.about.pmu)},
            {"description", printable(list.about.description)},
            {"source", printable(list.about.source)}};
  json["events"] = Json::array();
  for (const TriedEvent& tried : list.events) {
    Json codes = Json::array();
    for (const uint64_t code : tried.event.codes) codes.push_back(hex_code(code));
    json["events"].push_back({{"name", printable(tried.event.name)},
                              {"alias", tried.event.alias},
                              {"description", printable(tried.event.description)},
                              {"codes", std::move(codes)},
                              {"usable", tried.is_tried ? Json(tried.reason.empty()) : Json()},
                              {"reason", printable(tried.reason)}});
  }
  return json;
}

std::string print_cpus(const std::string& pattern, Format format) {
  Json json{{"schema", "culprit-events-1"}};
  json["cpus"] = Json::array();
  std::string text;
  for (const KnownCpu& cpu : list_cpus()) {
    if (!matches_pattern(cpu.name, pattern)) continue;
    json["cpus"].push_back({{"name", cpu.name},
                            {"description", cpu.description},
                            {"events", cpu.event_count},
                            {"is_here", cpu.is_here}});
    text += fmt::format("{:<24}  {:>4} events  {}{}\n", cpu.name, cpu.event_count, cpu.description,
                        cpu.is_here ? " (this machine)" : "");
  }
  return format == Format::json ? json.dump(1) + "\n" : text;
}

Result<std::string> answer(const EventsCommand& command) {
  if (command.cpu.find_first_of("*?[") != std::string::npos) {
    return print_cpus(command.cpu, command.format);
  }
  if (!command.events.empty()) {
    ASSIGN_OR_RETURN(const std::vector<EventGroup> groups, encode(command));
    return print_event_groups(groups, command.format);
  }
  ASSIGN_OR_RETURN(const std::vector<TriedList> lists, find_lists(command));
  if (command.format != Format::json) return print_lists(lists, command);
  Json json{{"schema", "culprit-events-1"}};
  json["pmus"] = Json::array();
  for (const TriedList& list : lists) json["pmus"].push_back(json_of(list));
  return json.dump(1) + "\n";
}

}  // namespace

int run_events(const EventsCommand& command) {
  const Result<std::string> text = answer(command);
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
