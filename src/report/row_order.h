#pragma once

// The order of rows: by a column, ties by the rows' own names, so that the same
// profile always prints the same.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/profile.h"
#include "print/values.h"
#include "report/report.h"
#include "report/row_names.h"

namespace culprit {

/// Orders rows by a value (falling) or a level's names (rising). Ties go by all names, so that the
/// order is total.
class RowOrder {
 public:
  static RowOrder by_value(size_t event) { return {event, false, std::nullopt}; }
  static RowOrder by_samples(size_t event) { return {event, true, std::nullopt}; }
  static RowOrder by_level(RowLevel level) { return {0, false, level}; }

  /// The number that decides first; the same for all rows where a level does.
  [[nodiscard]] double rank(const std::vector<Value>& values) const;
  [[nodiscard]] double rank(const std::vector<Event>& events, std::span<const Sum> sums) const;
  [[nodiscard]] bool names_before(const RowNames& a, const RowNames& b) const;
  [[nodiscard]] bool operator()(const ReportRow& a, const ReportRow& b) const;

 private:
  RowOrder(size_t event, bool by_samples, std::optional<RowLevel> level)
      : event_(event), by_samples_(by_samples), level_(level) {}

  [[nodiscard]] double rank(const Value& value) const;

  size_t event_;
  bool by_samples_;
  std::optional<RowLevel> level_;
};

/// `--sort` by what rows hold with all that was called from them.
inline constexpr std::string_view kInclusive = "inclusive";

/// `sort`: "" or "cycles", "time", "share", "value", "samples" (falling, first event), an
/// event's name (falling), or a level (rising).
Result<RowOrder> make_row_order(const Profile& profile, const std::string& sort);

}  // namespace culprit
