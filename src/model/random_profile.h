#pragma once

// For tests: profiles that grow at random and use every noun of the model, also those
// that no collector fills yet.

#include <gtest/gtest.h>
#include <random>
#include <string>

#include "model/merge.h"
#include "model/profile.h"

namespace culprit {

class RandomProfile {
 public:
  explicit RandomProfile(uint32_t seed) : random_(seed) {
    profile_.machine = {"x86_64",
                        "AMD \"EPYC\"",
                        "AuthenticAMD-25-11-1",
                        "6.1.0",
                        2,
                        true,
                        "kvm",
                        ClockCalibration{3.55e9, 3.5e9, 3.6e9, 17}};
    profile_.environment["frequency"] = "999";
    profile_.environment["odd key\n"] = std::string("nul\0 and \xff", 9);
  }

  Profile& profile() { return profile_; }

  /// Adds rows to every table, and counts that refer to all rows there are.
  void grow() {
    for (size_t i = 0; i < 20; ++i) profile_.strings.intern("text " + std::to_string(random_()));
    grow_tables();
    for (size_t i = 0; i < 60; ++i) grow_counts();
    profile_.ledger.add(ledger::kLostSamples, number(9));
    profile_.ledger.note("note " + std::to_string(number(5)));
  }

 private:
  uint64_t number(uint64_t below) { return random_() % below; }

  /// Now and then a number of full length: 0, -1 and the extremes must survive.
  uint64_t wild() {
    switch (number(4)) {
      case 0:
        return number(10);
      case 1:
        return (uint64_t{random_()} << 32) | random_();
      case 2:
        return ~uint64_t{0};
      default:
        return random_();
    }
  }
  int64_t wild_signed() { return static_cast<int64_t>(wild()); }

  template <class IdType>
  IdType pick(size_t rows) {
    return IdType(number(rows));
  }
  /// A row, or "all".
  template <class IdType>
  IdType maybe(size_t rows) {
    return rows == 0 || number(3) == 0 ? IdType() : pick<IdType>(rows);
  }
  StringId text() { return maybe<StringId>(profile_.strings.size()); }
  ContextId context() { return pick<ContextId>(profile_.contexts.size()); }
  EventId event() { return pick<EventId>(profile_.events.size()); }
  ObjectId object() { return maybe<ObjectId>(profile_.objects.size()); }
  Location place() { return {pick<ImageId>(profile_.images.size()), FileOffset(number(40) * 16)}; }
  Location any_place() { return {maybe<ImageId>(profile_.images.size()), FileOffset(wild())}; }
  CacheLevel level() { return static_cast<CacheLevel>(number(8)); }
  AccessKind access() { return static_cast<AccessKind>(number(5)); }
  Cell cell() {
    // Variances are whole numbers: their sums are exact in any order.
    return {event(), number(3), number(1000), number(4) == 0 ? 0 : static_cast<double>(number(99))};
  }

  void grow_tables() {
    Profile& p = profile_;
    Run run{text(), text(), {{text(), text()}, {text(), text()}}, wild_signed(), wild_signed(),
            {},     {}};
    if (number(2) == 0) run.cpu_time_ns = wild_signed();
    if (number(2) == 0) run.wait_status = -1;
    p.runs.push_back(run);
    p.processes.push_back({maybe<RunId>(p.runs.size()), 4194303, 1, text()});
    p.threads.push_back({maybe<ProcessId>(p.processes.size()), 0xffffffff, text()});
    p.contexts.push_back({maybe<RunId>(p.runs.size()), maybe<ProcessId>(p.processes.size()),
                          maybe<ThreadId>(p.threads.size()), static_cast<Mode>(number(6)), text(),
                          text(), static_cast<int32_t>(number(9)) - 1});
    p.events.push_back({text(), static_cast<Unit>(number(4)), Provenance::counted, text(), text(),
                        wild(), 0.1 * static_cast<double>(number(100))});
    Image image{static_cast<ImageKind>(number(7)),
                text(),
                "",
                wild(),
                wild(),
                wild_signed(),
                "",
                wild_signed(),
                wild_signed()};
    image.build_id = number(2) == 0 ? "" : "0123abcd";
    image.content_hash = std::to_string(number(100));
    p.images.push_back(image);
    p.stacks.push_back({maybe<StackId>(p.stacks.size()), any_place()});
    p.objects.push_back({static_cast<ObjectKind>(number(6)), text(), text(),
                         maybe<ObjectId>(p.objects.size()), any_place(), wild()});
    p.object_ranges.push_back({pick<ObjectId>(p.objects.size()),
                               maybe<ContextId>(p.contexts.size()), RunAddress(wild()), wild(),
                               wild_signed(), wild_signed()});
    p.regions.push_back({text(), text(), text(), 1, 0xffffffff, maybe<RegionId>(p.regions.size())});
  }

  void grow_counts() {
    Profile& p = profile_;
    const Location at = place();
    const Cell one = cell();
    p.histograms.push_back({context(),
                            at.image,
                            {at.offset, at.offset + 4},
                            {{one.event, {one.samples, 0}, {one.value, 7}, {one.variance, 1}}}});
    p.stack_counts.push_back({context(), pick<StackId>(p.stacks.size()), cell()});
    p.branch_counts.push_back(
        {context(), place(), any_place(), number(9), number(9), number(9), number(9), number(9)});
    p.fall_throughs.push_back({context(), at.image, at.offset, at.offset + number(9), number(9)});
    p.memory_samples.push_back({context(), event(), any_place(), RunAddress(wild()), object(),
                                wild(), wild(), wild_signed(), wild(), wild(), wild()});
    p.counts.push_back({context(), event(), static_cast<uint32_t>(number(3)), 0xffffffff,
                        number(99), number(99), number(99)});
    p.accesses.push_back(
        {context(), place(), object(), level(), access(), number(9), number(9), number(9)});
    p.tenures.push_back({context(), place(), object(), level(), access(), number(9), number(9),
                         number(9), number(9), number(9)});
    p.edges.push_back({context(), context(), place(), any_place(), object(), level(),
                       static_cast<EdgeKind>(number(5)), number(9)});
    p.region_values.push_back({context(), pick<RegionId>(p.regions.size()), text(),
                               maybe<EventId>(p.events.size()), number(9), number(9)});
  }

  std::mt19937 random_;
  Profile profile_;
};

/// Adds the counts of `from` to those of `to`, in the order they come.
inline void append_counts_of(const Profile& from, Profile& to) {
  const auto append = [](const auto& source, auto& target) {
    target.insert(target.end(), source.begin(), source.end());
  };
  append(from.histograms, to.histograms);
  append(from.stack_counts, to.stack_counts);
  append(from.branch_counts, to.branch_counts);
  append(from.fall_throughs, to.fall_throughs);
  append(from.memory_samples, to.memory_samples);
  append(from.counts, to.counts);
  append(from.accesses, to.accesses);
  append(from.tenures, to.tenures);
  append(from.edges, to.edges);
  append(from.region_values, to.region_values);
}

inline std::vector<std::string> texts_of(const StringTable& strings) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < strings.size(); ++i) texts.push_back(strings.text(StringId(i)));
  return texts;
}

/// Every field of both; the ledger too.
inline void expect_equal(const Profile& got, const Profile& want) {
  EXPECT_EQ(got.machine, want.machine);
  EXPECT_EQ(got.environment, want.environment);
  EXPECT_EQ(texts_of(got.strings), texts_of(want.strings));
  EXPECT_EQ(got.runs, want.runs);
  EXPECT_EQ(got.processes, want.processes);
  EXPECT_EQ(got.threads, want.threads);
  EXPECT_TRUE(got.contexts == want.contexts);
  EXPECT_EQ(got.events, want.events);
  EXPECT_EQ(got.images, want.images);
  EXPECT_TRUE(got.stacks == want.stacks);
  EXPECT_TRUE(got.objects == want.objects);
  EXPECT_TRUE(got.object_ranges == want.object_ranges);
  EXPECT_TRUE(got.regions == want.regions);
  EXPECT_EQ(got.histograms, want.histograms);
  EXPECT_TRUE(got.stack_counts == want.stack_counts);
  EXPECT_TRUE(got.branch_counts == want.branch_counts);
  EXPECT_TRUE(got.fall_throughs == want.fall_throughs);
  EXPECT_TRUE(got.memory_samples == want.memory_samples);
  EXPECT_EQ(got.counts, want.counts);
  EXPECT_TRUE(got.accesses == want.accesses);
  EXPECT_TRUE(got.tenures == want.tenures);
  EXPECT_TRUE(got.edges == want.edges);
  EXPECT_TRUE(got.region_values == want.region_values);
  EXPECT_EQ(got.ledger, want.ledger);
}

}  // namespace culprit
