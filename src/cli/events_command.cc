// `culprit events`: what can be counted here, what cannot and why, what other CPUs count,
// and what an event is in the kernel's terms.
//
//   software        what the kernel counts itself (kernel)
//     yes  cpu-clock                 config=0x0     time of a CPU

#include <fmt/format.h>

#include "events/event_list.h"
#include "events/event_request.h"
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace culprit {

namespace {

using Json = nlohmann::ordered_json;

// ---- -e EVENT: what the kernel would be asked for ----

std::string hex(uint64_t value) {
  return fmt::format("{:#x}", value);
}

Json json_of(const EventRequest& event) {
  Json json{{"name", printable(event.name)},
            {"pmu", printable(event.pmu)},
            {"type", event.type},
            {"config", hex(event.config)},
            {"config1", hex(event.config1)},
            {"config2", hex(event.config2)},
            {"breakpoint_type", event.breakpoint_type}};
  json["exclude_user"] = event.exclude_user;
  json["exclude_kernel"] = event.exclude_kernel;
  json["exclude_hypervisor"] = event.exclude_hypervisor;
  json["exclude_host"] = event.exclude_host;
  json["exclude_guest"] = event.exclude_guest;
  json["exclude_idle"] = event.exclude_idle;
  json["precise_level"] = event.precise_level;
  json["precise_max"] = event.precise_max;
  json["pinned"] = event.pinned;
  json["exclusive"] = event.exclusive;
  json["sample_group"] = event.sample_group;
  json["period"] = event.period ? Json(*event.period) : Json();
  json["frequency_hz"] = event.frequency_hz ? Json(*event.frequency_hz) : Json();
  json["cpus"] = event.cpus;
  json["per_cpu_only"] = event.is_per_cpu_only;
  json["unit"] = printable(event.unit);
  json["scale"] = event.scale;
  json["note"] = printable(event.note);
  return json;
}

/// "user kernel" or what else is counted.
std::string describe_exclusions(const EventRequest& event) {
  std::string text;
  const auto add = [&](bool is_excluded, const char* word) {
    if (is_excluded) text += std::string(text.empty() ? "" : ",") + word;
  };
  add(event.exclude_user, "user");
  add(event.exclude_kernel, "kernel");
  add(event.exclude_hypervisor, "hypervisor");
  add(event.exclude_host, "host");
  add(event.exclude_guest, "guest");
  add(event.exclude_idle, "idle");
  return text.empty() ? "" : " exclude=" + text;
}

std::string text_of(const EventRequest& event) {
  std::string text = fmt::format("{}: pmu={} type={} config={}", printable(event.name),
                                 printable(event.pmu), event.type, hex(event.config));
  if (event.config1 != 0) text += " config1=" + hex(event.config1);
  if (event.config2 != 0) text += " config2=" + hex(event.config2);
  if (event.breakpoint_type != 0) text += fmt::format(" breakpoint_type={}", event.breakpoint_type);
  text += describe_exclusions(event);
  if (event.precise_level != 0) text += fmt::format(" precise={}", event.precise_level);
  if (event.precise_max) text += " precise=highest";
  if (event.pinned) text += " pinned";
  if (event.exclusive) text += " exclusive";
  if (event.is_per_cpu_only) text += " per-cpu-only";
  if (!event.cpus.empty()) text += fmt::format(" cpus={}", fmt::join(event.cpus, ","));
  if (!event.note.empty()) text += "\n  note: " + printable(event.note);
  return text + "\n";
}

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

std::string print_groups(const std::vector<EventGroup>& groups, Format format) {
  Json json{{"schema", "culprit-events-1"}};
  json["groups"] = Json::array();
  std::string text;
  for (const EventGroup& group : groups) {
    Json members = Json::array();
    const bool is_braced = group.members.size() > 1;
    if (is_braced) text += "group:\n";
    for (const EventRequest& event : group.members) {
      members.push_back(json_of(event));
      text += (is_braced ? "  " : "") + text_of(event);
    }
    json["groups"].push_back({{"members", std::move(members)}});
  }
  return format == Format::json ? json.dump(1) + "\n" : text;
}

// ---- Lists ----

std::string codes_of(const ListedEvent& event) {
  std::vector<std::string> words;
  for (const uint64_t code : event.codes) words.push_back(hex(code));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string print_list(const EventList& list, const TextStyle& style) {
  constexpr size_t kMostNameColumns = 48;
  size_t name_columns = 0;
  size_t code_columns = 0;
  for (const ListedEvent& event : list.events) {
    name_columns = std::max(name_columns, std::min(event.name.size(), kMostNameColumns));
    code_columns = std::max(code_columns, codes_of(event).size());
  }
  std::string text =
      fmt::format("{}  {}({})\n", list.pmu, list.description.empty() ? "" : list.description + " ",
                  list.source);
  for (const ListedEvent& event : list.events) {
    const size_t indent = 2 + name_columns + 2 + code_columns + 2;
    const size_t room = style.width > indent + 20 ? style.width - indent : 20;
    std::string about = printable(event.description);
    if (!event.alias.empty()) about = fmt::format("(or {}) {}", event.alias, about);
    text +=
        fmt::format("  {:<{}}  {:<{}}  {}\n", printable(event.name), name_columns, codes_of(event),
                    code_columns, about.size() > room ? about.substr(0, room - 2) + ".." : about);
  }
  return text;
}

Json json_of(const EventList& list) {
  Json json{{"name", printable(list.pmu)},
            {"description", printable(list.description)},
            {"source", printable(list.source)}};
  json["events"] = Json::array();
  for (const ListedEvent& event : list.events) {
    Json codes = Json::array();
    for (const uint64_t code : event.codes) codes.push_back(hex(code));
    json["events"].push_back({{"name", printable(event.name)},
                              {"alias", event.alias},
                              {"description", printable(event.description)},
                              {"codes", std::move(codes)}});
  }
  return json;
}

Result<std::vector<EventList>> find_lists(const EventsCommand& command) {
  std::vector<EventList> lists;
  if (command.cpu.empty()) {
    ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
    lists = list_events_here(catalog);
  } else {
    ASSIGN_OR_RETURN(EventList list, list_events_of(command.cpu));
    lists.push_back(std::move(list));
  }
  for (EventList& list : lists) {
    std::erase_if(list.events, [&](const ListedEvent& event) {
      return !is_meant(list, event, command.pattern);
    });
  }
  std::erase_if(lists, [](const EventList& list) { return list.events.empty(); });
  return lists;
}

}  // namespace

int run_events(const EventsCommand& command) {
  std::string text;
  if (!command.events.empty()) {
    const Result<std::vector<EventGroup>> groups = encode(command);
    if (!groups) return fail(groups.error());
    text = print_groups(*groups, command.format);
  } else {
    const Result<std::vector<EventList>> lists = find_lists(command);
    if (!lists) return fail(lists.error());
    Json json{{"schema", "culprit-events-1"}};
    json["pmus"] = Json::array();
    for (const EventList& list : *lists) {
      json["pmus"].push_back(json_of(list));
      text += print_list(list, standard_output_style(0));
    }
    if (command.format == Format::json) text = json.dump(1) + "\n";
  }
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
