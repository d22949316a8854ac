#pragma once

// Walks over all counts of a profile, skipping what a damaged one may hold: columns
// longer than their offsets, events that do not exist.

#include <algorithm>

#include "model/profile.h"
#include "model/sums.h"

namespace culprit {

/// Calls visit(Location, event index, Sum) for one offset of a histogram.
template <class Visit>
void visit_row(const Profile& profile, const Histogram& histogram, size_t row, Visit& visit) {
  const Location location{histogram.image, histogram.offsets[row]};
  for (const EventColumn& column : histogram.columns) {
    const size_t event = column.event.value;
    if (event >= profile.events.size()) continue;
    if (row >= column.value.size()) continue;
    const double variance = row < column.variance.size() ? column.variance[row] : 0;
    const Sum sum =
        make_sum(profile.events[event], column.samples_at(row), column.value[row], variance);
    if (!sum.empty()) visit(location, event, sum);
  }
}

/// Calls visit(Location, event index, Sum) for the counts of a histogram in [begin, end),
/// offset by offset.
template <class Visit>
void for_each_count_within(const Profile& profile, const Histogram& histogram, FileOffset begin,
                           FileOffset end, Visit visit) {
  const auto& offsets = histogram.offsets;
  const auto first = std::lower_bound(offsets.begin(), offsets.end(), begin);
  for (size_t row = static_cast<size_t>(first - offsets.begin());
       row < offsets.size() && offsets[row] < end; ++row) {
    visit_row(profile, histogram, row, visit);
  }
}

/// The object of a row of a histogram.
inline ObjectId object_of_row(const Histogram& histogram, size_t row) {
  return row < histogram.objects.size() ? histogram.objects[row] : ObjectId();
}

/// Calls visit(Location, ObjectId, event index, Sum) for all of a histogram, row by row.
template <class Visit>
void for_each_count_of_objects(const Profile& profile, const Histogram& histogram, Visit visit) {
  for (size_t row = 0; row < histogram.offsets.size(); ++row) {
    const ObjectId object = object_of_row(histogram, row);
    const auto visit_one = [&](const Location& at, size_t event, const Sum& sum) {
      visit(at, object, event, sum);
    };
    visit_row(profile, histogram, row, visit_one);
  }
}

/// Visits without objects, in whatever order the columns have.
template <class Visit>
void for_each_count(const Profile& profile, const Histogram& histogram, Visit visit) {
  for (size_t row = 0; row < histogram.offsets.size(); ++row) {
    visit_row(profile, histogram, row, visit);
  }
}

/// Calls visit(StackCount, event index, Sum) for every count of a call stack.
template <class Visit>
void for_each_stack_count(const Profile& profile, Visit visit) {
  for (const StackCount& count : profile.stack_counts) {
    const size_t event = count.cell.event.value;
    if (event >= profile.events.size() || count.stack.value >= profile.stacks.size()) continue;
    const Sum sum =
        make_sum(profile.events[event], count.cell.samples, count.cell.value, count.cell.variance);
    if (!sum.empty()) visit(count, event, sum);
  }
}

/// Locations of a call stack, leaf first. Parents that form a circle end it.
inline std::vector<Location> stack_locations(const Profile& profile, StackId leaf) {
  constexpr size_t kDeepestStack = 4096;
  std::vector<Location> locations;
  for (StackId at = leaf; at.value < profile.stacks.size() && locations.size() < kDeepestStack;
       at = profile.stacks[at.value].parent) {
    locations.push_back(profile.stacks[at.value].location);
  }
  return locations;
}

inline Sums total_sums(const Profile& profile) {
  Sums total(profile.events.size());
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram,
                   [&](const Location&, size_t event, const Sum& sum) { total[event] += sum; });
  }
  return total;
}

}  // namespace culprit
