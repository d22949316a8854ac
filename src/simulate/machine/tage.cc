#include "simulate/machine/tage.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace culprit::simulate {
namespace {

/// A saturating counter one step up or down.
int8_t step(int8_t counter, bool up, int8_t least, int8_t most) {
  if (up) return counter < most ? static_cast<int8_t>(counter + 1) : most;
  return counter > least ? static_cast<int8_t>(counter - 1) : least;
}

/// A bit for each of the four. (Which tables match is as hard to foretell for our own machine
/// as for the modelled one: no branches.)
uint32_t which_are_equal(const FourTables& one, const FourTables& other) {
  const FourTables bit{1, 2, 4, 8};
  using TwoHalves [[gnu::vector_size(16)]] = uint64_t;
  const auto halves = reinterpret_cast<TwoHalves>(reinterpret_cast<FourTables>(one == other) & bit);
  const uint64_t both = halves[0] | halves[1];
  return static_cast<uint32_t>(both | both >> 32);
}

}  // namespace

Tage::Tage(const BranchSettings& settings)
    : bimodal_(settings.bimodal_entries),
      tables_(std::min(settings.tagged_tables, kMostTables)),
      index_bits_(static_cast<uint32_t>(std::countr_zero(settings.tagged_entries))),
      entries_(size_t{(tables_ + 3) / 4 * 4}
               << index_bits_) {  // of no table: tag 0, never looked at
  index_fold_ = index_bits_ == kTagBits ? 0 : index_bits_ == kTagBits - 1 ? 1 : 2;
  const double ratio = static_cast<double>(settings.longest_history) / settings.shortest_history;
  for (uint32_t i = 0; i < tables_; ++i) {
    const double part = tables_ == 1 ? 0 : static_cast<double>(i) / (tables_ - 1);
    fours_[i / 4].lengths[i % 4] =
        static_cast<uint32_t>(std::lround(settings.shortest_history * std::pow(ratio, part)));
    fours_[i / 4].first_entry[i % 4] = i << index_bits_;
  }
  for (Four& four : fours_) {
    four.folded = {FoldedHistories(four.lengths, kTagBits),
                   FoldedHistories(four.lengths, kTagBits - 1),
                   FoldedHistories(four.lengths, index_bits_)};
  }
}

void Tage::look_up(uint64_t address, Lookup& found) {
  found.provider_taken = found.other_taken = bimodal_at(address) >= 0;
  const auto mixed = static_cast<uint32_t>(address ^ address >> index_bits_);
  FourTables number{0, 1, 2, 3};
  uint32_t matches = 0;
  for (uint32_t first = 0; first < tables_; first += 4, number += 4) {
    const Four& four = fours_[first / 4];
    const FourTables entries =
        four.first_entry +
        ((mixed ^ four.folded[index_fold_].values ^ number) & ((1U << index_bits_) - 1));
    const FourTables tags =
        (static_cast<uint32_t>(address) ^ four.folded[0].values ^ four.folded[1].values << 1) &
        ((1U << kTagBits) - 1);
    std::memcpy(&found.entries[first], &entries, sizeof entries);
    std::memcpy(&found.tags[first], &tags, sizeof tags);
    const FourTables there{entries_[entries[0]].tag, entries_[entries[1]].tag,
                           entries_[entries[2]].tag, entries_[entries[3]].tag};
    matches |= which_are_equal(there, tags) << first;
  }
  matches &= (1U << tables_) - 1;
  if (matches != 0) {
    found.provider = 31 - std::countl_zero(matches);
    const Entry& entry = entries_[found.entries[static_cast<size_t>(found.provider)]];
    found.provider_taken = entry.counter >= 0;
    found.is_new = entry.useful == 0 && (entry.counter == 0 || entry.counter == -1);
    matches &= ~(1U << found.provider);
    if (matches != 0) {
      const auto other = static_cast<size_t>(31 - std::countl_zero(matches));
      found.other_taken = entries_[found.entries[other]].counter >= 0;
    }
  }
  found.taken = found.is_new && trust_other_ >= 0 ? found.other_taken : found.provider_taken;
}

bool Tage::predict(uint64_t address, bool taken) {
  Lookup found;
  look_up(address, found);
  learn(found, address, taken);
  push_history(taken);
  return found.taken;
}

void Tage::learn(Lookup& found, uint64_t address, bool taken) {
  if (found.provider < 0) {
    int8_t& counter = bimodal_at(address);
    counter = step(counter, taken, -2, 1);
  } else {
    Entry& entry = entries_[found.entries[static_cast<size_t>(found.provider)]];
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
    Entry& entry = entries_[found.entries[i]];
    if (entry.useful != 0) continue;
    entry = {static_cast<uint16_t>(found.tags[i]), static_cast<int8_t>(taken ? 0 : -1), 0};
    return;
  }
  for (size_t i = first; i < tables_; ++i) --entries_[found.entries[i]].useful;
}

void Tage::age_useful() {
  for (Entry& entry : entries_) entry.useful /= 2;
}

void Tage::push_history(bool bit) {
  if (newest_ == 0) {
    newest_ = history_.size() - kLongestHistory;
    std::copy_n(history_.begin(), kLongestHistory, history_.begin() + newest_);
  }
  history_[--newest_] = bit ? ~0U : 0;
  const uint32_t* const newest = &history_[newest_];
  for (uint32_t first = 0; first < tables_; first += 4) {
    Four& four = fours_[first / 4];
    const FourTables& age = four.lengths;
    const FourTables leaves{newest[age[0]], newest[age[1]], newest[age[2]], newest[age[3]]};
    four.folded[0].push(bit ? 1 : 0, leaves);
    four.folded[1].push(bit ? 1 : 0, leaves);
    if (index_fold_ == 2) four.folded[2].push(bit ? 1 : 0, leaves);
  }
}

}  // namespace culprit::simulate
