#include "simulate/machine/targets.h"

#include <algorithm>

namespace culprit::simulate {

/// The entry comes to the front; the last goes if it was not there.
bool TargetBuffer::use_older(uint64_t number, const Entry& entry) {
  Entry* const set = &entries_[entries_.place(number)];
  uint32_t way = 0;
  while (way + 1 < ways_ && set[way].address != entry.address) ++way;
  const bool known = set[way].address == entry.address && set[way].target == entry.target;
  std::copy_backward(set, set + way, set + way + 1);
  *set = entry;
  return known;
}

IndirectPredictor::IndirectPredictor(const BranchSettings& settings) {
  for (ZeroedArray<Entry>& table : tables_) table = ZeroedArray<Entry>(settings.indirect_entries);
}

IndirectPredictor::Entry& IndirectPredictor::find(size_t table, uint64_t address, uint16_t& tag) {
  const uint64_t path = path_ & ((uint64_t{1} << kPathBits[table]) - 1);
  uint64_t mixed = (address ^ path * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
  mixed ^= mixed >> 32;
  tag = static_cast<uint16_t>(mixed >> 16 | 1);
  return tables_[table][mixed & (tables_[table].size() - 1)];
}

bool IndirectPredictor::use(uint64_t address, uint64_t target) {
  std::array<Entry*, kPathBits.size()> entries;
  std::array<uint16_t, kPathBits.size()> tags;
  Entry* provider = nullptr;
  size_t longest = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = &find(i, address, tags[i]);
    if (entries[i]->tag != tags[i]) continue;
    // An entry that failed last time gives way to a shorter path that did not.
    if (provider == nullptr || entries[i]->confidence > 0) provider = entries[i];
    longest = i;
  }
  const bool known = provider != nullptr && provider->target == target;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = *entries[i];
    if (entry.tag == tags[i]) {
      if (entry.target == target) {
        entry.confidence = static_cast<uint8_t>(std::min(entry.confidence + 1, 3));
      } else if (entry.confidence > 0) {
        --entry.confidence;
      } else {
        entry.target = target;
      }
    } else if (i == 0 || (!known && i <= longest + 1)) {
      entry = {tags[i], 0, target};
    }
  }
  const uint64_t hash = target * 0x9e3779b97f4a7c15 >> 59;
  path_ = path_ << 5 ^ hash;
  return known;
}

}  // namespace culprit::simulate
