#pragma once

// What rows must fulfil so that everybody else may use a profile without checking: ids
// name rows that exist (or are "all" where profile.h leaves that open), parents come
// before their children, floating-point numbers are finite, sums fit into 64 bits.
//
// Used by the reader, because files may come from strangers, and by the writer, because
// a file that cannot be read back must not be written.

#include <cmath>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <vector>

#include "store/field_values.h"
#include "store/row_fields.h"

namespace culprit {

/// How many rows each table has.
struct TableSizes {
  size_t strings = 0;
  size_t runs = 0;
  size_t processes = 0;
  size_t threads = 0;
  size_t contexts = 0;
  size_t events = 0;
  size_t images = 0;
  size_t stacks = 0;
  size_t objects = 0;
  size_t regions = 0;

  TableSizes() = default;
  explicit TableSizes(const Profile& profile);
  [[nodiscard]] size_t of(StringId) const { return strings; }
  [[nodiscard]] size_t of(RunId) const { return runs; }
  [[nodiscard]] size_t of(ProcessId) const { return processes; }
  [[nodiscard]] size_t of(ThreadId) const { return threads; }
  [[nodiscard]] size_t of(ContextId) const { return contexts; }
  [[nodiscard]] size_t of(EventId) const { return events; }
  [[nodiscard]] size_t of(ImageId) const { return images; }
  [[nodiscard]] size_t of(StackId) const { return stacks; }
  [[nodiscard]] size_t of(ObjectId) const { return objects; }
  [[nodiscard]] size_t of(RegionId) const { return regions; }
};

// What a row needs beside ids in range; `index` is its own row number.

inline bool is_sound(const auto&, size_t) {
  return true;
}

template <class Tag>
bool is_earlier(Id<Tag> parent, size_t index) {
  return parent.is_all() || parent.value < index;
}
inline bool is_sound(const StackNode& row, size_t index) {
  return is_earlier(row.parent, index);
}
inline bool is_sound(const DataObject& row, size_t index) {
  return is_earlier(row.parent, index);
}
inline bool is_sound(const Region& row, size_t index) {
  return is_earlier(row.parent, index);
}

inline bool is_sound(const HistogramRow& row, size_t) {
  return !row.context.is_all() && !row.location.image.is_all() && !row.cell.event.is_all() &&
         row.cell.variance >= 0;
}
inline bool is_sound(const StackCount& row, size_t) {
  return !row.context.is_all() && !row.stack.is_all() && !row.cell.event.is_all() &&
         row.cell.variance >= 0;
}
inline bool is_sound(const BranchCount& row, size_t) {
  return !row.context.is_all();
}
inline bool is_sound(const FallThrough& row, size_t) {
  return !row.context.is_all() && !row.image.is_all() && row.from <= row.to;
}
inline bool is_sound(const MemorySample& row, size_t) {
  return !row.context.is_all() && !row.event.is_all();
}
inline bool is_sound(const Count& row, size_t) {
  return !row.context.is_all() && !row.event.is_all();
}
inline bool is_sound(const ObjectRange& row, size_t) {
  return !row.object.is_all();
}
inline bool is_sound(const Access& row, size_t) {
  return !row.context.is_all();
}
inline bool is_sound(const Tenure& row, size_t) {
  return !row.context.is_all();
}
inline bool is_sound(const Edge& row, size_t) {
  return !row.from_context.is_all() && !row.to_context.is_all();
}
inline bool is_sound(const RegionValue& row, size_t) {
  return !row.context.is_all() && !row.region.is_all();
}

/// Nouns whose 64-bit numbers are counts that somebody will add up.
template <class Row>
inline constexpr bool kIsSummable =
    std::is_same_v<Row, HistogramRow> || std::is_same_v<Row, StackCount> ||
    std::is_same_v<Row, BranchCount> || std::is_same_v<Row, FallThrough> ||
    std::is_same_v<Row, Count> || std::is_same_v<Row, Access> || std::is_same_v<Row, Tenure> ||
    std::is_same_v<Row, Edge> || std::is_same_v<Row, RegionValue>;

/// Checks rows whose first has the number `first`; the message names the offender.
template <class Row>
Result<void> check_rows(std::string_view table, std::span<const Row> rows, const TableSizes& sizes,
                        size_t first = 0) {
  std::vector<uint64_t> sums(16);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string_view bad;
    size_t at = 0;
    visit_fields(
        [&]<class T>(std::string_view name, const T& field) {
          if constexpr (kIsId<T>) {
            if (!field.is_all() && field.value >= sizes.of(field)) bad = name;
          } else if constexpr (std::is_same_v<T, double>) {
            if (!std::isfinite(field)) bad = name;
          } else if constexpr (kIsSummable<Row> && std::is_same_v<T, uint64_t>) {
            uint64_t& sum = sums[at++];
            sum += field;
            if (sum < field) bad = name;
          }
        },
        rows[i]);
    if (bad.empty() && !is_sound(rows[i], first + i)) bad = "one of its ids";
    if (!bad.empty()) {
      return Error{fmt::format("row {} of '{}': '{}' is out of range", first + i, table, bad)};
    }
  }
  return {};
}

}  // namespace culprit
