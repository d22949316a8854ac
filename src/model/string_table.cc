#include "model/string_table.h"

namespace culprit {

StringTable& StringTable::operator=(const StringTable& other) {
  if (this == &other) return *this;
  texts_.clear();
  index_.clear();
  for (const std::string& text : other.texts_) intern(text);
  return *this;
}

StringId StringTable::intern(std::string_view text) {
  if (const auto found = index_.find(text); found != index_.end()) return found->second;
  const StringId id(texts_.size());
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), id);
  return id;
}

const std::string& StringTable::text(StringId id) const {
  static const std::string kEmpty;
  return id.value < texts_.size() ? texts_[id.value] : kEmpty;
}

}  // namespace culprit
