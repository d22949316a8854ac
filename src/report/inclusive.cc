#include "report/inclusive.h"

#include <algorithm>
#include <span>

#include "base/row_index.h"
#include "model/counts.h"

namespace culprit {
namespace {

/// Finds the rows of all frames at a location, once for each.
class FrameRows {
 public:
  FrameRows(CodeIndex& code, const RowKeys& keys, const Levels& by, const FindRow& find_row)
      : code_(code), keys_(keys), find_row_(find_row), by_context_(by.context()) {}

  /// Innermost first; frames without a row are left out. Good until the next call.
  std::span<const size_t> at(ContextId context, const Location& location) {
    const Place place{by_context_ ? context : ContextId(), location};
    const size_t hash = std::hash<Location>()(location) + place.context.value;
    const uint32_t known = index_.find_or_add(hash, places_.size(), [&](size_t one) {
      return places_[one].context == place.context && places_[one].location == location;
    });
    if (known == places_.size()) add(place, context);
    const size_t end = known + 1 < places_.size() ? places_[known + 1].first_row : rows_.size();
    return std::span(rows_).subspan(places_[known].first_row, end - places_[known].first_row);
  }

 private:
  struct Place {
    ContextId context;
    Location location;
    size_t first_row = 0;  // in rows_: those up to the next place's first are its own
  };

  void add(Place place, ContextId context) {
    place.first_row = rows_.size();
    places_.push_back(place);
    std::vector<Frame> frames = code_.frames(place.location);
    if (frames.empty()) frames.emplace_back();
    const RowKey who = keys_.of_context(context);
    for (const Frame& frame : frames) {
      const auto row = find_row_(keys_.of_frame(who, place.location, frame));
      if (row) rows_.push_back(*row);
    }
  }

  CodeIndex& code_;
  const RowKeys& keys_;
  const FindRow& find_row_;
  bool by_context_;
  RowIndex index_;
  std::vector<Place> places_;
  std::vector<size_t> rows_;
};

}  // namespace

bool has_inclusive(const Profile& profile, const Levels& by) {
  return !profile.stack_counts.empty() && !by.address() && !by.object && (by.code() || by.module);
}

void add_callers(CodeIndex& code, const RowKeys& keys, const Levels& by, const FindRow& find_row,
                 std::vector<Sum>& sums) {
  const Profile& profile = code.profile();
  const size_t events = profile.events.size();
  FrameRows frames(code, keys, by, find_row);
  std::vector<size_t> rows;  // of one stack, each once
  for_each_stack_count(profile, [&](const StackCount& count, size_t event, const Sum& sum) {
    rows.clear();
    for (const Location& location : stack_locations(profile, count.stack)) {
      for (const size_t row : frames.at(count.context, location)) rows.push_back(row);
    }
    if (rows.empty()) return;
    const Location& leaf = profile.stacks[count.stack.value].location;
    const std::span<const size_t> innermost = frames.at(count.context, leaf);
    const size_t own = innermost.empty() ? SIZE_MAX : innermost.front();
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (sums.size() < (rows.back() + 1) * events) sums.resize((rows.back() + 1) * events);
    for (const size_t row : rows) {
      if (row != own) sums[row * events + event] += sum;
    }
  });
}

uint64_t count_broken_stacks(const Profile& profile) {
  std::vector<int8_t> is_broken(profile.stacks.size(), -1);  // with all above it; -1: not known yet
  const auto leads_nowhere = [&](const Location& at) {
    if (at.image.value >= profile.images.size()) return true;
    const Image& image = profile.images[at.image.value];
    return image.kind == ImageKind::unknown && !tells_what_it_is(profile.strings.text(image.path));
  };
  std::vector<size_t> path;
  uint64_t broken = 0;
  for_each_stack_count(profile, [&](const StackCount& count, size_t event, const Sum& sum) {
    if (event != 0) return;
    path.clear();
    size_t at = profile.stacks[count.stack.value].parent.value;  // where it was is no matter
    while (at < profile.stacks.size() && is_broken[at] < 0 && path.size() < profile.stacks.size()) {
      path.push_back(at);
      at = profile.stacks[at].parent.value;
    }
    bool is_bad = at < profile.stacks.size() && is_broken[at] == 1;
    for (auto node = path.rbegin(); node != path.rend(); ++node) {
      is_bad = is_bad || leads_nowhere(profile.stacks[*node].location);
      is_broken[*node] = is_bad ? 1 : 0;
    }
    if (is_bad) broken += sum.samples;
  });
  return broken;
}

}  // namespace culprit
