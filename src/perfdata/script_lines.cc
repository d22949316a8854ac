#include "perfdata/script_lines.h"

#include <cerrno>
#include <unistd.h>

namespace culprit {

/// False: nothing more comes.
Result<bool> ScriptLines::read_more() {
  constexpr size_t kChunk = size_t{1} << 16;
  if (is_at_end_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const size_t filled = buffer_.size();
  buffer_.resize(filled + kChunk);
  ssize_t got = -1;
  do {
    got = ::read(fd_.get(), buffer_.data() + filled, kChunk);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(filled + static_cast<size_t>(got < 0 ? 0 : got));
  if (got < 0) return errno_error("cannot read it", errno);
  is_at_end_ = got == 0;
  return got > 0;
}

Result<std::string_view> ScriptLines::peek() {
  constexpr size_t kBlock = size_t{1} << 16;
  while (buffer_.size() - begin_ < kBlock) {
    ASSIGN_OR_RETURN(const bool has_more, read_more());
    if (!has_more) break;
  }
  return std::string_view(buffer_).substr(begin_);
}

Result<std::optional<std::string_view>> ScriptLines::next() {
  bool is_too_long = false;
  size_t searched = 0;
  while (true) {
    const std::string_view left = std::string_view(buffer_).substr(begin_);
    const size_t end = left.find('\n', searched);
    if (end != left.npos) {
      begin_ += end + 1;
      consumed_ += end + 1;
      if (!is_too_long) return left.substr(0, end);
      is_too_long = false;
      searched = 0;
      continue;
    }
    searched = left.size();
    if (left.size() > kLongestLine) {
      if (!is_too_long) ++too_long_;
      is_too_long = true;
      consumed_ += left.size();
      begin_ = buffer_.size();
      searched = 0;
    }
    ASSIGN_OR_RETURN(const bool has_more, read_more());
    if (has_more) continue;
    const std::string_view last = std::string_view(buffer_).substr(begin_);
    begin_ = buffer_.size();
    consumed_ += last.size();
    if (last.empty() || is_too_long) return std::nullopt;
    return last;
  }
}

}  // namespace culprit
