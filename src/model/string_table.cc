#include "model/string_table.h"

namespace culprit {

StringTable& StringTable::operator=(const StringTable& other) {
  if (this == &other) return *this;
  index_.clear();
  indexed_ = 0;
  texts_ = other.texts_;
  return *this;
}

void StringTable::complete_index() {
  if (index_.empty()) index_.reserve(texts_.size());
  for (; indexed_ < texts_.size(); ++indexed_) index_.emplace(texts_[indexed_], indexed_);
}

StringId StringTable::intern(std::string_view text) {
  if (indexed_ < texts_.size()) complete_index();
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const StringId id(texts_.size());
  index_.emplace(texts_.emplace_back(text), id);
  indexed_ = texts_.size();
  return id;
}

const std::string& StringTable::text(StringId id) const {
  static const std::string kEmpty;
  return id.value < texts_.size() ? texts_[id.value] : kEmpty;
}

}  // namespace culprit
