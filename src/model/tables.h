#pragma once

// The tables of a Profile and its kinds of counts, listed once. The names are those in the file.

#include <array>
#include <cstddef>

#include "model/field_list.h"
#include "model/profile.h"

namespace culprit {

/// A table whose rows have ids of this type.
template <class IdType_>
struct ProfileTable {
  using IdType = IdType_;
  std::string_view name;
};

/// Calls visit(ProfileTable<IdType>, profile.table...) for each table; those that rows refer to
/// come before them.
constexpr void visit_tables(auto&& visit, auto&... profiles) {
  visit(ProfileTable<RunId>{"runs"}, profiles.runs...);
  visit(ProfileTable<ProcessId>{"processes"}, profiles.processes...);
  visit(ProfileTable<ThreadId>{"threads"}, profiles.threads...);
  visit(ProfileTable<ImageId>{"images"}, profiles.images...);
  visit(ProfileTable<RegionId>{"regions"}, profiles.regions...);
  visit(ProfileTable<ContextId>{"contexts"}, profiles.contexts...);
  visit(ProfileTable<EventId>{"events"}, profiles.events...);
  visit(ProfileTable<StackId>{"stacks"}, profiles.stacks...);
  visit(ProfileTable<ObjectId>{"objects"}, profiles.objects...);
  visit(ProfileTable<ObjectRangeId>{"object_ranges"}, profiles.object_ranges...);
}

/// Calls visit(name, profile.counts...) for each kind of count but histograms, which are the only
/// one whose rows (HistogramRow) are kept in columns.
constexpr void visit_flat_counts(auto&& visit, auto&... profiles) {
  visit("stack_counts", profiles.stack_counts...);
  visit("kernel_stacks", profiles.kernel_stacks...);
  visit("branch_counts", profiles.branch_counts...);
  visit("fall_throughs", profiles.fall_throughs...);
  visit("sampled_accesses", profiles.sampled_accesses...);
  visit("counts", profiles.counts...);
  visit("slice_counts", profiles.slice_counts...);
  visit("tenures", profiles.tenures...);
  visit("edges", profiles.edges...);
  visit("region_values", profiles.region_values...);
  visit("access_offsets", profiles.access_offsets...);
}

/// All kinds of counts.
constexpr void visit_counts(auto&& visit, auto&... profiles) {
  visit("histograms", profiles.histograms...);
  visit_flat_counts(visit, profiles...);
}

/// The place of a table in the list.
template <class IdType>
consteval size_t table_index() {
  size_t index = 0;
  size_t found = ~size_t{0};
  visit_tables([&]<class One>(ProfileTable<One>) {
    if (std::is_same_v<One, IdType>) found = index;
    ++index;
  });
  return found;
}

consteval size_t count_tables() {
  size_t count = 0;
  visit_tables([&](const auto&) { ++count; });
  return count;
}

consteval size_t count_kinds_of_counts() {
  size_t count = 0;
  visit_counts([&](std::string_view) { ++count; });
  return count;
}

/// How many rows each table has.
class TableSizes {
 public:
  TableSizes() = default;
  explicit TableSizes(const Profile& profile) {
    of(StringId()) = profile.strings.size();
    visit_tables(
        [&]<class IdType>(ProfileTable<IdType>, const auto& rows) { of(IdType()) = rows.size(); },
        profile);
  }

  /// How many rows the table has that such ids name.
  [[nodiscard]] size_t of(StringId) const { return strings_; }
  [[nodiscard]] size_t& of(StringId) { return strings_; }
  template <class Tag>
  [[nodiscard]] size_t of(Id<Tag>) const {
    return rows_[table_index<Id<Tag>>()];
  }
  template <class Tag>
  [[nodiscard]] size_t& of(Id<Tag>) {
    return rows_[table_index<Id<Tag>>()];
  }

 private:
  size_t strings_ = 0;
  std::array<size_t, count_tables()> rows_{};
};

}  // namespace culprit
