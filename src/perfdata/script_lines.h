#pragma once

// ScriptLines: a text, line by line, in bounded memory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace culprit {

class ScriptLines {
 public:
  /// `head`: what has been read of it already.
  ScriptLines(Fd fd, std::string head) : fd_(std::move(fd)), buffer_(std::move(head)) {}

  /// The next line, without its end; the view lives until the next call. nullopt: the end.
  Result<std::optional<std::string_view>> next();

  /// The beginning of what is left, as much as there is up to a block; nothing is passed over.
  Result<std::string_view> peek();

  [[nodiscard]] uint64_t consumed_bytes() const { return consumed_; }
  /// Lines longer than a megabyte, which were passed over.
  [[nodiscard]] uint64_t too_long() const { return too_long_; }

  static constexpr size_t kLongestLine = size_t{1} << 20;

 private:
  Result<bool> read_more();

  Fd fd_;
  std::string buffer_;
  size_t begin_ = 0;  // of what is left in the buffer
  uint64_t consumed_ = 0;
  uint64_t too_long_ = 0;
  bool is_at_end_ = false;
};

}  // namespace culprit
