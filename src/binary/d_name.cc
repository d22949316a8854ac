#include "binary/d_name.h"

#include <cstddef>
#include <optional>

namespace culprit {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads the parts of a qualified name: <length><identifier>, a template instance, or
/// "Q" and how far back the same identifier stood (base 26; the last digit in lower case).
class QualifiedName {
 public:
  explicit QualifiedName(std::string_view text) : text_(text) {}

  std::string read() {
    std::string name;
    while (true) {
      const std::optional<std::string> part = read_part();
      if (!part) return name;
      if (!name.empty()) name += '.';
      name += *part;
      if (part->ends_with("!(...)")) return name;  // arguments would need all of D's types
    }
  }

 private:
  std::optional<std::string> read_part() {
    if (text_.substr(at_).starts_with("__T") || text_.substr(at_).starts_with("__U")) {
      at_ += 3;
      const auto name = read_identifier(at_);
      if (!name) return std::nullopt;
      return *name + "!(...)";
    }
    if (at_ < text_.size() && text_[at_] == 'Q') return read_back_reference();
    return read_identifier(at_);
  }

  std::optional<std::string> read_identifier(size_t& at) const {
    size_t length = 0;
    const size_t start = at;
    while (at < text_.size() && is_digit(text_[at]) && length < text_.size())
      length = length * 10 + static_cast<size_t>(text_[at++] - '0');
    if (at == start || length == 0 || length > text_.size() - at) return std::nullopt;
    at += length;
    return std::string(text_.substr(at - length, length));
  }

  std::optional<std::string> read_back_reference() {
    const size_t here = at_++;
    size_t distance = 0;
    while (at_ < text_.size() && text_[at_] >= 'A' && text_[at_] <= 'Z' && distance < text_.size())
      distance = distance * 26 + static_cast<size_t>(text_[at_++] - 'A');
    if (at_ >= text_.size() || text_[at_] < 'a' || text_[at_] > 'z') return std::nullopt;
    distance = distance * 26 + static_cast<size_t>(text_[at_++] - 'a');
    if (distance == 0 || distance > here) return std::nullopt;
    size_t there = here - distance;
    return read_identifier(there);
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string demangle_d(std::string_view name) {
  if (name == "_Dmain") return "D main";
  if (!name.starts_with("_D") || name.size() < 4 || (!is_digit(name[2]) && name[2] != '_'))
    return "";
  return QualifiedName(name.substr(2)).read();
}

}  // namespace culprit
