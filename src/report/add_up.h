#pragma once

// The counts of a profile, added up under the keys of rows.

#include <span>
#include <vector>

#include "model/sums.h"
#include "report/row_key.h"

namespace culprit {

/// Rows under construction: keys → sums, in order of arrival.
struct Accounts {
  size_t events = 0;
  std::vector<RowKey> keys;
  std::vector<Sum> sums;  // rows x events

  [[nodiscard]] std::span<Sum> of(size_t row) { return {sums.data() + row * events, events}; }
  [[nodiscard]] std::span<const Sum> of(size_t row) const {
    return {sums.data() + row * events, events};
  }
  [[nodiscard]] const Sum& of(size_t row, size_t event) const { return sums[row * events + event]; }
};

/// Every count, as fine as `keys` tells places apart.
Accounts add_up(const Profile& profile, RowKeys& keys);

}  // namespace culprit
