#include "simulate/machine/gehl.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace culprit::simulate {

Gehl::Gehl(const BranchSettings& settings)
    : by_address_(settings.bimodal_entries),
      weights_(size_t{kMostTables} * settings.history_entries),
      tables_(std::min(settings.history_tables, kMostTables)),
      limit_(tables_ == 0 ? 2 : 16),
      index_bits_(std::countr_zero(settings.history_entries)) {
  const double ratio = static_cast<double>(settings.longest_history) / settings.shortest_history;
  for (uint32_t i = 0; i < tables_; ++i) {
    const double part = tables_ == 1 ? 0 : static_cast<double>(i) / (tables_ - 1);
    lengths_[i] =
        static_cast<uint16_t>(std::lround(settings.shortest_history * std::pow(ratio, part)));
    first_bit_[i] = 1;
    last_bit_[i] = static_cast<uint16_t>(1U << lengths_[i] % kFoldBits);
  }
}

void Gehl::learn(int8_t& by_address, const std::array<uint16_t, kMostTables>& at, bool taken,
                 bool was_right) {
  const int step = taken ? 1 : -1;
  const auto move = [&](int8_t& weight) {
    weight = static_cast<int8_t>(std::clamp(weight + step, -limit_, limit_ - 1));
  };
  move(by_address);
  for (size_t i = 0; i < tables_; ++i) move(weights_[at[i] + i]);
  constexpr int kAdaptAfter = 32;
  unsure_ += was_right ? 1 : -1;
  if (unsure_ <= -kAdaptAfter) {
    ++sure_above_;
    unsure_ = 0;
  } else if (unsure_ >= kAdaptAfter) {
    sure_above_ = std::max(sure_above_ - 1, 0);
    unsure_ = 0;
  }
}

void Gehl::move_history() {
  newest_ = history_.size() - kLongestHistory - 1;
  std::copy_n(history_.begin(), kLongestHistory + 1, history_.begin() + newest_);
}

}  // namespace culprit::simulate
