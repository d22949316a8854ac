#include "binary/range_collector.h"

#include <algorithm>
#include <filesystem>

namespace culprit {

std::string normalize_path(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

RangeCollector::RangeCollector(std::vector<AddressRange> wanted) : wanted_(std::move(wanted)) {
  facts_.ranges.resize(wanted_.size());
  intern("");
}

std::pair<size_t, size_t> RangeCollector::find_overlaps(LinkAddress begin, LinkAddress end) const {
  const auto first = std::partition_point(wanted_.begin(), wanted_.end(),
                                          [&](const AddressRange& r) { return r.end <= begin; });
  const auto last = std::partition_point(first, wanted_.end(),
                                         [&](const AddressRange& r) { return r.begin < end; });
  return {static_cast<size_t>(first - wanted_.begin()),
          static_cast<size_t>(last - wanted_.begin())};
}

bool RangeCollector::wants(LinkAddress begin, LinkAddress end) const {
  const auto [first, last] = find_overlaps(begin, end);
  for (size_t i = first; i < last; ++i)
    if (is_open(i)) return true;
  return false;
}

uint32_t RangeCollector::intern(std::string_view text) {
  const auto [entry, is_new] =
      ids_.try_emplace(std::string(text), static_cast<uint32_t>(facts_.strings.size()));
  if (is_new) facts_.strings.emplace_back(text);
  return entry->second;
}

void RangeCollector::add_function(const DebugFunction& function) {
  const auto overlap = [&](const DebugFunction& f, const AddressRange& r) {
    return std::min(f.end, r.end) - std::max(f.begin, r.begin);
  };
  const auto [first, last] = find_overlaps(function.begin, function.end);
  for (size_t i = first; i < last; ++i) {
    if (!is_open(i)) continue;
    RangeFacts& range = facts_.ranges[i];
    if (!range.unit) owned_.push_back(i);
    range.unit = unit_;
    if (range.lines_unit && *range.lines_unit != unit_) range.lines.clear();
    if (!range.function || overlap(*range.function, wanted_[i]) < overlap(function, wanted_[i]))
      range.function = function;
  }
}

void RangeCollector::add_inline(const DebugInline& call) {
  const auto [first, last] = find_overlaps(call.begin, call.end);
  for (size_t i = first; i < last; ++i) {
    RangeFacts& range = facts_.ranges[i];
    if (range.unit != unit_) continue;
    DebugInline cut = call;
    cut.begin = std::max(call.begin, wanted_[i].begin);
    cut.end = std::min(call.end, wanted_[i].end);
    range.inlines.push_back(cut);
  }
}

bool RangeCollector::wants_lines(size_t index) const {
  return is_open(index) && facts_.ranges[index].lines.empty();
}

void RangeCollector::add_line(size_t index, const DebugLine& row) {
  std::vector<DebugLine>& lines = facts_.ranges[index].lines;
  facts_.ranges[index].lines_unit = unit_;
  if (!lines.empty() && lines.back().address == row.address) {
    lines.back() = row;  // the last row of an address counts
    return;
  }
  if (lines.size() >= 2) {
    const DebugLine& a = lines[lines.size() - 2];
    const DebugLine& b = lines.back();
    if (a.file == b.file && a.line == b.line && a.column == b.column &&
        a.discriminator == b.discriminator)
      lines.pop_back();
  }
  lines.push_back(row);
}

void RangeCollector::forget_unit() {
  for (const size_t i : owned_)
    if (facts_.ranges[i].unit == unit_) facts_.ranges[i] = RangeFacts{};
  owned_.clear();
}

DebugFacts RangeCollector::finish() {
  for (RangeFacts& range : facts_.ranges)
    std::stable_sort(range.inlines.begin(), range.inlines.end(),
                     [](const DebugInline& a, const DebugInline& b) {
                       return a.begin != b.begin ? a.begin < b.begin : a.depth < b.depth;
                     });
  return std::move(facts_);
}

}  // namespace culprit
