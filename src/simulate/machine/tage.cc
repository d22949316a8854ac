#include "simulate/machine/tage.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace culprit::simulate {
namespace {

/// A saturating counter one step up or down.
int8_t step(int8_t counter, bool up, int8_t least, int8_t most) {
  if (up) return counter < most ? static_cast<int8_t>(counter + 1) : most;
  return counter > least ? static_cast<int8_t>(counter - 1) : least;
}

}  // namespace

Tage::Tage(const BranchSettings& settings) : bimodal_(settings.bimodal_entries) {
  const uint32_t count = std::min(settings.tagged_tables, kMostTables);
  const auto width = static_cast<uint32_t>(std::countr_zero(settings.tagged_entries));
  const double ratio = static_cast<double>(settings.longest_history) / settings.shortest_history;
  for (uint32_t i = 0; i < count; ++i) {
    const double part = count == 1 ? 0 : static_cast<double>(i) / (count - 1);
    Table table;
    table.history =
        static_cast<uint32_t>(std::lround(settings.shortest_history * std::pow(ratio, part)));
    table.index = FoldedHistory(table.history, width);
    table.tag = FoldedHistory(table.history, kTagBits);
    table.tag_again = FoldedHistory(table.history, kTagBits - 1);
    table.entries.resize(settings.tagged_entries);
    tables_.push_back(std::move(table));
  }
}

Tage::Lookup Tage::look_up(uint64_t address) {
  Lookup found;
  found.provider_taken = found.other_taken = bimodal_at(address) >= 0;
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& table = tables_[i];
    const auto width = static_cast<uint32_t>(std::countr_zero(table.entries.size()));
    const uint64_t index = address ^ address >> width ^ table.index.value() ^ i;
    const uint64_t tag = address ^ table.tag.value() ^ table.tag_again.value() << 1;
    found.entries[i] = &table.entries[index & (table.entries.size() - 1)];
    found.tags[i] = static_cast<uint16_t>(tag & ((1U << kTagBits) - 1));
    if (found.entries[i]->tag != found.tags[i]) continue;
    found.other_taken = found.provider_taken;
    found.provider = static_cast<int>(i);
    found.provider_taken = found.entries[i]->counter >= 0;
  }
  if (found.provider >= 0) {
    const Entry& entry = *found.entries[static_cast<size_t>(found.provider)];
    found.is_new = entry.useful == 0 && (entry.counter == 0 || entry.counter == -1);
  }
  found.taken = found.is_new && trust_other_ >= 0 ? found.other_taken : found.provider_taken;
  return found;
}

bool Tage::predict(uint64_t address, bool taken) {
  Lookup found = look_up(address);
  learn(found, address, taken);
  push_history(taken);
  return found.taken;
}

void Tage::learn(Lookup& found, uint64_t address, bool taken) {
  if (found.provider < 0) {
    int8_t& counter = bimodal_at(address);
    counter = step(counter, taken, -2, 1);
  } else {
    Entry& entry = *found.entries[static_cast<size_t>(found.provider)];
    if (found.provider_taken != found.other_taken) {
      const bool right = found.provider_taken == taken;
      if (found.is_new) trust_other_ = std::clamp(trust_other_ + (right ? -1 : 1), -8, 7);
      entry.useful =
          static_cast<uint8_t>(std::clamp(static_cast<int>(entry.useful) + (right ? 1 : -1), 0, 3));
    }
    entry.counter = step(entry.counter, taken, -4, 3);
  }
  if (found.taken != taken) allocate(found, taken);
  if (++branches_ % (1U << 18) == 0) age_useful();
}

/// A longer history may know better: takes an entry that is of no use in one of the tables
/// beyond the provider, the nearer the likelier.
void Tage::allocate(Lookup& found, bool taken) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  auto first = static_cast<size_t>(found.provider + 1);
  if (first + 1 < tables_.size() && (random_ & 3) == 0) ++first;
  for (size_t i = first; i < tables_.size(); ++i) {
    Entry& entry = *found.entries[i];
    if (entry.useful != 0) continue;
    entry = {found.tags[i], static_cast<int8_t>(taken ? 0 : -1), 0};
    return;
  }
  for (size_t i = first; i < tables_.size(); ++i) --found.entries[i]->useful;
}

void Tage::age_useful() {
  for (Table& table : tables_) {
    for (Entry& entry : table.entries) entry.useful /= 2;
  }
}

void Tage::push_history(bool bit) {
  newest_ = static_cast<uint32_t>((newest_ + 1) % history_.size());
  history_[newest_] = bit ? 1 : 0;
  for (Table& table : tables_) {
    const uint32_t leaves = history_[(newest_ + history_.size() - table.history) % history_.size()];
    table.index.push(history_[newest_], leaves);
    table.tag.push(history_[newest_], leaves);
    table.tag_again.push(history_[newest_], leaves);
  }
}

}  // namespace culprit::simulate
