#pragma once

// The letters after the colon, with the meaning that perf gives them:
//
//     u k h   only user, kernel, hypervisor code (all that are named)
//     G H     only guests, only the host; without either: the host alone, but with letters
//             that name neither place nor u nor p, both (as perf has it)
//     I       not while idle
//     p pp ppp  precise level 1 to 3;  P: the highest there is
//     D e     always on a counter (pinned); alone on the PMU (exclusive)
//     S       a sample reads all members of the group

#include <string_view>

#include "base/result.h"
#include "events/event_request.h"

namespace culprit {

inline constexpr std::string_view kModifierLetters = "ukhGHIpPDeS";

/// Whether `text` is not empty and has modifier letters only.
bool is_modifiers(std::string_view text);

/// Letters of an event and then those of its group: the second may add to the first.
class Modifiers {
 public:
  /// `request` is named in errors only.
  /// Errors: a letter that does not exist, or twice; more than ppp; P with p.
  Result<void> add(std::string_view letters, std::string_view request);

  /// Whether guests were named, or the host.
  [[nodiscard]] bool name_place() const { return names_place_; }

  /// Puts them into the request. D and e belong to the group's leader.
  void apply(EventRequest& request, bool is_leader) const;

 private:
  Result<void> check(std::string_view letters, std::string_view request) const;
  void add_letter(char letter);

  bool is_first_ = true;      // the event's own letters come first
  bool names_level_ = false;  // u, k or h was given
  bool names_place_ = false;  // G or H was given
  bool exclude_user_ = false;
  bool exclude_kernel_ = false;
  bool exclude_hypervisor_ = false;
  bool exclude_host_ = false;
  bool exclude_guest_ = true;
  bool exclude_idle_ = false;
  int precise_level_ = 0;
  bool precise_max_ = false;
  bool pinned_ = false;
  bool exclusive_ = false;
  bool sample_group_ = false;
};

}  // namespace culprit
