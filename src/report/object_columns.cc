#include "report/object_columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "base/text.h"
#include "model/counts.h"
#include "model/engine.h"
#include "report/address_masks.h"
#include "report/row_key.h"

namespace culprit {
namespace {

/// Those that say most first, as far as there is room.
struct Shown {
  std::string_view event;
  const char* heading;
};
constexpr Shown kFirst[] = {
    {"L1-dcache-loads", "loads"},          {"L1-dcache-load-misses", "L1miss"},
    {"LLC-load-misses", "memory"},         {"dTLB-load-misses", "walks"},
    {"L1-dcache-stores", "stores"},        {"sim:stalled-cycles", "stalled"},
    {"L1-dcache-store-misses", "st.miss"}, {"fp-loads", "fp-loads"},
};

/// What data objects have together, by event.
Sums sums_of_objects(const Profile& profile) {
  Sums sums(profile.events.size());
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.objects.empty()) continue;
    for_each_count_of_objects(profile, histogram,
                              [&](const Location&, ObjectId object, size_t event, const Sum& sum) {
                                if (names_row(object)) sums[event] += sum;
                              });
  }
  return sums;
}

std::optional<size_t> find_event(const Profile& profile, std::string_view name) {
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) == name) return event;
  }
  return std::nullopt;
}

/// What hardware would have covered that has so many registers with masks.
std::string describe_cover(const ObjectRange& range, unsigned masks) {
  if (masks == 0) return "";
  const MaskCover cover = cover_by_masks(range.start.value, range.size_bytes, masks);
  return fmt::format("; address masks, {} of them, would have had offsets {} and {}", masks,
                     format_thousands(cover.start_offset), format_thousands(cover.end_offset));
}

/// What was asked for and what is covered are the same: it is not by address masks.
void describe_ranges(const Profile& profile, ReportTable& table) {
  for (const ObjectRange& range : profile.object_ranges) {
    if (range.object.value >= profile.objects.size()) continue;
    const DataObject& object = profile.objects[range.object.value];
    if (object.kind != ObjectKind::range) continue;
    if (object.blocks != 0) {
      table.remarks.push_back(
          fmt::format("range {}: {} bytes in {} blocks, covered exactly: offsets 0 and 0",
                      profile.strings.text(object.name), format_thousands(object.total_bytes),
                      format_thousands(object.blocks)));
      continue;
    }
    table.remarks.push_back(
        fmt::format("range {}: {} bytes from {:#x}, covered exactly: offsets 0 and 0{}",
                    profile.strings.text(object.name), format_thousands(range.size_bytes),
                    range.start.value, describe_cover(range, table.options.address_masks)));
  }
}

/// Sampled data is named as far as the recording tells, which no count has to be told of.
bool has_name_of_data(const Profile& profile, ObjectId id) {
  const DataObject& object = profile.objects[id.value];
  return object.kind == ObjectKind::stack || (object.kind != ObjectKind::unknown &&
                                              !profile.strings.text(object.name).starts_with('['));
}

/// Which share of a sampled event is of data that has a name.
void describe_named(const Profile& profile, size_t shown, ReportTable& table) {
  if (engine_of(profile, profile.events[shown]) == Engine::simulate) return;
  double named = 0;
  double all = 0;
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.objects.empty()) continue;
    for_each_count_of_objects(profile, histogram,
                              [&](const Location&, ObjectId object, size_t event, const Sum& sum) {
                                if (event != shown || !names_row(object)) return;
                                all += static_cast<double>(sum.value);
                                if (has_name_of_data(profile, object))
                                  named += static_cast<double>(sum.value);
                              });
  }
  table.remarks.push_back(fmt::format("{:.1f} % of {} are of data that has a name of its own",
                                      100 * named / all,
                                      profile.strings.text(profile.events[shown].name)));
}

}  // namespace

Result<void> add_object_columns(const Profile& profile, ReportTable& table, RowOrder& order) {
  if (!Levels::of(table.options.by).object) return {};
  const Sums sums = sums_of_objects(profile);
  const auto is_any = [&](size_t event) { return !sums[event].empty(); };
  std::vector<ShownEvent> shown;
  for (const std::string& name : table.options.events) {
    if (const auto event = find_event(profile, name)) shown.push_back({*event, ""});
  }
  if (shown.empty()) {
    for (const Shown& one : kFirst) {
      const auto event = find_event(profile, one.event);
      if (event && is_any(*event)) shown.push_back({*event, one.heading});
    }
    for (size_t event = 0; event < sums.size(); ++event) {
      const bool is_known = std::any_of(shown.begin(), shown.end(),
                                        [&](const ShownEvent& one) { return one.event == event; });
      if (!is_known && is_any(event)) shown.push_back({event, ""});
    }
  }
  if (shown.empty()) {
    return Error{
        "this profile has no counts by data object\nculprit record --objects site COMMAND... has "
        "them, and of sampled accesses culprit record --data and perf mem record"};
  }
  if (table.options.sort.empty()) order = RowOrder::by_value(shown.front().event);
  describe_named(profile, shown.front().event, table);
  table.shown_events = std::move(shown);
  describe_ranges(profile, table);
  return {};
}

}  // namespace culprit
