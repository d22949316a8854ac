#pragma once

// Tage: directions of conditional branches. A table of two-bit counters by address, and tables
// tagged with address and ever longer histories (geometric lengths); the longest history
// that knows the branch predicts.
//
// Source: A. Seznec, P. Michaud, A Case for (Partially) TAgged GEometric History Length Branch
//         Prediction, Journal of Instruction-Level Parallelism 8 (2006)

#include <array>
#include <cstdint>
#include <vector>

#include "simulate/machine/machine.h"

namespace culprit::simulate {

/// The last so many bits of history, folded to `width` bits by exclusive or, for each table's
/// length; kept up to date in a few operations per branch, for all tables at once.
class FoldedHistories {
 public:
  static constexpr uint32_t kMost = 16;
  using PerTable = std::array<uint32_t, kMost>;

  FoldedHistories() = default;
  FoldedHistories(const PerTable& lengths, uint32_t width) : width_(width) {
    for (uint32_t i = 0; i < kMost; ++i) out_[i] = lengths[i] % width;
  }

  /// `enters` is the new bit, `leaves` of each table the one that is too old for it now.
  void push(uint32_t enters, const PerTable& leaves) {
    const uint32_t mask = (1U << width_) - 1;
    for (uint32_t i = 0; i < kMost; ++i) {
      uint32_t value = (values_[i] << 1 | enters) ^ leaves[i] << out_[i];
      value ^= value >> width_;
      values_[i] = value & mask;
    }
  }
  [[nodiscard]] uint32_t operator[](size_t table) const { return values_[table]; }

 private:
  PerTable values_{};
  PerTable out_{};
  uint32_t width_ = 1;
};

class Tage {
 public:
  explicit Tage(const BranchSettings& settings);

  /// Predicts the branch at `address` and learns that it was `taken`. Returns the prediction.
  bool predict(uint64_t address, bool taken);

  /// Adds a bit to the history: of conditional branches predict() does it.
  void push_history(bool bit);

 private:
  static constexpr uint32_t kMostTables = FoldedHistories::kMost;
  static constexpr uint32_t kTagBits = 11;

  struct Entry {
    uint16_t tag = 0;
    int8_t counter = 0;  // -4 to 3; 0 and above: taken
    uint8_t useful = 0;  // 0 to 3
  };
  /// What the tables say of a branch.
  struct Lookup {
    std::array<Entry*, kMostTables> entries;
    std::array<uint16_t, kMostTables> tags;
    int provider = -1;  // table; -1: the bimodal one
    bool provider_taken = false;
    bool other_taken = false;  // of the next longest match
    bool is_new = false;       // the provider has not proved itself yet
    bool taken = false;
  };

  Lookup look_up(uint64_t address);
  void learn(Lookup& found, uint64_t address, bool taken);
  void allocate(Lookup& found, bool taken);
  void age_useful();
  int8_t& bimodal_at(uint64_t address) {
    return bimodal_[(address ^ address >> 2) & (bimodal_.size() - 1)];
  }

  std::vector<int8_t> bimodal_;  // -2 to 1; 0 and above: taken
  uint32_t tables_ = 0;
  uint32_t index_bits_ = 0;
  std::vector<Entry> entries_;  // of all tables, one after the other
  FoldedHistories::PerTable lengths_{};
  FoldedHistories index_, tag_, tag_again_;
  std::array<uint8_t, 1024> history_{};  // a ring of bits, one per byte
  uint32_t newest_ = 0;
  int32_t trust_other_ = 0;  // -8 to 7; 0 and above: instead of a new entry
  uint32_t random_ = 0x12345678;
  uint32_t branches_ = 0;
};

}  // namespace culprit::simulate
