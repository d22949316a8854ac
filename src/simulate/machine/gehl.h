#pragma once

// Gehl: directions of conditional branches, by a hashed perceptron. Tables of small weights, one
// by address alone, the others by address and ever longer histories (geometric lengths): the sign
// of the sum is the prediction. It learns when it was wrong or not sure.
//
// Source: A. Seznec, Analysis of the O-GEometric History Length Branch Predictor, ISCA 2005.
//         Why not TAGE: docs/decisions/0007

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// A number for each of eight tables, which is one register of the oldest x86-64; with at most
/// 8192 entries a table, it holds where in all of them an index begins.
using EightTables [[gnu::vector_size(16)]] = uint16_t;

class Gehl {
 public:
  static constexpr uint32_t kMostTables = 8;
  static constexpr uint32_t kLongestHistory = 1000;

  explicit Gehl(const BranchSettings& settings);

  /// Predicts the branch at `address` and learns that it was `taken`. Returns the prediction.
  bool predict(uint64_t address, bool taken) {
    int8_t& by_address = by_address_[(address ^ address >> 2) & (by_address_.size() - 1)];
    const uint64_t mixed = address * 0x9e37'79b9'7f4a'7c15;
    const EightTables hashes = (folded_ ^ static_cast<uint16_t>(mixed >> 48)) * kMix;
    const EightTables first_of_index = hashes >> (16 - index_bits_) << 3;
    alignas(16) std::array<uint16_t, kMostTables> at;
    __builtin_memcpy(at.data(), &first_of_index, sizeof at);
    const int8_t* const weights = weights_.data();
    const int sum = by_address + weights[at[0]] + weights[at[1] + 1] + weights[at[2] + 2] +
                    weights[at[3] + 3] + weights[at[4] + 4] + weights[at[5] + 5] +
                    weights[at[6] + 6] + weights[at[7] + 7];
    const bool predicted = sum >= 0;
    const bool is_sure = sum > sure_above_ || sum < -sure_above_;
    if (predicted != taken || !is_sure) learn(by_address, at, taken, predicted == taken);
    push_history(taken);
    return predicted;
  }

  /// Adds a bit to the history: of conditional branches predict() does it.
  void push_history(bool bit) {
    if (newest_ == 0) [[unlikely]]
      move_history();
    const auto enters = static_cast<uint16_t>(bit ? 0xffff : 0);
    history_[--newest_] = enters;
    const uint16_t* const newest = &history_[newest_];
    const auto& age = lengths_;
    const EightTables leaves{newest[age[0]], newest[age[1]], newest[age[2]], newest[age[3]],
                             newest[age[4]], newest[age[5]], newest[age[6]], newest[age[7]]};
    const EightTables moved = ((folded_ + folded_) ^ (enters & first_bit_)) ^ (leaves & last_bit_);
    folded_ = (moved ^ moved >> kFoldBits) & kFoldMask;
  }

 private:
  // A prime: bits that come back every second or third time fall on all places.
  static constexpr int kFoldBits = 13;
  static constexpr uint16_t kFoldMask = (1 << kFoldBits) - 1;
  static constexpr uint16_t kMix = 0x9e37;

  void learn(int8_t& by_address, const std::array<uint16_t, kMostTables>& at, bool taken,
             bool was_right);
  void move_history();

  std::vector<int8_t> by_address_;
  // The weights of all tables; those of one index are side by side. What there is no table for
  // stays 0.
  std::vector<int8_t> weights_;
  uint32_t tables_;
  int limit_;  // weights are from -limit_ to limit_ - 1
  // Adapts, so that it learns from right ones as often as from wrong ones.
  int sure_above_ = 8;
  int unsure_ = 0;

  // The newest bits of history, as many as the table's length, folded by exclusive or.
  EightTables folded_{};
  EightTables first_bit_{};  // where a bit enters
  EightTables last_bit_{};   // and where it leaves
  int index_bits_;
  std::array<uint16_t, kMostTables> lengths_{};

  // Bits, one per number: all ones or none. The newest is at newest_, older ones behind it; when
  // there is no more room in front, those that still count move to the end.
  std::array<uint16_t, 4096> history_{};
  size_t newest_ = history_.size() - kLongestHistory - 1;
};

}  // namespace culprit::simulate
