#include "model/builder.h"

#include <algorithm>

namespace culprit {

namespace {

/// Mixes fields into a hash (the multiplier is that of splitmix64).
template <class... Fields>
size_t mix(Fields... fields) {
  uint64_t hash = 0;
  const auto add = [&](uint64_t field) {
    hash = (hash ^ field) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  };
  (add(static_cast<uint64_t>(fields)), ...);
  return hash;
}

}  // namespace

size_t ProfileBuilder::Hash::operator()(const CellKey& key) const noexcept {
  return mix(key.context.value, key.location.image.value, key.location.offset.value,
             key.event.value);
}

size_t ProfileBuilder::Hash::operator()(const StackCellKey& key) const noexcept {
  return mix(key.context.value, key.stack.value, key.event.value);
}

size_t ProfileBuilder::Hash::operator()(const BranchKey& key) const noexcept {
  return mix(key.context.value, key.from.image.value, key.from.offset.value, key.to.image.value,
             key.to.offset.value);
}

size_t ProfileBuilder::Hash::operator()(const RangeKey& key) const noexcept {
  return mix(key.context.value, key.image.value, key.from.value, key.to.value);
}

size_t ProfileBuilder::Hash::operator()(const Context& c) const noexcept {
  return mix(c.run.value, c.process.value, c.thread.value, c.mode, c.cgroup.value, c.label.value,
             c.time_slice);
}

size_t ProfileBuilder::Hash::operator()(const StackNode& node) const noexcept {
  return mix(node.parent.value, node.location.image.value, node.location.offset.value);
}

ContextId ProfileBuilder::intern_context(const Context& context) {
  const auto [at, is_new] = contexts_.try_emplace(context, ContextId(profile_.contexts.size()));
  if (is_new) profile_.contexts.push_back(context);
  return at->second;
}

StackId ProfileBuilder::intern_stack(const StackNode& node) {
  const auto [at, is_new] = stacks_.try_emplace(node, StackId(profile_.stacks.size()));
  if (is_new) profile_.stacks.push_back(node);
  return at->second;
}

void ProfileBuilder::Sum::operator+=(const Sum& other) {
  samples += other.samples;
  value += other.value;
  variance += other.variance;
}

void ProfileBuilder::BranchSum::operator+=(const BranchSum& other) {
  count += other.count;
  mispredicted += other.mispredicted;
  cycles += other.cycles;
  judged += other.judged;
  timed += other.timed;
}

void ProfileBuilder::add(ContextId context, const Location& location, EventId event,
                         uint64_t samples, uint64_t value, double variance) {
  cells_.add({context, location, event}, {samples, value, variance});
}

void ProfileBuilder::add_stack(ContextId context, StackId stack, EventId event, uint64_t samples,
                               uint64_t value) {
  stack_cells_.add({context, stack, event}, {samples, value, 0});
}

void ProfileBuilder::add_branch(const BranchCount& branch) {
  branches_.add({branch.context, branch.from, branch.to},
                {branch.count, branch.mispredicted, branch.cycles, branch.judged, branch.timed});
}

void ProfileBuilder::add_fall_through(const FallThrough& range) {
  fall_throughs_.add({range.context, range.image, range.from, range.to}, range.count);
}

void ProfileBuilder::take_counts() {
  take_histograms();
  take_stack_counts();
  take_branches();
  profile_.memory_samples = std::move(memory_samples_);
  memory_samples_.clear();
}

void ProfileBuilder::take_histograms() {
  const std::vector<SortedSums<CellKey, Sum, Hash>::Entry> entries = cells_.take();
  profile_.histograms.clear();
  for (size_t first = 0; first < entries.size();) {
    const CellKey group = entries[first].first;
    size_t last = first;
    std::vector<EventId> events;
    Histogram histogram{group.context, group.location.image, {}, {}};
    for (; last < entries.size(); ++last) {
      const CellKey& key = entries[last].first;
      if (key.context != group.context || key.location.image != group.location.image) break;
      if (histogram.offsets.empty() || histogram.offsets.back() != key.location.offset) {
        histogram.offsets.push_back(key.location.offset);
      }
      if (std::find(events.begin(), events.end(), key.event) == events.end()) {
        events.push_back(key.event);
      }
    }
    std::sort(events.begin(), events.end());
    for (const EventId event : events) {
      const size_t rows = histogram.offsets.size();
      histogram.columns.push_back(
          {event, std::vector<uint64_t>(rows), std::vector<uint64_t>(rows), {}});
    }
    size_t row = 0;
    for (; first < last; ++first) {
      const auto& [key, sum] = entries[first];
      while (histogram.offsets[row] != key.location.offset) ++row;
      const size_t column = static_cast<size_t>(
          std::lower_bound(events.begin(), events.end(), key.event) - events.begin());
      histogram.columns[column].samples[row] = sum.samples;
      histogram.columns[column].value[row] = sum.value;
      if (sum.variance == 0) continue;
      histogram.columns[column].variance.resize(histogram.offsets.size());
      histogram.columns[column].variance[row] = sum.variance;
    }
    profile_.histograms.push_back(std::move(histogram));
  }
}

void ProfileBuilder::take_stack_counts() {
  profile_.stack_counts.clear();
  for (const auto& [key, sum] : stack_cells_.take()) {
    profile_.stack_counts.push_back(
        {key.context, key.stack, Cell{key.event, sum.samples, sum.value, 0}});
  }
}

void ProfileBuilder::take_branches() {
  profile_.branch_counts.clear();
  for (const auto& [key, sum] : branches_.take()) {
    profile_.branch_counts.push_back({key.context, key.from, key.to, sum.count, sum.mispredicted,
                                      sum.cycles, sum.judged, sum.timed});
  }
  profile_.fall_throughs.clear();
  for (const auto& [key, count] : fall_throughs_.take()) {
    profile_.fall_throughs.push_back({key.context, key.image, key.from, key.to, count});
  }
}

}  // namespace culprit
