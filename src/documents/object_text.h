#pragma once

// An object of JSON, written member by member: lists of a hundred thousand numbers become text at
// once, without a value of JSON for each.
//
//     ObjectText text(Json{{"schema", "culprit-web-table-1"}});
//     text.add("process", numbers);
//     return text.end();

#include <cmath>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "print/json_parts.h"

namespace culprit {

class ObjectText {
 public:
  /// `first`: an object, with one member at least.
  explicit ObjectText(const Json& first);

  /// `value`: Json; a number, where one that is not finite is null; text, in which what is no UTF-8
  /// is replaced; a list of these, or of lists.
  template <class T>
  void add(std::string_view key, const T& value) {
    fmt::format_to(std::back_inserter(text_), ",\"{}\":", key);
    append(value);
  }

  [[nodiscard]] std::string end() && {
    text_ += '}';
    return std::move(text_);
  }

 private:
  void append(const Json& value);
  void append(const std::string& value);
  void append(const std::string* value) { append(*value); }
  template <class T>
    requires std::is_arithmetic_v<T>
  void append(T value) {
    if (!std::isfinite(static_cast<double>(value))) {
      text_ += "null";
    } else {
      fmt::format_to(std::back_inserter(text_), "{}", value);
    }
  }
  template <class T>
  void append(const std::vector<T>& list) {
    text_ += '[';
    for (const T& one : list) {
      append(one);
      text_ += ',';
    }
    if (list.empty()) {
      text_ += ']';
    } else {
      text_.back() = ']';
    }
  }

  std::string text_;
};

/// JSON that is not indented, and in which what is no UTF-8 is replaced.
std::string dump_compact(const Json& json);

}  // namespace culprit
