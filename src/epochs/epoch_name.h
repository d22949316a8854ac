#pragma once

// The name of an epoch's file says all that is needed to find it by time:
//
//     20261125T031000Z-600s-1a2b3c4d-12.culprit        the 12th epoch of that boot, 10 minutes
//     20261125T030000Z-3600s-1a2b3c4d-7-12.culprit     the 7th to 12th, merged
//
// An epoch whose numbers lie within those of another of the same boot was merged into it: the
// crash of a compaction leaves such files, and nobody counts them twice. Moments are UTC. The
// clock may be set while we run: numbers keep the order then, and lengths are by a clock that is
// not set.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

struct EpochName {
  int64_t start_s = 0;  // CLOCK_REALTIME
  uint64_t length_s = 0;
  std::string boot;  // the first 8 digits of the boot's id
  uint32_t first = 0;
  uint32_t last = 0;

  [[nodiscard]] int64_t end_s() const { return start_s + static_cast<int64_t>(length_s); }
  [[nodiscard]] bool is_merged() const { return first != last; }
  friend auto operator<=>(const EpochName&, const EpochName&) = default;
};

std::string format_epoch_name(const EpochName& name);
/// nullopt: no name of an epoch.
std::optional<EpochName> parse_epoch_name(std::string_view file_name);

/// Whether `one` is a part of `whole`, another epoch.
bool is_part_of(const EpochName& one, const EpochName& whole);

/// Those that were merged into others, in the order of `names`.
std::vector<EpochName> find_left_over(const std::vector<EpochName>& names);

/// What was asked for: moments in seconds of CLOCK_REALTIME, [from, to).
struct TimeSpan {
  int64_t from_s = INT64_MIN;
  int64_t to_s = INT64_MAX;
};

/// Those of which any part lies within, by start, without what is left over.
std::vector<EpochName> choose_epochs(std::vector<EpochName> names, const TimeSpan& span);

}  // namespace culprit
