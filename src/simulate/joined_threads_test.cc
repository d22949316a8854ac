// Threads of two runs whose beginnings and code are known: which are the same, by hand.

#include "simulate/joined_threads.h"

#include <gtest/gtest.h>

#include "model/engine.h"
#include "model/profile_merger.h"

namespace culprit {
namespace {

/// One run of a program whose functions are at 0x100, 0x200, ...
class MadeRun {
 public:
  MadeRun(const char* engine, const char* event) {
    Run run;
    if (std::string_view(engine) == "simulate") mark_simulated(profile.strings, run);
    profile.runs.push_back(run);
    Event row;
    row.name = profile.strings.intern(event);
    row.engine = profile.strings.intern(engine);
    row.provenance = Provenance::counted;
    profile.events.push_back(row);
    Image image;
    image.kind = ImageKind::program;
    image.build_id = "ab";
    profile.images.push_back(image);
  }
  ProcessId add_process(uint32_t pid, const char* name) {
    profile.processes.push_back({RunId(0u), pid, 1, profile.strings.intern(name)});
    return ProcessId(profile.processes.size() - 1);
  }
  /// Adds a thread that ran code at `offset` so many times, or that many samples found there.
  void add_thread(ProcessId process, uint32_t tid, uint32_t ordinal, uint64_t offset,
                  uint64_t count) {
    profile.threads.push_back({process, tid, profile.strings.intern("t"), ordinal});
    Context context;
    context.run = RunId(0u);
    context.process = process;
    context.thread = ThreadId(profile.threads.size() - 1);
    context.mode = Mode::user;
    profile.contexts.push_back(context);
    Histogram histogram;
    histogram.context = ContextId(profile.contexts.size() - 1);
    histogram.image = ImageId(0u);
    histogram.offsets = {FileOffset(offset)};
    histogram.columns = {{EventId(0u), {count}, {count}, {}}};
    profile.histograms.push_back(histogram);
  }
  Profile profile;
};

struct Joined {
  JoinedThreads threads;
  Profile both;

  /// The tid that the counts of the simulated run at `offset` are of now.
  uint32_t tid_at(uint64_t offset) const {
    for (const Histogram& histogram : both.histograms) {
      const Context& context = both.contexts[histogram.context.value];
      if (context.run == RunId(1u) && histogram.offsets.front().value == offset) {
        return both.threads[context.thread.value].tid;
      }
    }
    return 0;
  }
};

Joined join(const MadeRun& native, const MadeRun& simulated) {
  NativeSamples samples;
  samples.add(native.profile);
  ProfileMerger merger(native.profile);
  merger.add(simulated.profile);
  Joined joined{{}, merger.take()};
  joined.threads = join_threads(samples, joined.both);
  return joined;
}

// The second thread of the native run was never sampled; the simulated run has all three.
TEST(JoinedThreads, BeganAsTheSameOfTheirProcess) {
  MadeRun native("timer", "cpu-clock");
  const ProcessId process = native.add_process(100, "program-of-long");  // as the kernel cuts it
  native.add_thread(process, 103, 3, 0x300, 30);
  native.add_thread(process, 100, 1, 0x100, 10);
  MadeRun simulated("simulate", "instructions");
  const ProcessId same = simulated.add_process(200, "program-of-long-name");
  simulated.add_thread(same, 200, 1, 0x100, 1);
  simulated.add_thread(same, 201, 2, 0x200, 1);
  simulated.add_thread(same, 202, 3, 0x300, 1);
  const Joined joined = join(native, simulated);
  EXPECT_EQ(joined.threads, (JoinedThreads{.joined = 2, .simulated_only = 1}));
  EXPECT_EQ(joined.tid_at(0x100), 100U);
  EXPECT_EQ(joined.tid_at(0x200), 201U);
  EXPECT_EQ(joined.tid_at(0x300), 103U);
  for (const Context& context : joined.both.contexts) EXPECT_EQ(context.process, process);
  EXPECT_EQ(describe_joined(joined.threads),
            "threads of the simulated run that are the native run's, by the order in which they "
            "began: 2; without a sample of the native run: 1");
}

TEST(JoinedThreads, ThatRanOtherCodeStayApart) {
  MadeRun native("timer", "cpu-clock");
  const ProcessId process = native.add_process(100, "program");
  native.add_thread(process, 101, 2, 0x200, 20);
  native.add_thread(process, 102, 3, 0x300, 30);
  MadeRun simulated("simulate", "instructions");
  const ProcessId same = simulated.add_process(200, "program");
  simulated.add_thread(same, 201, 2, 0x300, 1);
  simulated.add_thread(same, 202, 3, 0x200, 1);
  const Joined joined = join(native, simulated);
  EXPECT_EQ(joined.threads, JoinedThreads{.differing = 2});
  EXPECT_EQ(joined.tid_at(0x200), 202U);
  EXPECT_EQ(joined.tid_at(0x300), 201U);
}

// What the simulator did not execute at all (a function for another CPU) says nothing.
TEST(JoinedThreads, CodeThatNoThreadOfTheSimulatedRunHasIsNoContradiction) {
  MadeRun native("timer", "cpu-clock");
  native.add_thread(native.add_process(100, "program"), 100, 1, 0x900, 20);
  MadeRun simulated("simulate", "instructions");
  simulated.add_thread(simulated.add_process(200, "program"), 200, 1, 0x100, 1);
  const Joined joined = join(native, simulated);
  EXPECT_EQ(joined.threads, JoinedThreads{.joined = 1});
  EXPECT_EQ(describe_joined(joined.threads), "");
}

TEST(JoinedThreads, ProcessesOfOneNameAreTheSameIfThereAreAsMany) {
  MadeRun native("timer", "cpu-clock");
  native.add_thread(native.add_process(102, "child"), 102, 1, 0x200, 20);
  native.add_thread(native.add_process(101, "child"), 101, 1, 0x100, 10);
  MadeRun simulated("simulate", "instructions");
  simulated.add_thread(simulated.add_process(201, "child"), 201, 1, 0x100, 1);
  simulated.add_thread(simulated.add_process(202, "child"), 202, 1, 0x200, 1);
  Joined joined = join(native, simulated);
  EXPECT_EQ(joined.threads, JoinedThreads{.joined = 2});
  EXPECT_EQ(joined.tid_at(0x200), 102U);
  simulated.add_thread(simulated.add_process(203, "child"), 203, 1, 0x300, 1);
  joined = join(native, simulated);
  EXPECT_EQ(joined.threads, (JoinedThreads{.native_only = 2, .simulated_only = 3}));
  EXPECT_EQ(joined.tid_at(0x200), 202U);
}

// A thread that was there before the recording, or several folded into one.
TEST(JoinedThreads, WhoseBeginningNobodySawAreNotJoined) {
  MadeRun native("timer", "cpu-clock");
  native.add_thread(native.add_process(100, "program"), 100, 0, 0x100, 20);
  MadeRun simulated("simulate", "instructions");
  simulated.add_thread(simulated.add_process(200, "program"), 200, 1, 0x100, 1);
  EXPECT_EQ(join(native, simulated).threads,
            (JoinedThreads{.native_only = 1, .simulated_only = 1}));
}

}  // namespace
}  // namespace culprit
