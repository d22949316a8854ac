#pragma once

// Counts of kernels → verdicts on events.
//
//     const FamilyVerdict verdict = judge_family(family, counts);
//
// Two lengths of a kernel are counted, of which the difference is looked at: what starting a
// program causes is in both.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/families.h"

namespace culprit {

/// An event that is validated.
struct ValidatedEvent {
  std::string event;     // as it is counted: "RETIRED_BRANCHES", "instructions"
  std::string quantity;  // what it is said to count
  // What a row of a template says, whose count x penalty is part of a branch of the tree:
  std::string branch;             // "load_latency"; "": no part
  std::optional<double> penalty;  // [cycles]
};

struct EventCount {
  std::optional<double> per_round;
  std::string reason;  // why there is none
};

/// What was counted of one family: by event, in the order of the events that are validated.
struct FamilyCounts {
  std::vector<EventCount> counts;
  std::optional<double> cycles_per_round;
};

enum class CountVerdict : uint8_t { right, wrong, open, not_counted };

struct EventVerdict {
  const ValidatedEvent* event = nullptr;
  double least = 0;  // expected, per round
  double most = 0;
  EventCount counted;
  CountVerdict verdict = CountVerdict::not_counted;
  [[nodiscard]] bool is_caused() const { return least > 0; }
};

struct FamilyVerdict {
  Family family;
  std::vector<EventVerdict> events;
  std::optional<double> cycles_per_round;
  std::optional<double> penalty;  // found: cycles of one of what it costs
  std::string twice;              // a branch that is charged more cycles than there were; "": none
  double charged_cycles = 0;      // to it, a round
};

/// Whether families say how often a quantity happens: 0 where they do not name it.
bool is_told(std::string_view quantity);

/// `events` must live as long as the verdicts.
/// Units:  counts per round
/// Errors: of an event that a kernel must not cause, 0.01 a round and one in 500 instructions are
///         allowed for: interrupts, and what shares the counter's core
std::vector<FamilyVerdict> judge_families(const std::vector<Family>& families,
                                          const std::vector<ValidatedEvent>& events,
                                          const std::vector<FamilyCounts>& counts);

/// How an event did on all families.
struct EventSummary {
  const ValidatedEvent* event = nullptr;
  size_t caused_right = 0;  // families that must cause it, and it was counted so
  size_t zero_right = 0;    // that must not, and did not
  size_t wrong = 0;
  size_t not_counted = 0;
  std::string reason;  // of the last of those
};
std::vector<EventSummary> summarize_events(const std::vector<FamilyVerdict>& verdicts);

}  // namespace culprit
