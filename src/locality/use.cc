#include "locality/use.h"

#include <algorithm>
#include <cmath>

#include "model/engine.h"
#include "print/event_display.h"
#include "report/measured_cycles.h"

namespace culprit {
namespace {

/// What an event adds to. An event has one role; the cost is noted apart, as misses may be it.
enum Role : uint8_t {
  kNone,
  kLoads,
  kStores,
  kLoadMisses1,  // and so on by level
  kLoadMisses2,
  kLoadMisses3,
  kStoreMisses1,
  kStoreMisses2,
  kStoreMisses3,
  kFloats,      // accesses of floating-point values, which others count, too
  kLoadWaits,   // for what loads bring
  kStoreWaits,  // for room to store
  kWaits,       // for either
  kCycles,
};
constexpr bool is_wait(uint8_t role) {
  return role == kLoadWaits || role == kStoreWaits || role == kWaits;
}
constexpr uint8_t kCost = 0x40;

struct RoleOf {
  std::string_view name;
  Role role;
};
constexpr RoleOf kRoles[] = {
    {"L1-dcache-loads", kLoads},
    {"L1-dcache-stores", kStores},
    {"L1-dcache-load-misses", kLoadMisses1},
    {"LLC-loads", kLoadMisses2},
    {"LLC-load-misses", kLoadMisses3},
    {"L1-dcache-store-misses", kStoreMisses1},
    {"LLC-stores", kStoreMisses2},
    {"LLC-store-misses", kStoreMisses3},
    {"sim:cycles", kCycles},
    {"fp-loads", kFloats},
    {"fp-stores", kFloats},
    {"sim:load-l2-cycles", kLoadWaits},
    {"sim:load-l3-cycles", kLoadWaits},
    {"sim:load-other-core-clean-cycles", kLoadWaits},
    {"sim:load-other-core-modified-cycles", kLoadWaits},
    {"sim:load-memory-cycles", kLoadWaits},
    {"sim:load-translation-cycles", kLoadWaits},
    {"sim:bandwidth-cycles", kWaits},
    {"sim:store-cycles", kStoreWaits},
};

Role role_of(std::string_view name) {
  for (const RoleOf& one : kRoles)
    if (one.name == name) return one.role;
  return kNone;
}

}  // namespace

LineUse& LineUse::operator+=(const LineUse& other) {
  lines += other.lines;
  bytes_touched += other.bytes_touched;
  bytes_accessed += other.bytes_accessed;
  touches += other.touches;
  lines_reused += other.lines_reused;
  lines_at_end += other.lines_at_end;
  lines_prefetched += other.lines_prefetched;
  lines_never_used += other.lines_never_used;
  lines_cut += other.lines_cut;
  if (groups.size() < other.groups.size()) groups.resize(other.groups.size());
  for (size_t i = 0; i < other.groups.size(); ++i) {
    groups[i].lines += other.groups[i].lines;
    groups[i].bytes_touched += other.groups[i].bytes_touched;
    groups[i].bytes_accessed += other.groups[i].bytes_accessed;
  }
  return *this;
}

LineUse& LineUse::operator+=(const Tenure& tenure) {
  if (tenure.stratum != 0 && tenure.stratum <= kMostStrata) {
    if (groups.size() < tenure.stratum) groups.resize(tenure.stratum);
    GroupUse& group = groups[tenure.stratum - 1];
    group.lines += tenure.lines;
    group.bytes_touched += tenure.bytes_touched;
    group.bytes_accessed += tenure.bytes_accessed;
  }
  return *this += LineUse{tenure.lines,
                          tenure.bytes_touched,
                          tenure.bytes_accessed,
                          tenure.touches,
                          tenure.lines_reused,
                          tenure.lines_at_end,
                          tenure.lines_prefetched,
                          tenure.lines_never_used,
                          tenure.lines_cut,
                          {}};
}

Use& Use::operator+=(const Use& other) {
  accesses += other.accesses;
  access_variance += other.access_variance;
  for (size_t i = 0; i < kMissLevels; ++i) {
    misses[i] += other.misses[i];
    miss_variance[i] += other.miss_variance[i];
  }
  for (size_t i = 0; i < levels.size(); ++i) levels[i] += other.levels[i];
  cost += other.cost;
  cycles += other.cycles;
  waits += other.waits;
  shared += other.shared;
  return *this;
}

std::optional<double> compute_spatial_percent(const LineUse& use, uint32_t line_bytes) {
  if (use.lines == 0 || line_bytes == 0) return std::nullopt;
  return 100.0 * static_cast<double>(use.bytes_touched) /
         (static_cast<double>(use.lines) * line_bytes);
}

std::optional<double> compute_temporal_use(const LineUse& use) {
  if (use.bytes_touched == 0) return std::nullopt;
  // Sums of a sample, each rounded by itself, may miss what is always so: what is touched is
  // accessed.
  return std::max(
      0.0, static_cast<double>(use.bytes_accessed) / static_cast<double>(use.bytes_touched) - 1);
}

namespace {

/// One number of each group.
std::vector<uint64_t> column_of(const LineUse& use, uint64_t GroupUse::* number) {
  std::vector<uint64_t> column;
  for (const GroupUse& group : use.groups) column.push_back(group.*number);
  return column;
}

}  // namespace

SampleError estimate_lines_error(const LineUse& use, const SetSampling& sampling) {
  return estimate_sum_error(column_of(use, &GroupUse::lines), sampling);
}

SampleError estimate_spatial_error(const LineUse& use, const Caches& caches) {
  const std::vector<uint64_t> lines = column_of(use, &GroupUse::lines);
  const auto all_lines = static_cast<double>(use.lines);
  const double ratio = use.lines == 0 ? 0 : static_cast<double>(use.bytes_touched) / all_lines;
  SampleError error = estimate_ratio_error(column_of(use, &GroupUse::bytes_touched), lines, lines,
                                           ratio, all_lines, caches.sampling);
  if (error.half_width) *error.half_width *= 100.0 / caches.line_bytes;
  return error;
}

SampleError estimate_temporal_error(const LineUse& use, const Caches& caches) {
  const auto touched = static_cast<double>(use.bytes_touched);
  const auto accessed = static_cast<double>(use.bytes_accessed);
  SampleError error = estimate_ratio_error(
      column_of(use, &GroupUse::bytes_accessed), column_of(use, &GroupUse::bytes_touched),
      column_of(use, &GroupUse::lines), touched > 0 ? accessed / touched : 0, touched,
      caches.sampling);
  if (error.is_exact || !error.half_width) return error;
  const double again = std::max(accessed - touched, 0.0);  // bytes
  const double by_lines =
      kNormal95 * std::sqrt(again * caches.line_bytes * (caches.sampling.one_of - 1.0)) / touched;
  error.half_width = std::max(*error.half_width, by_lines);
  return error;
}

UseEvents find_use_events(const Profile& profile, bool may_be_measured) {
  UseEvents events;
  std::optional<size_t> cycles;
  std::optional<size_t> misses;
  for (size_t i = 0; i < profile.events.size(); ++i) {
    const std::string& name = profile.strings.text(profile.events[i].name);
    const bool is_simulated = engine_of(profile, profile.events[i]) == Engine::simulate;
    events.roles.push_back(is_simulated ? role_of(name) : kNone);
    if (is_simulated && name == "sim:cycles") cycles = i;
    if (is_simulated && name == "L1-dcache-load-misses") misses = i;
    events.has_misses = events.has_misses || (is_simulated && name == "L1-dcache-load-misses");
    events.has_waits = events.has_waits || is_wait(events.roles.back());
  }
  std::optional<size_t> cost;
  const auto runs = may_be_measured ? find_two_runs(profile) : std::nullopt;
  if (runs) {
    events.cost = UseEvents::Cost::measured;
    events.cost_scale = runs->cycles_per_ns;
    cost = runs->time;
  } else if (cycles) {
    events.cost = UseEvents::Cost::modelled;
    cost = cycles;
  } else {
    cost = misses;
  }
  if (cost) {
    events.cost_event = profile.events[*cost];
    events.roles[*cost] |= kCost;
  }
  return events;
}

Value UseEvents::value_of(const Use& use) const {
  // Uses have cycles even where their cost is something else: what was added up beside a measured
  // run has them, too.
  if (cost == Cost::modelled) return {0, use.cycles, 0};
  if (cost == Cost::shared) return {0, use.shared, 0};
  Value value = to_value(cost_event, use.cost);
  value.value *= cost_scale;
  value.error *= cost_scale;
  return value;
}

const char* UseEvents::heading() const {
  switch (cost) {
    case Cost::measured:
      return "~cycles";
    case Cost::modelled:
    case Cost::shared:
      return "?cycles";
    case Cost::misses:
      return cost_event.provenance == Provenance::sampled ? "~misses" : "=misses";
  }
  return "";
}

namespace use_internal {

Sum sum_at(const Profile& profile, const Histogram& histogram, const EventColumn& column,
           size_t row) {
  if (row >= histogram.offsets.size() || row >= column.value.size()) return {};
  const double variance = row < column.variance.size() ? column.variance[row] : 0;
  return make_sum(profile.events[column.event.value], column.samples_at(row), column.value[row],
                  variance);
}

void add_count(const UseEvents& events, const Event& event, size_t number, const Sum& sum,
               double scale, Use& use) {
  const uint8_t role = events.roles[number];
  if (role == kNone) return;
  if ((role & kCost) != 0) use.cost += sum;
  switch (static_cast<Role>(role & ~kCost)) {
    case kNone:
    case kFloats:
      return;
    case kLoads:
    case kStores:
      use.accesses += sum.value;
      use.access_variance += sum.variance;
      return;
    case kLoadMisses1:
    case kStoreMisses1:
      // A run without cycles costs misses, of loads and of stores.
      if (events.cost == UseEvents::Cost::misses && (role & kCost) == 0) use.cost += sum;
      use.misses[0] += sum.value;
      use.miss_variance[0] += sum.variance;
      return;
    case kLoadMisses2:
    case kStoreMisses2:
      use.misses[1] += sum.value;
      use.miss_variance[1] += sum.variance;
      return;
    case kLoadMisses3:
    case kStoreMisses3:
      use.misses[2] += sum.value;
      use.miss_variance[2] += sum.variance;
      return;
    case kLoadWaits:
    case kStoreWaits:
    case kWaits:
      use.waits += static_cast<double>(sum.value) * event.scale;
      return;
    case kCycles:
      use.cycles += static_cast<double>(sum.value) * event.scale;
      use.shared += static_cast<double>(sum.value) * event.scale * scale;
      return;
  }
}

InstructionKind find_kind(const Profile& profile, const UseEvents& events,
                          const Histogram& histogram, size_t row) {
  InstructionKind kind;
  for (const EventColumn& column : histogram.columns) {
    if (column.event.value >= profile.events.size() || row >= column.value.size()) continue;
    const uint8_t role = events.roles[column.event.value] & ~kCost;
    if (column.value[row] == 0) continue;
    kind.is_float = kind.is_float || role == kFloats;
    kind.has_loads = kind.has_loads || role == kLoads;
  }
  return kind;
}

void add_kind_count(const UseEvents& events, const Event& event, size_t number, const Sum& sum,
                    InstructionKind of, std::array<KindUse, kDataKinds>& kinds) {
  const auto role = static_cast<Role>(events.roles[number] & ~kCost);
  if (role == kNone || role == kFloats || role == kCycles) return;
  const bool is_store = role == kStores || role == kStoreWaits ||
                        (role >= kStoreMisses1 && role <= kStoreMisses3) ||
                        (role == kWaits && !of.has_loads);
  KindUse& kind = kinds[(of.is_float ? 2U : 0U) + (is_store ? 1U : 0U)];
  if (is_wait(role)) {
    kind.waits += static_cast<double>(sum.value) * event.scale;
  } else if (role == kLoads || role == kStores) {
    kind.accesses += sum.value;
    kind.access_variance += sum.variance;
  } else {
    const size_t level = is_store ? role - kStoreMisses1 : role - kLoadMisses1;
    kind.misses[level] += sum.value;
    kind.miss_variance[level] += sum.variance;
  }
}

}  // namespace use_internal

}  // namespace culprit
