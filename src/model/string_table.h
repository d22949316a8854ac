#pragma once

// Interned strings: each text once, named by a StringId. Id 0 is "".
//
// A table that was read is mostly asked for few of its texts, and for none by its words: the index
// by words is made when somebody interns.

#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "base/row_index.h"
#include "model/ids.h"

namespace culprit {

class StringTable {
 public:
  StringTable() : texts_(1) {}
  StringTable(const StringTable& other) : texts_(other.texts_) {}
  StringTable& operator=(const StringTable& other);
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

  StringId intern(std::string_view text);
  /// Adds a text behind all others: the next one of a table that was written. Should a text come
  /// twice, each has its id, and intern() gives the first.
  void append(std::string text) { texts_.push_back(std::move(text)); }

  /// The text of `id`; "" for kAll and for ids that are not in the table.
  [[nodiscard]] const std::string& text(StringId id) const;
  [[nodiscard]] size_t size() const { return texts_.size(); }

 private:
  /// The row of `text` in the index; of none `new_row`, which has it from now on.
  uint32_t find_or_add(std::string_view text, size_t new_row);

  std::deque<std::string> texts_;  // a deque: who asked for a text may keep it
  RowIndex index_;
  size_t indexed_ = 0;  // texts that are in index_
};

}  // namespace culprit
