#pragma once

// The grammar of -e, without knowing a single event:
//
//     cycles:u,{instructions,cpu/event=0xc0,umask=1/k}:pp
//     ~~~~~~~~  a group of two, with modifiers "pp"
//     one event, whose words are "cycles" and "u"
//
// Commas separate events except between slashes and braces. What follows the last slash,
// with or without a colon, are modifiers; without slashes the words between colons may be
// anything (modifiers, unit masks, a tracepoint's name), which event_lookup.h finds out.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit {

/// "umask=1", or a lone "any" (no value).
struct EventTerm {
  std::string key;
  std::optional<std::string> value;
};

struct EventWords {
  std::string text;                // as typed
  std::vector<std::string> words;  // between colons: {"sched", "sched_switch", "u"}
  bool has_terms = false;          // written with slashes: words has the PMU's name only
  std::vector<EventTerm> terms;
  std::string modifiers;  // after the last slash; without slashes they are among `words`
};

struct GroupWords {
  std::vector<EventWords> members;
  bool is_braced = false;
  std::string modifiers;  // after the brace
};

/// Splits each text. Pure, linear in their length.
/// Errors: unclosed or nested braces, an odd slash, an empty event, what stands after a brace;
/// more or longer events than anybody types.
Result<std::vector<GroupWords>> parse_event_syntax(std::span<const std::string> specs);

/// "123", "0x7b"; nothing else, and nothing larger than 64 bits.
std::optional<uint64_t> parse_event_number(std::string_view text);

}  // namespace culprit
