#include "model/string_table.h"

namespace culprit {

StringTable& StringTable::operator=(const StringTable& other) {
  if (this == &other) return *this;
  index_ = RowIndex();
  indexed_ = 0;
  texts_ = other.texts_;
  return *this;
}

uint32_t StringTable::find_or_add(std::string_view text, size_t new_row) {
  return index_.find_or_add(std::hash<std::string_view>()(text), new_row,
                            [&](size_t row) { return texts_[row] == text; });
}

StringId StringTable::intern(std::string_view text) {
  if (index_.size() == 0) index_.reserve(texts_.size());
  for (; indexed_ < texts_.size(); ++indexed_) find_or_add(texts_[indexed_], indexed_);
  const StringId id(find_or_add(text, texts_.size()));
  if (id.value == texts_.size()) {
    texts_.emplace_back(text);
    ++indexed_;
  }
  return id;
}

const std::string& StringTable::text(StringId id) const {
  static const std::string kEmpty;
  return id.value < texts_.size() ? texts_[id.value] : kEmpty;
}

}  // namespace culprit
