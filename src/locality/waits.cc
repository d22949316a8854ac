#include "locality/waits.h"

#include <algorithm>
#include <cmath>

#include "model/engine.h"

namespace culprit {
namespace {

enum class WaitRole : uint8_t { none, all, l2, l3, memory, bandwidth, other_cores, translation };

struct WaitRoleOf {
  std::string_view name;
  WaitRole role;
};
constexpr WaitRoleOf kWaitRoles[] = {
    {"sim:cycles", WaitRole::all},
    {"sim:load-l2-cycles", WaitRole::l2},
    {"sim:load-l3-cycles", WaitRole::l3},
    {"sim:load-memory-cycles", WaitRole::memory},
    {"sim:bandwidth-cycles", WaitRole::bandwidth},
    {"sim:store-cycles", WaitRole::bandwidth},
    {"sim:load-other-core-clean-cycles", WaitRole::other_cores},
    {"sim:load-other-core-modified-cycles", WaitRole::other_cores},
    {"sim:load-translation-cycles", WaitRole::translation},
};

double part_of(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

/// Waits are for more than a hit in L1D. For data of a farther cache (2: L3, 3: memory) which a
/// nearer one has then (0: L1D), it takes this part of them. 0 where latencies are not known.
double part_still_waited(const Latencies& latencies, size_t nearer, size_t farther) {
  return part_of(latencies[nearer] - latencies[0], latencies[farther] - latencies[0]);
}

}  // namespace

Waits& Waits::operator+=(const Waits& other) {
  all += other.all;
  l2 += other.l2;
  l3 += other.l3;
  memory += other.memory;
  bandwidth += other.bandwidth;
  other_cores += other.other_cores;
  translation += other.translation;
  return *this;
}

WaitEvents::WaitEvents(const Profile& profile) {
  for (const Event& event : profile.events) {
    WaitRole role = WaitRole::none;
    if (engine_of(profile, event) == Engine::simulate) {
      for (const WaitRoleOf& one : kWaitRoles)
        if (one.name == profile.strings.text(event.name)) role = one.role;
    }
    any_ = any_ || role == WaitRole::all;
    roles_.push_back(static_cast<uint8_t>(role));
  }
}

void WaitEvents::add(size_t event, uint64_t value, double scale, Waits& to) const {
  const double cycles = static_cast<double>(value) * scale;
  switch (event < roles_.size() ? static_cast<WaitRole>(roles_[event]) : WaitRole::none) {
    case WaitRole::none:
      return;
    case WaitRole::all:
      to.all += cycles;
      return;
    case WaitRole::l2:
      to.l2 += cycles;
      return;
    case WaitRole::l3:
      to.l3 += cycles;
      return;
    case WaitRole::memory:
      to.memory += cycles;
      return;
    case WaitRole::bandwidth:
      to.bandwidth += cycles;
      return;
    case WaitRole::other_cores:
      to.other_cores += cycles;
      return;
    case WaitRole::translation:
      to.translation += cycles;
      return;
  }
}

double scale_waits(const Waits& waits, double scale) {
  constexpr double kSpread = 1;  // standard deviation of the waits, as a part of them
  constexpr double kSpreadOfRest = 0.3;
  const double modelled =
      waits.l2 + waits.l3 + waits.memory + waits.bandwidth + waits.other_cores + waits.translation;
  if (!(modelled > 0)) return scale;
  const double own = std::pow(kSpread * modelled, 2);
  const double rest = std::pow(kSpreadOfRest * std::max(0.0, waits.all - modelled), 2);
  const double beyond = (scale - 1) * waits.all;
  const double measured = modelled + beyond * own / (own + rest);
  return std::clamp(measured, 0.0, std::max(scale * waits.all, 0.0)) / modelled;
}

double compute_saved_by_hits(const Waits& waits, const std::array<LinesIn, 3>& levels) {
  const auto& [first, second, third] = levels;
  if (second.lines == 0) {  // L1 only, or no L2: whatever it waits for comes from beyond
    return (waits.l2 + waits.l3 + waits.memory + waits.bandwidth) *
           part_of(first.refetched, first.lines);
  }
  // What L1D lacked and L2 had are the lines of L1D that did not come into L2 as well.
  double saved = waits.l2 * part_of(first.refetched - second.refetched, first.lines - second.lines);
  const bool has_third = third.lines > 0 && third.refetched > 0;
  if (has_third) {
    saved += waits.l3 * part_of(second.refetched - third.refetched, second.lines - third.lines);
    saved += (waits.memory + waits.bandwidth) * part_of(third.refetched, third.lines);
  } else {
    saved += (waits.l3 + waits.memory + waits.bandwidth) * part_of(second.refetched, second.lines);
  }
  return saved;
}

double compute_saved_by_packing(const Waits& waits, const std::array<double, 3>& used) {
  return waits.l2 * (1 - used[0]) + waits.l3 * (1 - used[1]) +
         (waits.memory + waits.bandwidth) * (1 - used[2]);
}

double compute_saved_by_split(const Waits& waits, const std::array<PackedLines, 3>& packed,
                              const std::array<LinesIn, 3>& back, const Latencies& latencies) {
  // By the level that came too late: L1D for data of L2, L2 for those of L3, L3 for memory's.
  std::array<double, 3> less{};    // is waited where lines do not come any more
  std::array<double, 3> held{};    // or have come and are still there
  size_t nearest = packed.size();  // that has those that stay
  double in_nearer = 0;
  std::array<double, 3> in_here{};  // held here, and in none that is nearer
  for (size_t level = 0; level < packed.size(); ++level) {
    const PackedLines& lines = packed[level];
    if (lines.stay > 0) nearest = std::min(nearest, level);
    less[level] = 1 - lines.still_come;
    if (nearest < packed.size()) {
      less[level] -= lines.stay * part_still_waited(latencies, nearest, level + 1);
    }
    in_here[level] = std::max(0.0, lines.are_held - in_nearer);
    in_nearer += in_here[level];
    for (size_t nearer = 0; nearer <= level; ++nearer) {
      held[level] += lines.still_come * in_here[nearer] *
                     (1 - part_still_waited(latencies, nearer, level + 1));
    }
  }
  const double fewer = compute_saved_by_packing(waits, {1 - less[0], 1 - less[1], 1 - less[2]});
  Waits there;
  there.l2 = waits.l2 * held[0];
  there.l3 = waits.l3 * held[1];
  there.memory = waits.memory * held[2];
  there.bandwidth = waits.bandwidth * held[2];
  return fewer + compute_saved_by_hits(there, back);
}

}  // namespace culprit
