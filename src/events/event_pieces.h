#pragma once

// What the lookups share: errors that name the event, and the words after its name.

#include <string>
#include <vector>

#include "events/event_lookup.h"

namespace culprit {

/// "event 'cycels': WHAT".
Error wrong_event(const EventWords& event, const std::string& what);

/// The first `count` words, with their colons.
std::string join_words(const std::vector<std::string>& words, size_t count);

/// The words after the name, which must be modifiers (one word of them).
Result<FoundEvent> with_modifiers(const EventWords& event, size_t name_words,
                                  std::vector<EventRequest> requests);

}  // namespace culprit
