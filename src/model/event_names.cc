#include "model/event_names.h"

#include <algorithm>

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
