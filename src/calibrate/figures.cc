#include "calibrate/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "calibrate/curve.h"
#include "stats/robust.h"

namespace culprit {
namespace {

using simulate::MachineModel;

// Width of the middle half of the rounds, of their median.
constexpr double kNoisy = 0.25;
constexpr double kTooNoisy = 1;
constexpr double kResolution = 0.02;  // of a value, that a round can tell apart

/// The value at the largest key that is at most `key`.
std::optional<double> at_most(const Curve& curve, uint64_t key) {
  const auto above = curve.upper_bound(key);
  return above == curve.begin() ? std::nullopt : std::optional(std::prev(above)->second);
}
std::optional<double> at_least(const Curve& curve, uint64_t key) {
  const auto found = curve.lower_bound(key);
  return found == curve.end() ? std::nullopt : std::optional(found->second);
}
std::optional<double> last_of(const Curve& curve) {
  return curve.empty() ? std::nullopt : std::optional(curve.rbegin()->second);
}

std::optional<double> latency_of_l3(const Round& round, const MachineModel& machine) {
  return at_least(round.walk, 2 * machine.l2.size_bytes);
}

/// The bytes up to which walks are nearer to L3's latency than to memory's; of a walk that gets
/// slower little by little there is no such place.
std::optional<double> size_of_l3_kib(const Round& round, const MachineModel& machine) {
  const auto largest = static_cast<double>(machine.l3.size_bytes) / 1024;
  const std::optional<LatencyStep> step = find_step(round.walk, 2 * machine.l2.size_bytes);
  if (!step) return round.walk.empty() ? std::nullopt : std::optional(largest);
  if (step->factor > kSteep) return std::nullopt;
  return std::min(step->bytes / 1024, largest);
}

std::optional<double> second_level(const Round& round, const MachineModel& machine) {
  const std::optional<double> hit = at_most(round.walk, machine.l1d.size_bytes / 2);
  return round.pages && hit ? std::optional(std::max(0.0, *round.pages - *hit)) : std::nullopt;
}

/// What walks through small pages take beside those through large ones, of the part of pages that
/// no TLB holds.
std::optional<double> walk_last_level(const Round& round, const MachineModel& machine) {
  if (round.small.empty()) return std::nullopt;
  const auto& [bytes, translated] = *round.small.rbegin();
  const auto plain = round.walk.find(bytes);
  const uint64_t held = uint64_t{machine.tlb.second.entries} * 4096;
  if (plain == round.walk.end() || bytes < 2 * held) return std::nullopt;
  const double missing = 1 - static_cast<double>(held) / static_cast<double>(bytes);
  const double walk = (translated - plain->second) / missing;
  return std::max(0.0,
                  walk - machine.tlb.second_latency_cycles - 3.0 * machine.tlb.walk_level_cycles);
}

std::optional<double> misses_at_once(const Round& round) {
  const auto one = round.walks.find(1);
  if (one == round.walks.end()) return std::nullopt;
  double most = 0;
  for (const auto& [walks, cycles] : round.walks) most = std::max(most, one->second / cycles);
  return std::max(1.0, most);
}

std::optional<double> misprediction(const Round& round) {
  if (!round.random_branch || !round.known_branch) return std::nullopt;
  return std::max(0.0, 2 * (*round.random_branch - *round.known_branch));  // half of them
}

/// Where it is much more than the way to L2 takes for a line, the set is what is waited for.
std::optional<double> one_set(const Round& round, const MachineModel& machine) {
  const std::optional<double> rate = at_most(round.reading, machine.l2.size_bytes / 2);
  if (!round.one_set || !rate) return std::nullopt;
  return *round.one_set > 2 * machine.line_bytes / *rate ? *round.one_set : 0;
}

struct Wanted {
  const char* section;
  const char* key;
  const char* what;
  bool is_whole;   // the key takes whole numbers
  bool is_shared;  // others' work changes it
  double (*before)(const MachineModel& machine);
  std::optional<double> (*find)(const Round& round, const MachineModel& machine);
};

constexpr Wanted kWanted[] = {
    {"l1d", "latency_cycles", "a load that hits L1D", true, false,
     [](const MachineModel& m) -> double { return m.l1d.latency_cycles; },
     [](const Round& round, const MachineModel& machine) {
       return at_most(round.walk, machine.l1d.size_bytes / 2);
     }},
    {"l2", "latency_cycles", "one that hits L2", true, false,
     [](const MachineModel& m) -> double { return m.l2.latency_cycles; },
     [](const Round& round, const MachineModel& machine) {
       // The data have few pages, because a virtual machine may get small ones only.
       const uint64_t bytes = 3 * machine.l1d.size_bytes;
       return machine.l2.size_bytes >= 2 * bytes ? at_least(round.walk, bytes) : std::nullopt;
     }},
    {"l3", "size_kib", "L3, as far as this machine gets it", true, true,
     [](const MachineModel& m) -> double { return static_cast<double>(m.l3.size_bytes) / 1024; },
     size_of_l3_kib},
    {"l3", "latency_cycles", "a load that hits L3", true, true,
     [](const MachineModel& m) -> double { return m.l3.latency_cycles; },
     [](const Round& round, const MachineModel& machine) { return latency_of_l3(round, machine); }},
    {"tlb", "second_latency_cycles", "translation by the second-level TLB", true, false,
     [](const MachineModel& m) -> double { return m.tlb.second_latency_cycles; }, second_level},
    {"tlb", "walk_last_cycles", "a page walk, but for its upper levels", true, true,
     [](const MachineModel& m) -> double { return m.tlb.walk_last_cycles; }, walk_last_level},
    {"core", "miss_buffers", "misses under way at once", true, true,
     [](const MachineModel& m) -> double { return m.core.miss_buffers; },
     [](const Round& round, const MachineModel&) { return misses_at_once(round); }},
    {"core", "mispredict_cycles", "a misprediction", true, false,
     [](const MachineModel& m) -> double { return m.core.mispredict_cycles; },
     [](const Round& round, const MachineModel&) { return misprediction(round); }},
    {"memory", "latency_cycles", "a load from memory", true, true,
     [](const MachineModel& m) -> double { return m.memory.latency_cycles; },
     [](const Round& round, const MachineModel&) { return last_of(round.walk); }},
    {"memory", "bytes_per_cycle", "reading memory", false, true,
     [](const MachineModel& m) -> double { return m.memory.bytes_per_cycle; },
     [](const Round& round, const MachineModel&) { return last_of(round.reading); }},
    {"memory", "l2_bytes_per_cycle", "reading L2", false, false,
     [](const MachineModel& m) -> double { return m.memory.l2_bytes_per_cycle; },
     [](const Round& round, const MachineModel& machine) {
       return at_most(round.reading, machine.l2.size_bytes / 2);
     }},
    {"memory", "shared_bytes_per_cycle", "to and from what is beyond L2", false, true,
     [](const MachineModel& m) -> double { return m.memory.shared_bytes_per_cycle; },
     [](const Round& round, const MachineModel& machine) {
       // Into a victim cache goes a line for each one that comes.
       std::optional<double> rate = at_least(round.reading, 2 * machine.l2.size_bytes);
       if (rate && machine.l3.inclusion == simulate::Inclusion::victim) *rate *= 2;
       return rate;
     }},
    {"memory", "l1d_set_cycles", "lines that enter one set of L1D (0: as others)", true, false,
     [](const MachineModel& m) -> double { return m.memory.l1d_set_cycles; }, one_set},
    {"memory", "other_core_modified_cycles", "a line that another core has written", true, true,
     [](const MachineModel& m) -> double { return m.memory.other_core_modified_cycles; },
     [](const Round& round, const MachineModel&) { return round.transfer; }},
};

}  // namespace

FoundFigures find_figures(const std::vector<Round>& rounds, const MachineModel& machine) {
  FoundFigures found;
  for (const Wanted& wanted : kWanted) {
    if (wanted.section == std::string_view("l3") && !machine.l3.present()) continue;
    std::vector<double> values;
    for (const Round& round : rounds) {
      if (const std::optional<double> value = wanted.find(round, machine)) values.push_back(*value);
    }
    if (values.empty() || 2 * values.size() < rounds.size()) {
      const bool is_size = wanted.find == &size_of_l3_kib && !rounds.empty();
      found.lacks.push_back(
          {wanted.what, is_size ? "walks get slower little by little: no one size says it"
                                : "not measured here"});
      continue;
    }
    const double median = compute_median(values);
    const double middle = compute_quantile(values, 0.75) - compute_quantile(values, 0.25);
    const double unit = wanted.is_whole ? 1 : 0.1;
    if (middle > std::max(kTooNoisy * median, 2 * unit)) {
      found.lacks.push_back(
          {wanted.what,
           fmt::format("too noisy: half of the rounds are from {:.3g} to {:.3g}",
                       compute_quantile(values, 0.25), compute_quantile(values, 0.75))});
      continue;
    }
    Interval interval = median_interval(values);
    const double least = std::max(kResolution * median, unit / 2);
    interval.low = std::max(0.0, std::min(interval.low, median - least));
    interval.high = std::max(interval.high, median + least);
    const double value = wanted.is_whole ? std::round(median) : std::round(100 * median) / 100;
    Figure figure{wanted.section, wanted.key,       value, wanted.before(machine), interval,
                  wanted.what,    wanted.is_shared, ""};
    if (middle > std::max(kNoisy * median, 2 * unit)) {
      figure.dropped = "noisy: the middle half of the rounds is wider than a quarter of it";
    }
    found.figures.push_back(std::move(figure));
  }
  return found;
}

}  // namespace culprit
