#include "records/address_spaces.h"

#include <algorithm>

namespace culprit {

namespace {

Mapping cut_front(const Mapping& mapping, RunAddress start) {
  Mapping rest = mapping;
  rest.file_offset += start - mapping.start;
  rest.start = start;
  return rest;
}

}  // namespace

AddressSpaces::Space& AddressSpaces::writable(uint32_t pid) {
  std::shared_ptr<Space>& space = spaces_[pid];
  if (space == nullptr) {
    space = std::make_shared<Space>();
  } else if (space.use_count() > 1) {
    space = std::make_shared<Space>(*space);
  }
  return *space;
}

void AddressSpaces::map(uint32_t pid, const Mapping& mapping) {
  if (mapping.end <= mapping.start) return;
  Space& space = writable(pid);
  // [first, last): what the new one covers, at least in part.
  const auto first = std::partition_point(space.begin(), space.end(),
                                          [&](const Mapping& m) { return m.end <= mapping.start; });
  const auto last = std::partition_point(first, space.end(),
                                         [&](const Mapping& m) { return m.start < mapping.end; });

  Space replacement;
  if (first != last && first->start < mapping.start) {
    replacement.push_back(*first);
    replacement.back().end = mapping.start;
  }
  replacement.push_back(mapping);
  if (first != last && std::prev(last)->end > mapping.end) {
    replacement.push_back(cut_front(*std::prev(last), mapping.end));
  }
  const size_t covered = static_cast<size_t>(last - first);
  if (space.size() - covered + replacement.size() > kMaxMappings) return;
  const auto at = space.erase(first, last);
  space.insert(at, replacement.begin(), replacement.end());
}

void AddressSpaces::fork(uint32_t parent_pid, uint32_t pid) {
  const auto parent = spaces_.find(parent_pid);
  if (parent == spaces_.end()) {
    spaces_.erase(pid);
    return;
  }
  const std::shared_ptr<Space> shared = parent->second;  // spaces_[pid] may move `parent`
  spaces_[pid] = shared;
}

void AddressSpaces::clear(uint32_t pid) {
  spaces_.erase(pid);
}

const Mapping* AddressSpaces::find(uint32_t pid, RunAddress address) const {
  const Space& space = mappings(pid);
  const auto after = std::partition_point(space.begin(), space.end(),
                                          [&](const Mapping& m) { return m.end <= address; });
  if (after == space.end() || after->start > address) return nullptr;
  return &*after;
}

const std::vector<Mapping>& AddressSpaces::mappings(uint32_t pid) const {
  static const Space kNone;
  const auto at = spaces_.find(pid);
  return at == spaces_.end() ? kNone : *at->second;
}

}  // namespace culprit
