#pragma once

// Use: what some code did to memory, or what was done to some data: sums of accesses, misses,
// tenures and cycles. Sums over parts are the whole.
//
//     const UseEvents events = find_use_events(profile);
//     std::vector<Use> rows;
//     add_uses(profile, events, [&](ContextId, Location at, ObjectId) { return row_of(at); },
//     rows);

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "locality/caches.h"
#include "locality/sample_errors.h"
#include "model/profile.h"
#include "model/sums.h"
#include "print/values.h"

namespace culprit {

/// What a random group of a sample of cache sets tells of LineUse, scaled.
struct GroupUse {
  uint64_t lines = 0;
  uint64_t bytes_touched = 0;
  uint64_t bytes_accessed = 0;
  friend bool operator==(const GroupUse&, const GroupUse&) = default;
};

/// What became of lines of one level: sums of Tenure rows, whose fields these are.
struct LineUse {
  uint64_t lines = 0;
  uint64_t bytes_touched = 0;
  uint64_t bytes_accessed = 0;
  uint64_t touches = 0;
  uint64_t lines_reused = 0;
  uint64_t lines_at_end = 0;
  uint64_t lines_prefetched = 0;
  uint64_t lines_never_used = 0;
  uint64_t lines_cut = 0;
  std::vector<GroupUse> groups{};  // with a sample of sets, of the sums, by stratum - 1

  LineUse& operator+=(const LineUse& other);
  LineUse& operator+=(const Tenure& tenure);
  friend bool operator==(const LineUse&, const LineUse&) = default;
};

/// How many of the bytes brought in were used before the line left, or the run ended.
/// Units:  bytes, lines [count] -> [percent]
/// Errors: estimate_spatial_error(); nullopt if no lines were brought in
/// Source: papers/source-interdependence-sip, section 5.2
std::optional<double> compute_spatial_percent(const LineUse& use, uint32_t line_bytes);

/// How often each byte was used again, on average, of those that were used.
/// Units:  bytes -> [uses per byte]
/// Errors: estimate_temporal_error(); nullopt if no byte was used
/// Source: papers/source-interdependence-sip, section 5.2
std::optional<double> compute_temporal_use(const LineUse& use);

/// Errors of these, and of the lines themselves, of a sample of sets.
SampleError estimate_lines_error(const LineUse& use, const SetSampling& sampling);
SampleError estimate_spatial_error(const LineUse& use, const Caches& caches);
/// The error of temporal use is at least that of as many events as lines would have the bytes that
/// were used again: what is used again is often in a few lines, and then the few random groups of
/// a small sample need not show how they differ.
SampleError estimate_temporal_error(const LineUse& use, const Caches& caches);

/// The kinds of data accesses, as AccessKind begins.
inline constexpr size_t kDataKinds = 4;
inline constexpr size_t kMissLevels = 3;  // that L1D, L2, L3 did not have

/// Accesses of one kind.
struct KindUse {
  uint64_t accesses = 0;
  double access_variance = 0;  // as Use has it
  std::array<uint64_t, kMissLevels> misses{};
  std::array<double, kMissLevels> miss_variance{};  // as Use has it
  std::array<LineUse, kTenureLevels.size()> levels;
  double waits = 0;  // as Use has it
};

struct Use {
  uint64_t accesses = 0;
  double access_variance = 0;  // where it is estimated which data objects they are of
  std::array<uint64_t, kMissLevels> misses{};
  std::array<double, kMissLevels> miss_variance{};  // of a sample; 0: they are exact
  std::array<LineUse, kTenureLevels.size()> levels;
  Sum cost;           // of the event that says what it costs
  double cycles = 0;  // modelled, whatever the cost is of
  double waits = 0;   // of these, waiting for data, or for room to store them
  double shared = 0;  // the modelled ones in measured cycles (UseEvents::scale)

  Use& operator+=(const Use& other);
};

/// Where all data objects are added up, how many accesses there were is exact.
template <class Counted>
void forget_access_errors(Counted& rows) {
  for (auto& row : rows) row.access_variance = 0;
}

/// What a Use's cost is, and which events of the profile say what.
struct UseEvents {
  enum class Cost : uint8_t {
    measured,  // cycles by a native run's samples and clock
    modelled,  // sim:cycles
    shared,    // measured cycles of loops, by what the model has of them (LoopScales)
    misses,    // of L1D: no cycles were modelled
  };
  Cost cost = Cost::misses;
  Event cost_event;            // how sums become values; of misses a counted event
  double cost_scale = 1;       // of its values -> cycles
  std::vector<uint8_t> roles;  // by event: what it adds to; internal to add_uses()
  bool has_misses = false;
  bool has_waits = false;
  /// Measured cycles for a modelled one at a place; none: 1.
  std::function<double(const Location&)> scale;

  /// Cycles, or misses.
  [[nodiscard]] Value value_of(const Use& use) const;
  /// "~cycles", "?cycles", "=misses".
  [[nodiscard]] const char* heading() const;
};
/// `may_be_measured`: not of data objects, as samples of time tell nothing of those.
UseEvents find_use_events(const Profile& profile, bool may_be_measured = true);

namespace use_internal {
/// Adds one count; `scale`: as UseEvents has it of its place.
void add_count(const UseEvents& events, const Event& event, size_t number, const Sum& sum,
               double scale, Use& use);
/// What an instruction's accesses are.
struct InstructionKind {
  bool is_float = false;  // of floating-point values
  bool has_loads = false;
};
InstructionKind find_kind(const Profile& profile, const UseEvents& events,
                          const Histogram& histogram, size_t row);
void add_kind_count(const UseEvents& events, const Event& event, size_t number, const Sum& sum,
                    InstructionKind of, std::array<KindUse, kDataKinds>& kinds);
Sum sum_at(const Profile& profile, const Histogram& histogram, const EventColumn& column,
           size_t row);
}  // namespace use_internal

/// Adds each count and tenure to the row that `row_of(context, location, object)` gives; kNoRow:
/// to none. Rows are made as they are named.
inline constexpr uint32_t kNoRow = 0xffffffff;
template <class RowOf>
void add_uses(const Profile& profile, const UseEvents& events, RowOf row_of,
              std::vector<Use>& rows) {
  const auto find = [&](ContextId context, const Location& at, ObjectId object) -> Use* {
    const uint32_t row = row_of(context, at, object);
    if (row == kNoRow) return nullptr;
    if (row >= rows.size()) rows.resize(std::max<size_t>(row + size_t{1}, rows.size()));
    return &rows[row];
  };
  for (const Histogram& histogram : profile.histograms) {
    for (size_t i = 0; i < histogram.offsets.size(); ++i) {
      const ObjectId object = i < histogram.objects.size() ? histogram.objects[i] : ObjectId();
      const Location at{histogram.image, histogram.offsets[i]};
      Use* const use = find(histogram.context, at, object);
      if (use == nullptr) continue;
      const double scale = events.scale ? events.scale(at) : 1;
      for (const EventColumn& column : histogram.columns) {
        if (column.event.value >= profile.events.size()) continue;
        const Sum sum = use_internal::sum_at(profile, histogram, column, i);
        if (sum.empty()) continue;
        use_internal::add_count(events, profile.events[column.event.value], column.event.value, sum,
                                scale, *use);
      }
    }
  }
  for (const Tenure& tenure : profile.tenures) {
    const auto level = tenure_level(tenure.level);
    // Lines of code come to the levels that data use, too, and are no use of data there.
    const bool is_code = tenure.kind == AccessKind::fetch && tenure.level != CacheLevel::l1i;
    if (!level || is_code) continue;
    Use* const use = find(tenure.context, tenure.location, tenure.object);
    if (use != nullptr) use->levels[*level] += tenure;
  }
}

/// What `holds(context, location, object)` chooses, split by kind of access.
template <class Holds>
std::array<KindUse, kDataKinds> split_by_kind(const Profile& profile, const UseEvents& events,
                                              Holds holds) {
  std::array<KindUse, kDataKinds> kinds;
  for (const Histogram& histogram : profile.histograms) {
    for (size_t i = 0; i < histogram.offsets.size(); ++i) {
      const ObjectId object = i < histogram.objects.size() ? histogram.objects[i] : ObjectId();
      if (!holds(histogram.context, Location{histogram.image, histogram.offsets[i]}, object)) {
        continue;
      }
      const auto kind = use_internal::find_kind(profile, events, histogram, i);
      for (const EventColumn& column : histogram.columns) {
        if (column.event.value >= profile.events.size()) continue;
        const Sum sum = use_internal::sum_at(profile, histogram, column, i);
        use_internal::add_kind_count(events, profile.events[column.event.value], column.event.value,
                                     sum, kind, kinds);
      }
    }
  }
  for (const Tenure& tenure : profile.tenures) {
    const auto level = tenure_level(tenure.level);
    const auto kind = static_cast<size_t>(tenure.kind);
    if (!level || kind >= kDataKinds) continue;
    if (holds(tenure.context, tenure.location, tenure.object)) kinds[kind].levels[*level] += tenure;
  }
  return kinds;
}

}  // namespace culprit
