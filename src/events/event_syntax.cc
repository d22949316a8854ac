#include "events/event_syntax.h"

#include <charconv>
#include <fmt/format.h>

#include "base/text.h"

namespace culprit {
namespace {

constexpr size_t kMostEvents = 1024;
constexpr size_t kLongestSpec = 64 * 1024;

/// Walks one spec from left to right.
class SyntaxParser {
 public:
  SyntaxParser(std::string_view spec, std::vector<GroupWords>& out) : spec_(spec), out_(out) {}

  Result<void> parse() {
    if (spec_.size() > kLongestSpec) {
      return Error{fmt::format("the list of events is {} bytes long; {} are taken", spec_.size(),
                               kLongestSpec)};
    }
    while (true) {
      if (peek() == '{') {
        RETURN_IF_ERROR(parse_group());
      } else {
        ASSIGN_OR_RETURN(EventWords event, parse_event());
        out_.push_back({.members = {std::move(event)}, .modifiers = ""});
      }
      if (out_.size() > kMostEvents) return too_many();
      if (at_end()) return {};
      if (peek() != ',') return wrong("a comma is missing");
      ++at_;
    }
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == spec_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : spec_[at_]; }

  Result<void> parse_group() {
    const size_t opened = at_++;
    GroupWords group;
    group.is_braced = true;
    while (true) {
      if (peek() == '{') return wrong("a group cannot stand in a group");
      ASSIGN_OR_RETURN(EventWords event, parse_event());
      group.members.push_back(std::move(event));
      if (group.members.size() > kMostEvents) return too_many();
      if (at_end()) {
        at_ = opened;
        return wrong("this brace is not closed");
      }
      if (spec_[at_++] == '}') break;
    }
    if (peek() == ':') {
      const size_t start = ++at_;
      while (!at_end() && peek() != ',') ++at_;
      group.modifiers = spec_.substr(start, at_ - start);
      if (group.modifiers.empty()) return wrong("modifiers are missing after the colon");
    }
    out_.push_back(std::move(group));
    return {};
  }

  /// Up to the comma or brace that ends it.
  Result<EventWords> parse_event() {
    const size_t start = at_;
    EventWords event;
    // "mem:ADDRESS/LENGTH:rw" has one slash that opens nothing.
    const bool is_breakpoint = spec_.substr(start).starts_with("mem:");
    while (!at_end() && !ends_event(peek())) {
      if (peek() == '/' && !is_breakpoint) {
        if (event.has_terms) return wrong("this slash opens nothing");
        event.has_terms = true;
        event.words.emplace_back(spec_.substr(start, at_ - start));
        RETURN_IF_ERROR(parse_terms(event));
        const size_t after = at_;
        while (!at_end() && !ends_event(peek()) && peek() != '/') ++at_;
        event.modifiers = spec_.substr(after, at_ - after);
        continue;
      }
      ++at_;
    }
    event.text = spec_.substr(start, at_ - start);
    if (event.text.empty()) return wrong("an event is missing here");
    if (event.has_terms) {
      if (event.words[0].empty()) return wrong("the PMU's name is missing before the slash");
      if (event.modifiers.starts_with(':')) event.modifiers.erase(0, 1);
    } else {
      for (const std::string_view word : split(event.text, ':')) event.words.emplace_back(word);
    }
    return event;
  }

  /// Reads from the first slash to behind the last.
  Result<void> parse_terms(EventWords& event) {
    const size_t opened = at_++;
    size_t start = at_;
    bool is_quoted = false;
    for (; !at_end() && (is_quoted || peek() != '/'); ++at_) {
      if (peek() == '\'') is_quoted = !is_quoted;
      if (peek() == ',' && !is_quoted) {
        RETURN_IF_ERROR(add_term(event, spec_.substr(start, at_ - start)));
        start = at_ + 1;
      }
    }
    if (at_end()) {
      at_ = opened;
      return wrong(is_quoted ? "a quote is not closed" : "this slash is not closed");
    }
    // "cpu//" has no terms; "cpu/a,/" lacks one.
    if (at_ > start || !event.terms.empty()) {
      RETURN_IF_ERROR(add_term(event, spec_.substr(start, at_ - start)));
    }
    ++at_;
    return {};
  }

  Result<void> add_term(EventWords& event, std::string_view text) {
    const size_t equals = text.find('=');
    EventTerm term{.key = std::string(text.substr(0, equals)), .value = {}};
    if (term.key.empty()) return wrong("a term is missing before this");
    if (equals != std::string_view::npos) {
      std::string_view value = text.substr(equals + 1);
      if (value.size() >= 2 && value.front() == '\'' && value.back() == '\'') {
        value = value.substr(1, value.size() - 2);
      }
      if (value.empty()) return wrong(fmt::format("term '{}' lacks its value", term.key));
      term.value = std::string(value);
    }
    event.terms.push_back(std::move(term));
    if (event.terms.size() > kMostEvents) return too_many();
    return {};
  }

  static bool ends_event(char c) { return c == ',' || c == '{' || c == '}'; }

  [[nodiscard]] Error wrong(const std::string& what) const {
    const std::string before(spec_.substr(0, at_));
    const std::string after(spec_.substr(at_));
    return Error{fmt::format("cannot read the events '{}': {}, at '{}'", printable(spec_), what,
                             printable(after.empty() ? "the end" : after))};
  }
  static Error too_many() {
    return Error{fmt::format("more than {} events are asked for", kMostEvents)};
  }

  std::string_view spec_;
  std::vector<GroupWords>& out_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<GroupWords>> parse_event_syntax(std::span<const std::string> specs) {
  std::vector<GroupWords> groups;
  for (const std::string& spec : specs) RETURN_IF_ERROR(SyntaxParser(spec, groups).parse());
  return groups;
}

std::optional<uint64_t> parse_event_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace culprit
