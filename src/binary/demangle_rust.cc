#include "binary/demangle_rust.h"

#include <algorithm>
#include <llvm/Demangle/Demangle.h>
#include <optional>
#include <vector>

#include "binary/c_text.h"

namespace culprit {
namespace {

constexpr size_t kPrefix = 2;  // "_R"; back-references count from behind it
constexpr uint64_t kMany = uint64_t{1} << 30;
constexpr int kDeepestPath = 128;

/// Skips parts of a name, as far as a bound on lengths needs them.
class Skipper {
 public:
  Skipper(std::string_view text, size_t at) : text_(text), at_(at) {}
  [[nodiscard]] size_t position() const { return at_; }

  /// "_" is 0, "0_" 1, "Z_" 62: base 62.
  std::optional<uint64_t> take_number() {
    uint64_t value = 0;
    if (take('_')) return 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '_') return ++at_, value + 1;
      if (value > kMany) return std::nullopt;
      if (c >= '0' && c <= '9')
        value = value * 62 + static_cast<uint64_t>(c - '0');
      else if (c >= 'a' && c <= 'z')
        value = value * 62 + static_cast<uint64_t>(c - 'a') + 10;
      else if (c >= 'A' && c <= 'Z')
        value = value * 62 + static_cast<uint64_t>(c - 'A') + 36;
      else
        return std::nullopt;
    }
    return std::nullopt;
  }

  /// A crate ("C3foo"), or names inside one ("NtC3foo3bar"): paths without generics.
  bool skip_plain_path(int depth = 0) {
    if (depth > kDeepestPath) return false;
    if (take('C')) return skip_identifier();
    if (take('B')) return take_number().has_value();
    if (!take('N') || at_ == text_.size()) return false;
    ++at_;  // the namespace: t(ype), v(alue), ...
    return skip_plain_path(depth + 1) && skip_identifier();
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool skip_identifier() {
    if (take('s') && !take_number()) return false;
    take('u');  // Punycode
    size_t length = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if ((length = length * 10 + static_cast<size_t>(text_[at_] - '0')) > text_.size())
        return false;
    take('_');
    if (length > text_.size() - at_) return false;
    at_ += length;
    return true;
  }

  std::string_view text_;
  size_t at_;
};

/// A bound on the demangled length. grown[i] is that of the name's first i characters; a
/// back-reference repeats at most what stands between its target and itself, or, where the
/// target is a plain path, that path. What looks like a reference inside an identifier is
/// counted, too: the bound only gets larger.
uint64_t bound_length(std::string_view name) {
  constexpr uint64_t kPerCharacter = 16;  // "e" prints "str", "F" "unsafe extern \"C\" fn("
  std::vector<uint64_t> grown(name.size() + 1, 0);
  for (size_t i = 0; i < name.size(); ++i) {
    uint64_t more = kPerCharacter;
    Skipper number(name, i + 1);
    if (name[i] == 'B' && i >= kPrefix) {
      const std::optional<uint64_t> target = number.take_number();
      if (target && *target + kPrefix < i) {
        const size_t from = *target + kPrefix;
        Skipper path(name, from);
        const size_t to = path.skip_plain_path() && path.position() <= i ? path.position() : i;
        more += grown[to] - grown[from];
      }
    }
    grown[i + 1] = std::min(grown[i] + more, kMany);
  }
  return grown.back();
}

}  // namespace

std::string demangle_rust(std::string_view name, size_t max_bytes) {
  constexpr uint64_t kSlack = 1024;  // the bound is far above what real names need
  if (bound_length(name) > max_bytes * kSlack) return "";
  const CText text(llvm::rustDemangle(name));
  if (!text) return "";
  std::string result = text.get();
  return result.size() > max_bytes ? "" : result;
}

}  // namespace culprit
