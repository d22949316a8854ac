#include "cli/event_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace culprit {

namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

std::string hex_code(uint64_t code) {
  return fmt::format("{:#x}", code);
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
