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

/// The last `length` bits of history, folded to `width` bits by exclusive or, kept up to date
/// in a few operations per branch.
class FoldedHistory {
 public:
  FoldedHistory() = default;
  FoldedHistory(uint32_t length, uint32_t width) : width_(width), out_(length % width) {}

  /// `enters` is the new bit, `leaves` the one that is `length` bits old now.
  void push(uint32_t enters, uint32_t leaves) {
    value_ = value_ << 1 | enters;
    value_ ^= leaves << out_;
    value_ ^= value_ >> width_;
    value_ &= (1U << width_) - 1;
  }
  [[nodiscard]] uint32_t value() const { return value_; }

 private:
  uint32_t value_ = 0;
  uint32_t width_ = 1;
  uint32_t out_ = 0;
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
  struct Table {
    uint32_t history = 0;
    FoldedHistory index, tag, tag_again;
    std::vector<Entry> entries;
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
  std::vector<Table> tables_;
  std::array<uint8_t, 1024> history_{};  // a ring of bits, one per byte
  uint32_t newest_ = 0;
  int32_t trust_other_ = 0;  // -8 to 7; 0 and above: instead of a new entry
  uint32_t random_ = 0x12345678;
  uint32_t branches_ = 0;
};

}  // namespace culprit::simulate
