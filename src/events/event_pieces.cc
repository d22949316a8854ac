#include "events/event_pieces.h"

#include <fmt/format.h>

#include "base/text.h"

namespace culprit {

Error wrong_event(const EventWords& event, const std::string& what) {
  return Error{fmt::format("event '{}': {}", printable(event.text), what)};
}

std::string join_words(const std::vector<std::string>& words, size_t count) {
  return fmt::format("{}", fmt::join(words.begin(), words.begin() + static_cast<long>(count), ":"));
}

Result<FoundEvent> with_modifiers(const EventWords& event, size_t name_words,
                                  std::vector<EventRequest> requests) {
  if (event.words.size() > name_words + 1) {
    return wrong_event(event, fmt::format("'{}' cannot follow the modifiers",
                                          printable(event.words[name_words + 1])));
  }
  std::string modifiers;
  if (event.words.size() > name_words) {
    modifiers = event.words[name_words];
    if (modifiers.empty()) return wrong_event(event, "modifiers are missing after the colon");
  }
  return FoundEvent{std::move(requests), std::move(modifiers)};
}

}  // namespace culprit
