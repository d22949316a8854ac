#include "exports/call_paths.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "attribute/code_index.h"
#include "model/counts.h"

namespace culprit {

namespace {

/// A count of one path: of a stack, or of a location alone (stack "none").
struct PathCount {
  ContextId context;
  StackId stack;
  Location location;
  size_t event = 0;
  Sum sum;

  [[nodiscard]] auto path() const { return std::tie(context, stack, location); }
};

using CellKey = std::tuple<ContextId, Location, size_t>;

std::map<CellKey, Sum> collect_cells(const Profile& profile) {
  std::map<CellKey, Sum> cells;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      cells[{histogram.context, at, event}] += sum;
    });
  }
  return cells;
}

/// Moves at most `wanted` out of `cell`.
Sum take(Sum& cell, const Sum& wanted) {
  const Sum taken{std::min(cell.samples, wanted.samples), std::min(cell.value, wanted.value), 0};
  cell.samples -= taken.samples;
  cell.value -= taken.value;
  return taken;
}

std::vector<PathCount> collect_paths(const Profile& profile) {
  std::map<CellKey, Sum> cells = collect_cells(profile);
  std::vector<PathCount> counts;
  for_each_stack_count(profile, [&](const StackCount& count, size_t event, const Sum& sum) {
    const Location leaf = profile.stacks[count.stack.value].location;
    const auto cell = cells.find({count.context, leaf, event});
    if (cell == cells.end()) return;
    const Sum taken = take(cell->second, sum);
    if (!taken.empty()) counts.push_back({count.context, count.stack, leaf, event, taken});
  });
  for (const auto& [key, rest] : cells) {
    const auto& [context, location, event] = key;
    if (!rest.empty()) counts.push_back({context, StackId(), location, event, rest});
  }
  std::sort(counts.begin(), counts.end(),
            [](const PathCount& a, const PathCount& b) { return a.path() < b.path(); });
  return counts;
}

/// Scales come from files, so that the value may be no number.
uint64_t to_integer(long double value) {
  constexpr long double kMost = 0x1p63L;
  return value >= 0 && value < kMost ? static_cast<uint64_t>(std::llroundl(value)) : 0;
}

}  // namespace

uint64_t scaled(const Event& event, uint64_t raw) {
  if (event.scale == 1) return raw;
  return to_integer(static_cast<long double>(raw) * event.scale);
}

void for_each_call_path(const Profile& profile, const std::function<void(const CallPath&)>& visit) {
  const std::vector<PathCount> counts = collect_paths(profile);
  for (auto at = counts.begin(); at != counts.end();) {
    CallPath path;
    path.context = at->context;
    path.has_stack = !at->stack.is_all();
    path.frames = path.has_stack ? stack_locations(profile, at->stack) : std::vector{at->location};
    path.sums.resize(profile.events.size());
    const auto first = at;
    for (; at != counts.end() && at->path() == first->path(); ++at) path.sums[at->event] += at->sum;
    visit(path);
  }
}

Scaler::Scaler(const Profile& profile) {
  for (const Event& event : profile.events) states_.push_back({event.scale, 0, 0});
}

uint64_t Scaler::next(size_t event, uint64_t raw) {
  State& state = states_[event];
  if (state.scale == 1) return raw;
  state.seen += static_cast<long double>(raw) * state.scale;
  const uint64_t now = to_integer(state.seen);
  const uint64_t result = now - std::min(now, state.given);
  state.given += result;
  return result;
}

Who find_who(const Profile& profile, ContextId context) {
  Who who;
  const Context* row = find_row(profile.contexts, context);
  if (row == nullptr) return who;
  who.thread = find_row(profile.threads, row->thread);
  const bool by_thread = row->process.is_all() && who.thread != nullptr;
  who.process = find_row(profile.processes, by_thread ? who.thread->process : row->process);
  return who;
}

}  // namespace culprit
