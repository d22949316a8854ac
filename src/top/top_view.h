#pragma once

// TopView: what somebody who watches has chosen, and what each key does to it.
//
//     processes ──enter──→ its functions ──enter──→ its instructions
//         ↑ f: functions of everything                     esc: back

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "top/top_table.h"

namespace culprit {

enum class TopKey : uint8_t {
  none,   // nothing was pressed
  other,  // it means nothing
  up,
  down,
  page_up,
  page_down,
  first,
  last,
  enter,
  back,
  processes,
  functions,
  sort,
  window,
  pause,
  help,
  quit,
};

/// The stretches of time that key `window` goes through; 0: everything.
inline constexpr uint64_t kTopWindowsNs[] = {10'000'000'000, 60'000'000'000, 0, 2'000'000'000};

struct TopView {
  TopQuestion question;
  uint64_t window_ns = kTopWindowsNs[0];
  bool is_paused = false;
  bool shows_help = false;
  bool is_over = false;
  size_t selected = 0;              // row of the table that is shown
  size_t first = 0;                 // the topmost row on the screen
  std::vector<TopQuestion> behind;  // where `back` leads, the last one first
};

/// `table`: what is shown; `rows`: how many of its rows are on the screen at once.
/// Returns whether another table is wanted.
bool press(TopView& view, TopKey key, const TopTable& table, size_t rows);

/// Another table is shown: the same row stays selected if it is still there, and is on the screen.
void follow_selection(TopView& view, const TopTable& before, const TopTable& now, size_t rows);

}  // namespace culprit
