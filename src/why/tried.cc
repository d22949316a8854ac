#include "why/tried.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "stats/robust.h"

namespace culprit {
namespace {

/// User time of each pair's run of an event [ns].
std::map<uint32_t, double> times_of(const Profile& profile, std::string_view event_name) {
  std::map<uint32_t, double> times;
  for (const Count& count : profile.counts) {
    if (count.event.value >= profile.events.size()) continue;
    if (profile.strings.text(profile.events[count.event.value].name) != event_name) continue;
    times[count.repetition] += static_cast<double>(count.value);
  }
  return times;
}

}  // namespace

std::vector<TriedChange> find_tried_changes(const Profile& profile) {
  std::vector<TriedChange> all;
  const std::map<uint32_t, double> as_it_is = times_of(profile, kAsItIsTime);
  for (const ExperimentKind& kind : kExperiments) {
    std::vector<double> saved;
    for (const auto& [pair, changed] : times_of(profile, experiment_event(kind))) {
      const auto found = as_it_is.find(pair);
      if (found == as_it_is.end() || !(found->second > 0)) continue;
      saved.push_back(1 - changed / found->second);
    }
    if (saved.empty()) continue;
    const Interval range = median_interval(saved);
    all.push_back(
        {&kind, saved.size(), as_it_is.size(), {compute_median(saved), range.low, range.high}});
  }
  std::ranges::stable_sort(all, std::greater(),
                           [](const TriedChange& one) { return one.saved.expected; });
  return all;
}

CostBranch branch_of(Experiment experiment) {
  return experiment == Experiment::one_cpu ? CostBranch::multithread_collisions
                                           : CostBranch::microcode_exceptions;
}

const TriedAdvice& advice_of(Experiment experiment) {
  static constexpr TriedAdvice kLines{
      "lines of other threads",
      "Threads on different CPUs write to the same cache line: each write takes it from the other.",
      "Give each thread data of its own, aligned to 128 bytes, and add up at the end; where "
      "threads must share a value, change it less often. culprit record --deterministic --locality "
      "all names the data."};
  static constexpr TriedAdvice kSubnormals{
      "subnormal numbers",
      "Values below the smallest normal number take a slow path of the CPU in each operation.",
      "Have them flushed to zero where a thread begins (x86-64: _mm_setcsr(_mm_getcsr() | "
      "0x8040)), "
      "or keep values away from zero, if results may differ by so little."};
  return experiment == Experiment::one_cpu ? kLines : kSubnormals;
}

std::string describe_tried(const TriedChange& tried) {
  const GainForecast& saved = tried.saved;
  const auto range = [&](double low, double high) {
    return fmt::format("({:.0f} to {:.0f} %, {} pairs of runs)", 100 * low, 100 * high,
                       tried.pairs);
  };
  if (saved.expected < 0) {
    return fmt::format("{} it takes {:.0f} % more user time {}", tried.kind->change,
                       -100 * saved.expected, range(-saved.high, -saved.low));
  }
  return fmt::format("{} it takes {:.0f} % less user time {}", tried.kind->change,
                     100 * saved.expected, range(saved.low, saved.high));
}

}  // namespace culprit
