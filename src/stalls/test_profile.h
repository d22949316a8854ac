#pragma once

// Profiles of a function whose code and samples a test gives, for tests of stalls.

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "model/builder.h"
#include "model/engine.h"
#include "stalls/stall_summary.h"

namespace culprit {

/// A profile of a function, `made`, at 1000.
class MadeProfile {
 public:
  MadeProfile(const std::string& architecture, const std::string& bytes) {
    Profile& profile = builder_.profile();
    profile.machine.architecture = architecture;
    Image image;
    image.kind = ImageKind::program;
    image.path = builder_.intern("/made");
    profile.images = {image};
    builder_.begin_run();
    context_ = builder_.intern_context({});
    facts_.architecture = architecture;
    facts_.segments = {{FileOffset(0), bytes.size(), LinkAddress(0x1000)}};
    FunctionFact function;
    function.begin = FileOffset(0);
    function.end = FileOffset(bytes.size());
    function.name = facts_.strings.intern("made");
    function.linkage_name = function.file = facts_.strings.intern("");
    facts_.functions = {function};
    facts_.code = {{FileOffset(0), bytes}};
  }

  /// As if its file had been gone.
  void lose_code() { facts_.code.clear(); }

  /// From there on the code is of another function.
  void begin_function(uint64_t begin, const std::string& name) {
    FunctionFact& last = facts_.functions.back();
    FunctionFact function = last;
    last.end = function.begin = FileOffset(begin);
    function.name = facts_.strings.intern(name);
    facts_.functions.push_back(function);
  }

  void add_calls(uint64_t from, uint64_t to, uint64_t count) {
    const auto at = [](uint64_t offset) { return Location{ImageId(0u), FileOffset(offset)}; };
    branches_.push_back({context_, at(from), at(to), count});
  }

  struct Seen {
    uint64_t samples;
    uint64_t value;
  };
  /// Each event from now on had a counter all the time, and the profile says so.
  void say_running_time() { says_running_time_ = true; }

  /// `period`: 0: varying.
  void add(const std::string& name, uint64_t period, const std::map<uint64_t, Seen>& seen) {
    Profile& profile = builder_.profile();
    Event event;
    event.name = builder_.intern(name);
    event.engine = builder_.intern("pmu");
    event.encoding = builder_.intern("");
    event.unit = name == "cycles" ? Unit::cycles : Unit::events;
    event.provenance = Provenance::sampled;
    event.period = period;
    const EventId id(profile.events.size());
    profile.events.push_back(event);
    for (const auto& [offset, one] : seen) {
      builder_.add(context_, {ImageId(0u), FileOffset(offset)}, id, one.samples, one.value);
    }
    if (says_running_time_) profile.counts.push_back({context_, id, 0, 0, 0, 1000, 1000});
  }

  /// An event of the software PMU, counted at each.
  void add_counted(const std::string& name, const std::map<uint64_t, uint64_t>& values) {
    Profile& profile = builder_.profile();
    Event event;
    event.name = builder_.intern(name);
    event.engine = builder_.intern(word_of(Engine::simulate));
    event.encoding = builder_.intern("");
    event.unit = name.ends_with("-cycles") ? Unit::cycles : Unit::events;
    event.provenance = Provenance::counted;
    const EventId id(profile.events.size());
    profile.events.push_back(event);
    for (const auto& [offset, value] : values) {
      builder_.add(context_, {ImageId(0u), FileOffset(offset)}, id, 0, value);
    }
  }

  /// Records of `count` jumps of a loop, and of its rounds between them; `cycles` of all of them,
  /// 0: records that have none.
  void add_records(uint64_t head, uint64_t jump, uint64_t count, uint64_t cycles) {
    const auto at = [](uint64_t offset) { return Location{ImageId(0u), FileOffset(offset)}; };
    BranchCount jumps{context_, at(jump), at(head), count};
    if (cycles > 0) {
      jumps.cycles = cycles;
      jumps.timed = count;
    }
    branches_.push_back(jumps);
    runs_.push_back({context_, ImageId(0u), FileOffset(head), FileOffset(jump), count - 1});
  }

  StallSummary summarize(const Template& cpu, const std::string& part = "made") {
    builder_.take_counts();
    builder_.profile().branch_counts = branches_;
    builder_.profile().fall_throughs = runs_;
    const Result<StallSummary> summary =
        make_stall_summary(builder_.profile(), [this](ImageId) { return &facts_; }, cpu, part);
    EXPECT_TRUE(summary);
    return *summary;
  }

 private:
  ProfileBuilder builder_;
  ContextId context_;
  ImageFacts facts_;
  std::vector<BranchCount> branches_;
  std::vector<FallThrough> runs_;
  bool says_running_time_ = false;
};

/// Whatever is known: all of the part is told, and no more than that.
inline void expect_to_close(const StallSummary& summary) {
  const Stalls& stalls = summary.tallied;
  EXPECT_NEAR(stalls.best.total() - stalls.gain + stalls.explained + stalls.unexplained +
                  stalls.untold + summary.kernel + summary.other,
              summary.cycles, 1e-6 * summary.cycles);
  double highest = 0;
  for (const double high : stalls.high) highest += high;
  EXPECT_LE(stalls.best.total() - stalls.gain, stalls.cycles + 1e-6);
  EXPECT_LE(stalls.cycles, stalls.best.total() + highest + stalls.unexplained + 1e-6);
}

}  // namespace culprit
