#include "model/event_names.h"

#include <algorithm>
#include <charconv>

namespace culprit {

std::vector<std::string> distinct_event_names(const Profile& profile) {
  std::vector<std::string> names;
  for (const Event& event : profile.events) {
    const std::string& plain = profile.strings.text(event.name);
    std::string name = plain;
    for (int copy = 2; std::find(names.begin(), names.end(), name) != names.end(); ++copy) {
      name = plain + "#" + std::to_string(copy);
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string format_event_code(const EventCode& code) {
  const auto hexadecimal = [](uint64_t value) {
    char digits[2 + 16] = {'0', 'x'};
    return std::string(digits, std::to_chars(digits + 2, std::end(digits), value, 16).ptr);
  };
  std::string text = "type=" + std::to_string(code.type) + ",config=" + hexadecimal(code.config);
  if (code.config1 != 0) text += ",config1=" + hexadecimal(code.config1);
  if (code.config2 != 0) text += ",config2=" + hexadecimal(code.config2);
  return text;
}

std::optional<EventCode> parse_event_code(std::string_view encoding) {
  const auto take = [&encoding](std::string_view word, auto& value, int base) {
    if (!encoding.starts_with(word)) return false;
    const char* const first = encoding.data() + word.size();
    const char* const end = encoding.data() + encoding.size();
    const auto [rest, problem] = std::from_chars(first, end, value, base);
    if (problem != std::errc()) return false;
    encoding.remove_prefix(static_cast<size_t>(rest - encoding.data()));
    return true;
  };
  EventCode code;
  if (!take("type=", code.type, 10) || !take(",config=0x", code.config, 16)) return std::nullopt;
  take(",config1=0x", code.config1, 16);
  take(",config2=0x", code.config2, 16);
  return code;
}

Unit find_sampled_unit(std::string_view event_name) {
  const auto has = [&](std::string_view word) { return event_name.find(word) != event_name.npos; };
  if (has("cpu-clock") || has("task-clock")) return Unit::ns;
  const bool is_cycles =
      event_name.starts_with("cycles") || has("cpu-cycles") || has("/cycles") || has("/cpu_cycles");
  return is_cycles ? Unit::cycles : Unit::events;
}

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::cycles:
      return "cycles";
    case Unit::ns:
      return "ns";
    case Unit::events:
      return "events";
    case Unit::bytes:
      return "bytes";
  }
  return "events";
}

}  // namespace culprit
