#include "locality/advice_facts.h"

#include "locality/objects.h"

namespace culprit {
namespace {

/// Adds counts of a profile to groups.
class CountAdder {
 public:
  explicit CountAdder(const Profile& profile)
      : profile_(profile), uses_(find_use_events(profile, false)), waits_(profile) {
    for (const Event& event : profile.events) {
      are_loads_.push_back(profile.strings.text(event.name) == "L1-dcache-loads");
    }
  }

  /// All columns of a row, to each of the groups; nullptr: there is none.
  void add(const Histogram& histogram, size_t row, double scale,
           std::initializer_list<GroupFacts*> groups) const {
    for (const EventColumn& column : histogram.columns) {
      const size_t number = column.event.value;
      if (number >= profile_.events.size()) continue;
      const Sum sum = use_internal::sum_at(profile_, histogram, column, row);
      if (sum.empty()) continue;
      const Event& event = profile_.events[number];
      for (GroupFacts* const group : groups) {
        if (group == nullptr) continue;
        use_internal::add_count(uses_, event, number, sum, scale, group->use);
        waits_.add(number, sum.value, event.scale, group->waits);
        if (are_loads_[number]) group->loads += sum.value;
      }
    }
  }

 private:
  const Profile& profile_;
  UseEvents uses_;
  WaitEvents waits_;
  std::vector<bool> are_loads_;
};

/// nullopt: the edge is no refetch into a level of data.
std::optional<Refetches> find_refetches(const Edge& edge) {
  const auto level = tenure_level(edge.level);
  const bool is_capacity = edge.kind == EdgeKind::refetch_capacity;
  const bool is_refetch = is_capacity || edge.kind == EdgeKind::refetch_conflict;
  if (!level || *level >= kDataLevels || !is_refetch) return std::nullopt;
  Refetches one;
  (is_capacity ? one.capacity : one.conflict)[*level] = static_cast<double>(edge.count);
  return one;
}

}  // namespace

Refetches& Refetches::operator+=(const Refetches& other) {
  for (size_t level = 0; level < kDataLevels; ++level) {
    capacity[level] += other.capacity[level];
    conflict[level] += other.conflict[level];
  }
  return *this;
}

GroupFacts& GroupFacts::operator+=(const GroupFacts& other) {
  use += other.use;
  waits += other.waits;
  loads += other.loads;
  refetched += other.refetched;
  own += other.own;
  taken_from_others += other.taken_from_others;
  lines_along += other.lines_along;
  return *this;
}

AdviceFacts::AdviceFacts(const Profile& profile, CodeIndex& code, LoopScales& scales)
    : loops(scales.loops()), lines(code, LocalityBy::line) {
  if (has_objects(profile)) {
    by_object.resize(profile.objects.size());
    lines_of_object.resize(profile.objects.size());
    loops_of_object.resize(profile.objects.size());
  }
  add_counts(profile, scales);
  add_tenures(profile);
  add_edges(profile);
  for (const auto& [pair, refetched] : refetches) {
    if (loops.is_nested(pair.first, pair.second)) by_loop[pair.second].own += refetched;
  }
  by_loop.resize(loops.size());
  lines_of_loop.resize(loops.size());
  objects_of_loop.resize(loops.size());
}

uint32_t AdviceFacts::loop_of(const Location& at) {
  const uint32_t row = loops.row_of(at);
  if (row >= by_loop.size()) {
    by_loop.resize(row + size_t{1});
    lines_of_loop.resize(row + size_t{1});
    objects_of_loop.resize(row + size_t{1});
  }
  return row;
}

GroupFacts* AdviceFacts::object_facts(ObjectId object) {
  if (!names_row(object) || object.value >= by_object.size()) return nullptr;
  return &by_object[object.value];
}

void AdviceFacts::add_counts(const Profile& profile, LoopScales& scales) {
  const CountAdder adder(profile);
  for (const Histogram& histogram : profile.histograms) {
    for (size_t i = 0; i < histogram.offsets.size(); ++i) {
      const uint32_t row = loop_of({histogram.image, histogram.offsets[i]});
      const double scale = scales.of(row);
      GroupFacts* const loop = &by_loop[row];
      GroupFacts* const object =
          i < histogram.objects.size() ? object_facts(histogram.objects[i]) : nullptr;
      adder.add(histogram, i, scale, {loop, object});
    }
  }
  for (const GroupFacts& loop : by_loop) total += loop.waits;
}

void AdviceFacts::add_tenures(const Profile& profile) {
  for (const Tenure& tenure : profile.tenures) {
    const auto level = tenure_level(tenure.level);
    if (!level || *level >= kDataLevels) continue;
    const uint32_t loop = loop_of(tenure.location);
    by_loop[loop].use.levels[*level] += tenure;
    GroupFacts* const object = object_facts(tenure.object);
    if (object != nullptr) object->use.levels[*level] += tenure;
    has_prefetches = has_prefetches || tenure.lines_prefetched > 0;
    if (*level != 0) continue;
    constexpr uint64_t kFewestTouches = 4;
    if (tenure.touches >= kFewestTouches * tenure.lines) by_loop[loop].lines_along += tenure.lines;
    const uint32_t line = lines.row_of(tenure.location);
    lines_of_loop[loop][line] += tenure.lines;
    if (object == nullptr) continue;
    lines_of_object[tenure.object.value][line] += tenure.lines;
    loops_of_object[tenure.object.value][loop] += tenure.lines;
    objects_of_loop[loop][tenure.object.value] += tenure.lines;
  }
}

void AdviceFacts::add_edges(const Profile& profile) {
  for (const Edge& edge : profile.edges) {
    const auto level = tenure_level(edge.level);
    if (!level || *level >= kDataLevels) continue;
    const std::optional<Refetches> refetched = find_refetches(edge);
    const bool is_same = edge.kind == EdgeKind::sharing_true;
    if (!refetched && !is_same && edge.kind != EdgeKind::sharing_false) continue;
    const uint32_t from = loop_of(edge.from);
    const uint32_t to = loop_of(edge.to);
    const auto count = static_cast<double>(edge.count);
    if (!refetched) {
      Sharing& taken = sharing[{from, to}];
      (is_same ? taken.same_bytes : taken.other_bytes) += count;
      by_loop[to].taken_from_others += count;
      continue;
    }
    refetches[{from, to}] += *refetched;
    by_loop[to].refetched += *refetched;
    if (GroupFacts* const object = object_facts(edge.object)) object->refetched += *refetched;
  }
}

std::vector<LoopsOnObjects> AdviceFacts::split_by_loop(
    const Profile& profile, size_t groups, const std::vector<std::optional<size_t>>& group_of) {
  std::vector<LoopsOnObjects> split(groups);
  const auto find = [&](ObjectId object) -> LoopsOnObjects* {
    const bool is_known = names_row(object) && object.value < group_of.size();
    const std::optional<size_t> group = is_known ? group_of[object.value] : std::nullopt;
    return group ? &split[*group] : nullptr;
  };
  const CountAdder adder(profile);
  for (const Histogram& histogram : profile.histograms) {
    for (size_t i = 0; i < histogram.objects.size(); ++i) {
      LoopsOnObjects* const group = find(histogram.objects[i]);
      if (group == nullptr) continue;
      const uint32_t loop = loop_of({histogram.image, histogram.offsets[i]});
      adder.add(histogram, i, 1, {&(*group)[loop].facts});
    }
  }
  for (const Tenure& tenure : profile.tenures) {
    const auto level = tenure_level(tenure.level);
    LoopsOnObjects* const group = find(tenure.object);
    if (!level || *level >= kDataLevels || group == nullptr) continue;
    LoopOnObjects& here = (*group)[loop_of(tenure.location)];
    here.facts.use.levels[*level] += tenure;
    if (*level == 0) here.lines[lines.row_of(tenure.location)] += tenure.lines;
  }
  for (const Edge& edge : profile.edges) {
    const std::optional<Refetches> refetched = find_refetches(edge);
    LoopsOnObjects* const group = find(edge.object);
    if (!refetched || group == nullptr) continue;
    LoopOnObjects& here = (*group)[loop_of(edge.to)];
    here.facts.refetched += *refetched;
    here.refetched_from[loop_of(edge.from)] += *refetched;
  }
  return split;
}

}  // namespace culprit
