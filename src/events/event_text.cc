#include "events/event_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include <nlohmann/json.hpp>

namespace culprit {

namespace {

using Json = nlohmann::ordered_json;

/// A raw event as perf and the makers write it: "0x1b7".
std::string hex_code(uint64_t code) {
  return fmt::format("{:#x}", code);
}

Json json_of(const EventRequest& event) {
  Json json{{"name", printable(event.name)},
            {"pmu", printable(event.pmu)},
            {"type", event.type},
            {"config", hex_code(event.config)},
            {"config1", hex_code(event.config1)},
            {"config2", hex_code(event.config2)},
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
                                 printable(event.pmu), event.type, hex_code(event.config));
  if (event.config1 != 0) text += " config1=" + hex_code(event.config1);
  if (event.config2 != 0) text += " config2=" + hex_code(event.config2);
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

std::string print_lists(const std::vector<TriedList>& lists, bool is_overview,
                        const TextStyle& style) {
  constexpr size_t kShortList = 100;
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

}  // namespace

std::string TriedList::common_reason() const {
  for (const TriedEvent& tried : events) {
    if (tried.reason != events.front().reason) return "";
  }
  return events.front().reason;
}

std::string print_event_lists(const std::vector<TriedList>& lists, bool is_overview, Format format,
                              const TextStyle& style) {
  if (format != Format::json) return print_lists(lists, is_overview, style);
  Json json{{"schema", "culprit-events-1"}};
  json["pmus"] = Json::array();
  for (const TriedList& list : lists) json["pmus"].push_back(json_of(list));
  return json.dump(1) + "\n";
}

std::string print_known_cpus(const std::string& pattern, Format format) {
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

std::string print_event_groups(std::span<const EventGroup> groups, Format format) {
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

}  // namespace culprit
