#pragma once

// TopTerminal: a whole screen of a terminal, by ncurses: lines go there, keys come from it. It is
// given back as it was when the object goes.

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "top/top_screen.h"
#include "top/top_view.h"

namespace culprit {

class TopTerminal {
 public:
  /// `descriptor`: of the terminal. One at a time.
  /// Errors: it is no terminal; TERM names none that ncurses knows
  static Result<TopTerminal> open(int descriptor);
  TopTerminal(TopTerminal&&) noexcept;
  TopTerminal& operator=(TopTerminal&&) noexcept;
  ~TopTerminal();

  [[nodiscard]] size_t width() const;
  [[nodiscard]] size_t height() const;
  void draw(const std::vector<ScreenLine>& lines);
  /// The next key; none: nothing was pressed within `timeout_ms`.
  TopKey wait(int timeout_ms);

 private:
  struct State;
  explicit TopTerminal(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace culprit
