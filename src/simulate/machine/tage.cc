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

Tage::Tage(const BranchSettings& settings)
    : bimodal_(settings.bimodal_entries),
      tables_(std::min(settings.tagged_tables, kMostTables)),
      index_bits_(static_cast<uint32_t>(std::countr_zero(settings.tagged_entries))),
      entries_(size_t{tables_} << index_bits_) {
  const double ratio = static_cast<double>(settings.longest_history) / settings.shortest_history;
  for (uint32_t i = 0; i < tables_; ++i) {
    const double part = tables_ == 1 ? 0 : static_cast<double>(i) / (tables_ - 1);
    lengths_[i] =
        static_cast<uint32_t>(std::lround(settings.shortest_history * std::pow(ratio, part)));
  }
  index_ = FoldedHistories(lengths_, index_bits_);
  tag_ = FoldedHistories(lengths_, kTagBits);
  tag_again_ = FoldedHistories(lengths_, kTagBits - 1);
}

Tage::Lookup Tage::look_up(uint64_t address) {
  Lookup found;
  found.provider_taken = found.other_taken = bimodal_at(address) >= 0;
  const auto mixed = static_cast<uint32_t>(address ^ address >> index_bits_);
  for (uint32_t i = 0; i < tables_; ++i) {
    const uint32_t index = (mixed ^ index_[i] ^ i) & ((1U << index_bits_) - 1);
    const uint32_t tag = static_cast<uint32_t>(address) ^ tag_[i] ^ tag_again_[i] << 1;
    found.entries[i] = &entries_[(size_t{i} << index_bits_) + index];
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
  if (first + 1 < tables_ && (random_ & 3) == 0) ++first;
  for (size_t i = first; i < tables_; ++i) {
    Entry& entry = *found.entries[i];
    if (entry.useful != 0) continue;
    entry = {found.tags[i], static_cast<int8_t>(taken ? 0 : -1), 0};
    return;
  }
  for (size_t i = first; i < tables_; ++i) --found.entries[i]->useful;
}

void Tage::age_useful() {
  for (Entry& entry : entries_) entry.useful /= 2;
}

void Tage::push_history(bool bit) {
  ++newest_;
  history_[newest_ % history_.size()] = bit ? 1 : 0;
  FoldedHistories::PerTable leaves{};
  for (uint32_t i = 0; i < tables_; ++i) {
    leaves[i] = history_[(newest_ - lengths_[i]) % history_.size()];
  }
  index_.push(bit ? 1 : 0, leaves);
  tag_.push(bit ? 1 : 0, leaves);
  tag_again_.push(bit ? 1 : 0, leaves);
}

}  // namespace culprit::simulate
