#include "recording/code_ranges.h"

#include <iterator>
#include <optional>

namespace culprit {

void CodeRanges::map(const Mapping& mapping) {
  if (!(mapping.start < mapping.end)) return;
  auto at = by_start_.lower_bound(mapping.start);
  if (at != by_start_.begin() && mapping.start < std::prev(at)->second.end) --at;
  std::optional<Mapping> tail;  // of the last one covered
  while (at != by_start_.end() && at->first < mapping.end) {
    Mapping& old = at->second;
    if (mapping.end < old.end)
      tail = {mapping.end, old.end, old.file_offset + (mapping.end - old.start), old.file};
    if (old.start < mapping.start) {
      old.end = mapping.start;
      ++at;
    } else {
      at = by_start_.erase(at);
    }
  }
  by_start_.emplace_hint(at, mapping.start, mapping);
  if (tail) by_start_.emplace(tail->start, *tail);
}

const Mapping* CodeRanges::find(RunAddress address) const {
  const auto after = by_start_.upper_bound(address);
  if (after == by_start_.begin()) return nullptr;
  const Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

}  // namespace culprit
