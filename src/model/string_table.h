#pragma once

// Interned strings: each text once, named by a StringId. Id 0 is "".

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/ids.h"

namespace culprit {

class StringTable {
 public:
  StringTable() { intern(""); }
  StringTable(const StringTable& other) : StringTable() { *this = other; }
  StringTable& operator=(const StringTable& other);
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

  StringId intern(std::string_view text);

  /// The text of `id`; "" for kAll and for ids that are not in the table.
  [[nodiscard]] const std::string& text(StringId id) const;
  [[nodiscard]] size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque keeps the views in index_ valid
  std::unordered_map<std::string_view, StringId> index_;
};

}  // namespace culprit
