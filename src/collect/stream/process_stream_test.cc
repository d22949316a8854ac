// Literal records in, counts out: no kernel, no programs. Process numbers are above the
// kernel's limit (2^22), so /proc has nothing to say about them.

#include "collect/stream/process_stream.h"

#include <gtest/gtest.h>
#include <map>

namespace culprit {
namespace {

constexpr uint32_t kPid = 900'000'001;

class ProcessStreamTest : public ::testing::Test {
 protected:
  void start(const ProcessorOptions& options = {}) {
    processor_.emplace(options);
    processor_->builder().profile().runs.emplace_back();
    processor_->builder().profile().events.emplace_back();
    processor_->follow_command(static_cast<pid_t>(kPid));
  }
  void feed(RecordBody body, uint32_t pid, uint32_t tid) {
    time_ns_ += 1000;
    processor_->process(Record{{pid, tid, time_ns_, 0, 0, 0}, std::move(body)});
  }
  void exec(uint32_t pid, const char* name) { feed(CommRecord{pid, pid, true, name}, pid, pid); }
  void fork(uint32_t parent, uint32_t pid) {
    feed(ForkRecord{{pid, parent, pid, parent, 0}}, parent, parent);
  }
  void exit(uint32_t pid) { feed(ExitRecord{{pid, 0, pid, 0, 0}}, pid, pid); }
  void map(uint32_t pid, uint64_t start, uint64_t length, uint64_t offset, const char* path) {
    MmapRecord record;
    record.pid = pid;
    record.start = RunAddress(start);
    record.length = length;
    record.file_offset = offset;
    record.executable = true;
    record.mode = Mode::user;
    record.build_id = "abcd";
    record.path = path;
    feed(record, pid, pid);
  }
  void sample(uint32_t pid, uint64_t ip, std::vector<uint64_t> chain = {}) {
    SampleRecord record;
    record.ip = RunAddress(ip);
    record.period = 10;
    record.mode = Mode::user;
    record.callchain = std::move(chain);
    feed(record, pid, pid);
  }
  /// Samples by "process path offset".
  std::map<std::string, uint64_t> finish() {
    recording_ = processor_->finish();
    const Profile& profile = recording_.profile;
    std::map<std::string, uint64_t> counts;
    for (const Histogram& histogram : profile.histograms) {
      const Context& context = profile.contexts[histogram.context.value];
      const Process& process = profile.processes[context.process.value];
      for (const EventColumn& column : histogram.columns) {
        for (size_t i = 0; i < column.samples.size(); ++i) {
          const std::string key = profile.strings.text(process.name) + " " +
                                  profile.strings.text(profile.images[histogram.image.value].path) +
                                  " " + std::to_string(histogram.offsets[i].value);
          counts[key] += column.samples[i];
        }
      }
    }
    return counts;
  }

  std::optional<SampleProcessor> processor_;
  Recording recording_;
  uint64_t time_ns_ = 0;
};

using Counts = std::map<std::string, uint64_t>;

TEST_F(ProcessStreamTest, CountsTheCommandFromItsExecOn) {
  start();
  map(kPid, 0x1000, 0x1000, 0, "/no/culprit");
  sample(kPid, 0x1010);  // still ours, before exec
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0x200, "/no/prog");
  sample(kPid, 0x5010);
  sample(kPid, 0x5010);
  sample(kPid + 1, 0x5010);                                 // a stranger
  EXPECT_EQ(finish(), (Counts{{"prog /no/prog 528", 2}}));  // 0x200 + 0x10
  EXPECT_EQ(recording_.samples, 2u);
}

TEST_F(ProcessStreamTest, ExecForgetsWhatWasMapped) {
  start();
  exec(kPid, "one");
  map(kPid, 0x5000, 0x1000, 0, "/no/one");
  exec(kPid, "two");
  sample(kPid, 0x5010);
  EXPECT_EQ(finish(), (Counts{{"two [unknown] 20496", 1}}));  // the run address
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kUnknownAddress), 1u);
}

TEST_F(ProcessStreamTest, ChildrenAreCountedWithTheirParentsMappings) {
  start();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  fork(kPid, kPid + 1);
  sample(kPid + 1, 0x5001);
  exec(kPid + 1, "child");
  map(kPid + 1, 0x5000, 0x1000, 0, "/no/child");
  sample(kPid + 1, 0x5001);
  sample(kPid, 0x5001);
  EXPECT_EQ(finish(), (Counts{{"prog /no/prog 1", 2}, {"child /no/child 1", 1}}));
  EXPECT_EQ(recording_.profile.processes.size(), 3u);  // each program of each process
}

TEST_F(ProcessStreamTest, NumbersUsedAgainBelongToTheirNewOwner) {
  start();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  fork(kPid, kPid + 1);
  exit(kPid + 1);
  fork(kPid + 7, kPid + 1);  // a stranger's child
  sample(kPid + 1, 0x5001);
  EXPECT_EQ(finish(), Counts{});
}

TEST_F(ProcessStreamTest, LateSamplesOfAnEndedTaskAreCounted) {
  start();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  exit(kPid);
  sample(kPid, 0x5001);
  EXPECT_EQ(finish(), (Counts{{"prog /no/prog 1", 1}}));
}

TEST_F(ProcessStreamTest, FoldsManyProcessesByName) {
  start();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  for (uint32_t i = 1; i <= 3000; ++i) {
    fork(kPid, kPid + i);
    sample(kPid + i, 0x5001);
    exit(kPid + i);
  }
  EXPECT_EQ(finish(), (Counts{{"prog /no/prog 1", 3000}}));
  EXPECT_EQ(recording_.profile.processes.size(), 1025u);  // 1,024 and the folded one
  EXPECT_EQ(recording_.profile.processes.back().pid, 0u);
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kFoldedProcesses), 3000u - 1024u);
}

TEST_F(ProcessStreamTest, StacksGoFromCallerToCallee) {
  ProcessorOptions options;
  options.stacks = true;
  options.frames_limit = 3;
  start(options);
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  sample(kPid, 0x5001, {static_cast<uint64_t>(PERF_CONTEXT_USER), 0x5001, 0x5101, 0x5201});
  sample(kPid, 0x5002);  // no chain: a stack of one
  finish();
  const Profile& profile = recording_.profile;
  ASSERT_EQ(profile.stack_counts.size(), 2u);
  std::vector<uint64_t> offsets;
  for (StackId at = profile.stack_counts[0].stack; !at.is_all();
       at = profile.stacks[at.value].parent) {
    offsets.push_back(profile.stacks[at.value].location.offset.value);
  }
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0x1, 0x100, 0x200}));  // callers: return address - 1
  EXPECT_EQ(profile.ledger.amount(ledger::kTruncatedStacks), 1u);
}

TEST_F(ProcessStreamTest, IdentifiersSayWhichEventASampleIsOf) {
  ProcessorOptions options;
  options.event_of_id = {{71, 0}, {72, 1}, {73, 1}};  // an event has an id on each CPU
  start(options);
  processor_->builder().profile().events.emplace_back();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  for (const uint64_t id : {71u, 72u, 73u, 99u}) {
    SampleRecord record;
    record.ip = RunAddress(0x5001);
    record.period = 10;
    record.mode = Mode::user;
    time_ns_ += 1000;
    processor_->process(Record{{kPid, kPid, time_ns_, id, 0, 0}, record});
  }
  finish();
  ASSERT_EQ(recording_.profile.histograms.size(), 1u);
  std::map<uint32_t, uint64_t> samples;
  for (const EventColumn& column : recording_.profile.histograms[0].columns) {
    samples[column.event.value] += column.samples.at(0);
  }
  EXPECT_EQ(samples, (std::map<uint32_t, uint64_t>{{0, 1}, {1, 2}}));
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kUnknownEvents), 1u);
}

TEST_F(ProcessStreamTest, BranchesAndMemoryAccessesAreKeptWithTheirPlaces) {
  start();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  SampleRecord record;
  record.ip = RunAddress(0x5030);
  record.period = 10;
  record.mode = Mode::user;
  record.branches = {{RunAddress(0x5020), RunAddress(0x5028), true, false, 3},  // the latest
                     {RunAddress(0x5010), RunAddress(0x5018), false, true, 0}};
  record.data_address = 0x7000;
  record.weight = 40;
  feed(record, kPid, kPid);
  finish();
  const Profile& profile = recording_.profile;
  ASSERT_EQ(profile.branch_counts.size(), 2u);
  EXPECT_EQ(profile.branch_counts[0].from.offset, FileOffset(0x10));
  EXPECT_EQ(profile.branch_counts[1].mispredicted, 1u);
  ASSERT_EQ(profile.fall_throughs.size(), 1u);  // from the target of the earlier one
  EXPECT_EQ(profile.fall_throughs[0].from, FileOffset(0x18));
  EXPECT_EQ(profile.fall_throughs[0].to, FileOffset(0x20));
  ASSERT_EQ(profile.sampled_accesses.size(), 1u);
  EXPECT_EQ(profile.sampled_accesses[0].latency_cycles, 40u);
  EXPECT_EQ(profile.sampled_accesses[0].location.offset, FileOffset(0x30));
}

/// A stand-in for room `unwind`: its frames, and why it stopped.
MakeUnwindStack answer(UnwoundStack stack) {
  return [stack](OpenMappedFile) {
    return [stack](uint32_t, const AddressSpaces&, const RegisterDump&,
                   std::span<const std::byte>) { return stack; };
  };
}

/// Offsets of the only stack, innermost first.
std::vector<uint64_t> only_stack(const Profile& profile) {
  std::vector<uint64_t> offsets;
  if (profile.stack_counts.size() != 1) return offsets;
  for (StackId at = profile.stack_counts[0].stack; !at.is_all();
       at = profile.stacks[at.value].parent) {
    offsets.push_back(profile.stacks[at.value].location.offset.value);
  }
  return offsets;
}

TEST_F(ProcessStreamTest, UnwoundFramesAreTheUserPartOfTheStack) {
  ProcessorOptions options;
  options.stacks = true;
  options.layout.sample_type = PERF_SAMPLE_STACK_USER;
  options.make_unwinder =
      answer({{{RunAddress(0x5001), Mode::user}, {RunAddress(0x5100), Mode::user}},
              UnwindStop::outside_copy});
  start(options);
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  sample(kPid, 0x5001, {static_cast<uint64_t>(PERF_CONTEXT_USER)});
  finish();
  EXPECT_EQ(only_stack(recording_.profile), (std::vector<uint64_t>{0x1, 0x100}));
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kStacksOutsideCopy), 1u);
}

TEST_F(ProcessStreamTest, WithinExecThereIsNoUserStack) {
  ProcessorOptions options;
  options.stacks = true;
  options.layout.sample_type = PERF_SAMPLE_STACK_USER;
  options.make_unwinder = answer({{{RunAddress(0x5001), Mode::user}}, UnwindStop::damaged});
  start(options);
  exec(kPid, "prog");  // nothing is mapped yet
  SampleRecord in_kernel;
  in_kernel.ip = RunAddress(0xffffffff81000000);
  in_kernel.mode = Mode::kernel;
  feed(in_kernel, kPid, kPid);
  finish();
  EXPECT_EQ(only_stack(recording_.profile).size(), 1u);
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kDamagedStacks), 0u);
}

// What a virtual machine ran while its process was on the CPU is neither in this kernel nor in
// what that process has mapped.
TEST_F(ProcessStreamTest, ShowsGuestsAsGuests) {
  start();
  exec(kPid, "qemu");
  map(kPid, 0x5000, 0x1000, 0, "/no/qemu");
  SampleRecord guest;
  guest.ip = RunAddress(0x5010);
  guest.mode = Mode::guest_user;
  feed(guest, kPid, kPid);
  guest.ip = RunAddress(0xffffffff81000010);
  guest.mode = Mode::guest_kernel;
  feed(guest, kPid, kPid);
  finish();
  std::map<std::string, uint64_t> samples;
  for (const Histogram& histogram : recording_.profile.histograms) {
    const Image& image = recording_.profile.images[histogram.image.value];
    samples[recording_.profile.strings.text(image.path)] += histogram.columns[0].samples[0];
  }
  EXPECT_EQ(samples, (std::map<std::string, uint64_t>{{"[guest kernel]", 1}, {"[guest user]", 1}}));
}

TEST_F(ProcessStreamTest, CountsLossesAndThrottling) {
  start();
  feed(LostRecord{0, 5}, kPid, kPid);
  feed(LostSamplesRecord{2}, kPid, kPid);
  feed(ThrottleRecord{true, 0, 0}, kPid, kPid);
  feed(ThrottleRecord{false, 0, 0}, kPid, kPid);
  finish();
  EXPECT_EQ(recording_.lost, 7u);
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kLostSamples), 7u);
  EXPECT_EQ(recording_.profile.ledger.amount(ledger::kThrottled), 1u);
}

TEST_F(ProcessStreamTest, FlushHandsOverEachCountOnce) {
  start();
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  sample(kPid, 0x5001);
  uint64_t flushed = 0;
  const auto sink = [&](const Profile& profile) {
    for (const Histogram& histogram : profile.histograms)
      flushed += histogram.columns[0].samples[0];
    return Result<void>();
  };
  ASSERT_TRUE(processor_->flush(sink).has_value());
  ASSERT_TRUE(processor_->flush(sink).has_value());
  EXPECT_EQ(flushed, 1u);
  EXPECT_EQ(finish(), Counts{});
}

/// "begin ms: samples value, ..." of an event.
std::string by_time(const Profile& profile, EventId event) {
  std::string text;
  for (const SliceCount& one : profile.slice_counts) {
    if (one.cell.event != event) continue;
    text += std::to_string(one.begin_ns / 1'000'000) + ": " + std::to_string(one.cell.samples) +
            " " + std::to_string(one.cell.value) + ", ";
  }
  return text;
}

TEST_F(ProcessStreamTest, KeepsSamplesByTimeWhereverTheyWere) {
  time_ns_ = 1'000'000'000;
  start();
  processor_->builder().begin_time(time_ns_);
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  map(kPid, 0x9000, 0x1000, 0, "//anon");
  sample(kPid, 0x5001);
  sample(kPid, 0x9001);  // its name may come later
  time_ns_ = 1'025'000'000;
  sample(kPid, 0x5001);
  finish();
  EXPECT_EQ(by_time(recording_.profile, EventId(0u)), "0: 2 20, 20: 1 10, ");
}

TEST_F(ProcessStreamTest, AnotherRunHasATimeOfItsOwn) {
  time_ns_ = 1'000'000'000;
  start();
  processor_->builder().begin_time(time_ns_);
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  time_ns_ = 1'030'000'000;
  sample(kPid, 0x5001);
  processor_->begin_run({});
  processor_->builder().begin_time(time_ns_);
  sample(kPid, 0x5001);
  finish();
  EXPECT_EQ(by_time(recording_.profile, EventId(0u)), "30: 1 10, 0: 1 10, ");
}

TEST_F(ProcessStreamTest, WaitsAreInTheTimeThatTheyLast) {
  time_ns_ = 1'000'000'000;
  ProcessorOptions options;
  options.event_of_id = {{1, 0}, {2, 1}};
  options.off_cpu = OffCpuEvents{EventId(1u), EventId(2u)};
  start(options);
  ProfileBuilder& builder = processor_->builder();
  builder.profile().events.resize(1);
  add_off_cpu_events(builder);
  builder.begin_time(time_ns_);
  exec(kPid, "prog");
  map(kPid, 0x5000, 0x1000, 0, "/no/prog");
  const auto at = [&](uint64_t ms, RecordBody body, uint64_t id) {
    processor_->process(
        Record{{kPid, kPid, 1'000'000'000 + ms * 1'000'000, id, 0, 0}, std::move(body)});
  };
  SampleRecord leaves;
  leaves.ip = RunAddress(0x5001);
  leaves.mode = Mode::user;
  // Away from 4 ms to 24 ms: 6, 10 and 4 ms of three slices.
  at(4, leaves, 2);
  at(4, SwitchRecord{.out = true, .preempted = false}, 0);
  at(24, SwitchRecord{.out = false, .preempted = false}, 0);
  // And from 25 ms until the recording ends at 31 ms.
  at(25, leaves, 2);
  at(25, SwitchRecord{.out = true, .preempted = false}, 0);
  processor_->end_waits(1'031'000'000);
  finish();
  EXPECT_EQ(by_time(recording_.profile, EventId(1u)),
            "0: 0 6000000, 10: 0 10000000, 20: 1 9000000, 30: 1 1000000, ");
}

}  // namespace
}  // namespace culprit
