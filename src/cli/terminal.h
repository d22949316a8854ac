#pragma once

// What a person sees besides results: messages and the progress line on stderr,
// and how wide and colourful standard output may be.

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text_style.h"

namespace culprit {

/// "culprit: MESSAGE" on stderr; further lines are indented under it.
void print_message(std::string_view message);

/// Prints an error like that; returns `status` for the caller to pass on.
int fail(const Error& error, int status = 1);

/// `requested_width` 0: the terminal's own, 80 where there is none. `file`: the profile that the
/// text is of, as the user named it.
TextStyle standard_output_style(size_t requested_width, const std::string& file = "");

/// Writes all of `text` to standard output; a full disk or closed pipe is an error.
Result<void> write_output(std::string_view text);

/// Writes it through a pager where a terminal has fewer lines: that of CULPRIT_PAGER or PAGER (""
/// or cat: none), else less, if it is there.
Result<void> write_paged(std::string_view text);

/// One line on stderr that is redrawn in place; silent unless stderr is a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);
  void clear();
  [[nodiscard]] bool is_on_terminal() const { return enabled_; }

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace culprit
