#include "locality/waits.h"

#include <algorithm>

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
                              const std::array<LinesIn, 3>& back) {
  const double fewer = compute_saved_by_packing(
      waits, {packed[0].still_come, packed[1].still_come, packed[2].still_come});
  // What a nearer level holds need not come from any of the farther ones.
  const double in_first = packed[0].are_held;
  const double in_second = std::max(in_first, packed[1].are_held);
  const double in_third = std::max(in_second, packed[2].are_held);
  Waits held;
  held.l2 = waits.l2 * packed[0].still_come * in_first;
  held.l3 = waits.l3 * packed[1].still_come * in_second;
  held.memory = waits.memory * packed[2].still_come * in_third;
  held.bandwidth = waits.bandwidth * packed[2].still_come * in_third;
  return fewer + compute_saved_by_hits(held, back);
}

}  // namespace culprit
