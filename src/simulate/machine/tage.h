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

/// A number for each table, four at a time, which is one register of the oldest x86-64 (wider
/// vectors go through memory where they are not native).
using FourTables [[gnu::vector_size(16)]] = uint32_t;

/// The last so many bits of history, folded to `width` bits by exclusive or, for each of four
/// tables' lengths; kept up to date in a few operations per branch.
struct FoldedHistories {
  FourTables values{};
  FourTables out{};  // the bit where a history's oldest bit leaves it
  FourTables mask{};
  int width = 1;

  FoldedHistories() = default;
  FoldedHistories(const FourTables& lengths, uint32_t folded_width)
      : mask(FourTables{} + ((1U << folded_width) - 1)), width(static_cast<int>(folded_width)) {
    for (int i = 0; i < 4; ++i) out[i] = 1U << lengths[i] % folded_width;
  }

  /// `enters` is the new bit, `leaves` of each table all ones if the one that is too old for it
  /// now was set.
  void push(uint32_t enters, const FourTables& leaves) {
    const FourTables moved = (values << 1 | enters) ^ (leaves & out);
    values = (moved ^ moved >> width) & mask;
  }
};

class Tage {
 public:
  explicit Tage(const BranchSettings& settings);

  /// Predicts the branch at `address` and learns that it was `taken`. Returns the prediction.
  bool predict(uint64_t address, bool taken);

  /// Adds a bit to the history: of conditional branches predict() does it.
  void push_history(bool bit);

 private:
  static constexpr uint32_t kMostTables = 16;
  static constexpr uint32_t kTagBits = 11;

  struct Entry {
    uint16_t tag = 0;
    int8_t counter = 0;  // -4 to 3; 0 and above: taken
    uint8_t useful = 0;  // 0 to 3
  };
  /// What the tables say of a branch.
  struct Lookup {
    alignas(16) std::array<uint32_t, kMostTables> entries;  // numbers
    alignas(16) std::array<uint32_t, kMostTables> tags;
    int provider = -1;  // table; -1: the bimodal one
    bool provider_taken = false;
    bool other_taken = false;  // of the next longest match
    bool is_new = false;       // the provider has not proved itself yet
    bool taken = false;
  };

  /// Four tables, their histories folded for the index and, in two ways, for the tag.
  struct Four {
    FourTables lengths{};
    FourTables first_entry{};  // of each table
    // Folded to the width of a tag, to one bit less, and to that of an index if it is another.
    std::array<FoldedHistories, 3> folded;
  };

  void look_up(uint64_t address, Lookup& found);
  void learn(Lookup& found, uint64_t address, bool taken);
  void allocate(Lookup& found, bool taken);
  void age_useful();
  int8_t& bimodal_at(uint64_t address) {
    return bimodal_[(address ^ address >> 2) & (bimodal_.size() - 1)];
  }

  std::vector<int8_t> bimodal_;  // -2 to 1; 0 and above: taken
  uint32_t tables_ = 0;
  uint32_t index_bits_ = 0;
  size_t index_fold_ = 0;       // which of the folded histories is as wide as an index
  std::vector<Entry> entries_;  // of all tables, one after the other
  std::array<Four, kMostTables / 4> fours_;
  // Bits, one per word: all ones or none. The newest is at newest_, older ones behind it; when
  // there is no more room in front, those that still count move to the end.
  static constexpr size_t kLongestHistory = 1024;
  std::array<uint32_t, 4 * kLongestHistory> history_{};
  size_t newest_ = history_.size() - kLongestHistory;
  int32_t trust_other_ = 0;  // -8 to 7; 0 and above: instead of a new entry
  uint32_t random_ = 0x12345678;
  uint32_t branches_ = 0;
};

}  // namespace culprit::simulate
