#pragma once

// The counts of a profile, added up under the keys of rows.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "model/sums.h"
#include "report/row_key.h"

namespace culprit {

/// Rows of sums, one for each event; a row stays where it is when others are added.
class SumRows {
 public:
  explicit SumRows(size_t events)
      : events_(events), rows_of_block_(std::max<size_t>(1, kSumsOfBlock / (events + 1))) {}

  /// A row of zeros.
  void add() {
    if (size_++ % rows_of_block_ == 0) {
      blocks_.push_back(std::make_unique<Sum[]>(rows_of_block_ * events_));
    }
  }
  [[nodiscard]] std::span<Sum> of(size_t row) const {
    return {blocks_[row / rows_of_block_].get() + row % rows_of_block_ * events_, events_};
  }
  [[nodiscard]] size_t events() const { return events_; }

 private:
  static constexpr size_t kSumsOfBlock = 4096;

  size_t events_;
  size_t rows_of_block_;
  size_t size_ = 0;
  std::vector<std::unique_ptr<Sum[]>> blocks_;
};

/// Rows under construction: keys → sums, in order of arrival.
struct Accounts {
  std::vector<RowKey> keys;
  SumRows sums;

  [[nodiscard]] std::span<Sum> of(size_t row) { return sums.of(row); }
  [[nodiscard]] std::span<const Sum> of(size_t row) const { return sums.of(row); }
  [[nodiscard]] const Sum& of(size_t row, size_t event) const { return sums.of(row)[event]; }
  void add(const RowKey& key) {
    keys.push_back(key);
    sums.add();
  }
};

/// Every count, as fine as `keys` tells places apart.
Accounts add_up(const Profile& profile, RowKeys& keys);

}  // namespace culprit
