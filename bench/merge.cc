// Merging of many profiles: seconds of CPU time, entries per second and memory, for 10, 100 and
// 1,000 profiles of 10,000 entries each, as an hour of an always-on profiler leaves them: each has
// a run and processes of its own, and most of the code of the others.
//
// The peer is the least that adds the same rows up without tables, ids and order: one hash table
// of the cells' numbers. The time for 1,000 profiles over that for 100 says whether it is linear.
//
//   build/release/bench/merge_bench [profiles]

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sys/resource.h>
#include <unordered_map>

#include "model/profile_merger.h"

namespace culprit {
namespace {

constexpr size_t kEntries = 10'000;
constexpr size_t kPlaces = 40'000;  // that the profiles' entries are drawn from

Profile make_profile(uint32_t number) {
  std::mt19937 random(number);
  Profile profile;
  profile.machine.architecture = "x86_64";
  profile.runs.emplace_back();
  profile.events.push_back({profile.strings.intern("cpu-clock"),
                            Unit::ns,
                            Provenance::sampled,
                            profile.strings.intern("timer"),
                            {},
                            1'001'003,
                            1});
  for (uint32_t i = 0; i < 20; ++i) {
    const StringId name = profile.strings.intern("program " + std::to_string(i));
    profile.processes.push_back({RunId(0u), 1000 + 20 * number + i, 1, name});
    profile.threads.push_back({ProcessId(i), 1000 + 20 * number + i, name});
    profile.contexts.push_back({RunId(0u), ProcessId(i), ThreadId(i), Mode::user, {}, {}, {}});
    Image image{ImageKind::program, name, std::to_string(i), 0, 0, 0, {}, 0, 0};
    profile.images.push_back(image);
  }
  std::vector<HistogramRow> rows;
  while (rows.size() < kEntries) {
    const auto place = static_cast<uint32_t>(random() % kPlaces);
    const uint32_t who = place % 20;
    const uint64_t samples = 1 + random() % 5;
    rows.push_back({ContextId(who),
                    {ImageId(who), FileOffset(place * 4)},
                    {EventId(0u), samples, samples * 1'001'003, 0}});
  }
  profile.histograms = make_histograms(std::move(rows), profile.events);
  return profile;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(const auto& work) {
  const double start = cpu_seconds();
  work();
  return cpu_seconds() - start;
}

double peak_mib() {
  struct rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// `kept`: profiles that are added again and again, so that making them is not measured.
void measure(const std::vector<Profile>& kept, size_t profiles) {
  ProfileMerger merger(
      {.runs = false, .processes = Projection::Processes::by_name, .threads = false});
  Profile merged;
  const double own = seconds_of([&] {
    for (size_t i = 0; i < profiles; ++i) merger.add(kept[i % kept.size()]);
    merged = merger.take();
  });
  size_t entries = 0;
  for (const Histogram& histogram : merged.histograms) entries += histogram.offsets.size();

  std::unordered_map<uint64_t, uint64_t> cells;
  uint64_t added = 0;
  const double peer = seconds_of([&] {
    for (size_t i = 0; i < profiles; ++i) {
      for_each_row(kept[i % kept.size()].histograms, [&](const HistogramRow& row) {
        cells[row.location.offset.value << 8 | row.context.value] += row.cell.value;
        ++added;
      });
    }
  });
  if (cells.size() != entries) std::abort();
  std::printf("%9zu %10llu %10zu %8.3f %12.1f %8.3f %6.1f %8.0f\n", profiles,
              static_cast<unsigned long long>(added), entries, own,
              static_cast<double>(added) / own * 1e-6, peer, own / peer, peak_mib());
}

}  // namespace
}  // namespace culprit

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? static_cast<size_t>(std::atol(argv[1])) : 1000;
  std::vector<culprit::Profile> kept;
  for (uint32_t i = 0; i < 50; ++i) kept.push_back(culprit::make_profile(i));
  std::printf("%9s %10s %10s %8s %12s %8s %6s %8s\n", "profiles", "entries", "of result", "seconds",
              "M entries/s", "peer s", "ratio", "peak MiB");
  for (size_t profiles = 10; profiles <= most; profiles *= 10) culprit::measure(kept, profiles);
  return 0;
}
