// Small recordings laid out by hand, of which a reader can tell what the profile must say.

#include "perfdata/import.h"

#include <fstream>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "base/file.h"
#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::TestEvent;
using testing::TestFile;

constexpr uint64_t kPlain =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;

/// A recording as it grows, in the pipe form; times go up by themselves.
class Recording {
 public:
  explicit Recording(uint64_t sample_type = kPlain) : file_() {
    event_.sample_type = sample_type;
    file_.event(event_);
  }
  explicit Recording(const std::vector<TestEvent>& events) {
    for (const TestEvent& event : events) file_.event(event);
  }

  Recording& comm(uint32_t pid, uint32_t tid, std::string_view name, bool exec = false) {
    return record(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
                  Bytes().u32(pid).u32(tid).padded(name), pid, tid);
  }
  Recording& fork(uint32_t pid, uint32_t parent) {
    return record(PERF_RECORD_FORK, 0, Bytes().u32(pid).u32(parent).u32(pid).u32(parent).u64(time_),
                  pid, pid);
  }
  Recording& map(uint32_t pid, uint64_t start, uint64_t length, uint64_t offset,
                 std::string_view path, uint16_t misc = PERF_RECORD_MISC_USER) {
    return record(PERF_RECORD_MMAP, misc,
                  Bytes().u32(pid).u32(pid).u64(start).u64(length).u64(offset).padded(path), pid,
                  pid);
  }
  Recording& ksymbol(uint64_t start, uint32_t length, std::string_view name, uint16_t flags = 0) {
    return record(PERF_RECORD_KSYMBOL, 0,
                  Bytes().u64(start).u32(length).u16(1).u16(flags).padded(name), 0, 0);
  }
  Recording& sample(uint32_t pid, uint32_t tid, uint64_t ip, uint64_t period = 1,
                    uint16_t misc = PERF_RECORD_MISC_USER) {
    file_.record(PERF_RECORD_SAMPLE, misc,
                 Bytes().u64(ip).u32(pid).u32(tid).u64(++time_).u64(period));
    return *this;
  }
  Recording& raw_sample(const Bytes& body, uint16_t misc = PERF_RECORD_MISC_USER) {
    file_.record(PERF_RECORD_SAMPLE, misc, body);
    return *this;
  }
  Recording& record(uint32_t type, uint16_t misc, Bytes body, uint32_t pid, uint32_t tid) {
    body.u32(pid).u32(tid).u64(++time_);
    file_.record(type, misc, body);
    return *this;
  }
  Recording& later(uint64_t ns) {
    time_ += ns;
    return *this;
  }
  TestFile& file() { return file_; }

 private:
  TestEvent event_;
  TestFile file_;
  uint64_t time_ = 1000;
};

Imported import(const std::string& bytes, const ImportTools& tools = {}) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  EXPECT_TRUE(folder);
  const std::string path = folder->path() + "/perf.data";
  std::ofstream(path, std::ios::binary) << bytes;
  Result<Imported> imported = import_perf_data({path, tools}, {}, {});
  EXPECT_TRUE(imported) << imported.error().message;
  return imported ? *std::move(imported) : Imported();
}
Imported import(Recording& recording) {
  return import(recording.file().pipe_form());
}

/// "process/thread image+offset event: samples value", sorted.
std::vector<std::string> rows_of(const Profile& profile) {
  std::vector<std::string> rows;
  const auto text = [&](StringId id) { return std::string(profile.strings.text(id)); };
  for (const Histogram& histogram : profile.histograms) {
    const Context& context = profile.contexts[histogram.context.value];
    for (const EventColumn& column : histogram.columns) {
      for (size_t i = 0; i < histogram.offsets.size(); ++i) {
        if (column.samples_at(i) == 0) continue;
        char place[64];
        std::snprintf(place, sizeof place, "+%#lx ", histogram.offsets[i].value);
        rows.push_back(text(profile.processes[context.process.value].name) + "/" +
                       text(profile.threads[context.thread.value].name) + " " +
                       text(profile.images[histogram.image.value].path) + place +
                       text(profile.events[column.event.value].name) + ": " +
                       std::to_string(column.samples_at(i)) + " " +
                       std::to_string(column.value[i]));
      }
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

using Rows = std::vector<std::string>;

TEST(Import, CountsSamplesByPlace) {
  Recording recording;
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x2000, 0x1000, "/bin/prog");
  recording.sample(5, 5, 0x400123, 10).sample(5, 5, 0x400123, 7).sample(5, 5, 0x9999, 1);
  const Imported imported = import(recording);
  EXPECT_EQ(rows_of(imported.profile), (Rows{"prog/prog /bin/prog+0x1123 cycles:HG: 2 17",
                                             "prog/prog [unknown]+0x9999 cycles:HG: 1 1"}));
  EXPECT_EQ(imported.samples, 3u);
  EXPECT_EQ(imported.profile.ledger.amount(ledger::kUnknownAddress), 1u);
}

TEST(Import, KeepsSamplesByTimeSinceTheFirst) {
  Recording recording;
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x2000, 0, "/bin/prog").later(40'000'000);
  recording.sample(5, 5, 0x400123, 10).sample(5, 5, 0x400200, 7).later(25'000'000);
  recording.sample(5, 5, 0x400123, 3);
  const Profile profile = import(recording).profile;
  ASSERT_EQ(profile.slice_counts.size(), 2u);
  const SliceCount& first = profile.slice_counts[0];
  const SliceCount& last = profile.slice_counts[1];
  EXPECT_EQ(std::pair(first.width_ns, first.begin_ns), std::pair(10'000'000ul, 0ul));
  EXPECT_EQ(std::pair(last.width_ns, last.begin_ns), std::pair(10'000'000ul, 20'000'000ul));
  EXPECT_EQ(first.cell, (Cell{EventId(0u), 2, 17, 0}));
  EXPECT_EQ(last.cell, (Cell{EventId(0u), 1, 3, 0}));
  EXPECT_EQ(first.context, last.context);
}

TEST(Import, WithoutTimesKeepsNothingByTime) {
  Recording recording(PERF_SAMPLE_IP | PERF_SAMPLE_TID);
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x2000, 0, "/bin/prog");
  recording.raw_sample(Bytes().u64(0x400123).u32(5).u32(5));
  EXPECT_TRUE(import(recording).profile.slice_counts.empty());
}

TEST(Import, TellsMemoryWithoutAFileFromNoMemory) {
  Recording recording;
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x2000, 0, "//anon");
  recording.sample(5, 5, 0x400123, 10).sample(5, 5, 0x9999, 1);
  const Profile profile = import(recording).profile;
  EXPECT_EQ(rows_of(profile), (Rows{"prog/prog [anonymous]+0x400123 cycles:HG: 1 10",
                                    "prog/prog [unknown]+0x9999 cycles:HG: 1 1"}));
  EXPECT_EQ(profile.ledger.amount(ledger::kUnknownAddress), 1u);
}

TEST(Import, PutsRecordsInOrderOfTimeFirst) {
  // The sample stands before the mapping it needs, and comes after it.
  TestFile file;
  TestEvent event;
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  file.event(event);
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER,
              Bytes().u64(0x400123).u32(5).u32(5).u64(200));
  Bytes map;
  map.u32(5).u32(5).u64(0x400000).u64(0x2000).u64(0).padded("/bin/prog");
  file.record(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, map.u32(5).u32(5).u64(100));
  EXPECT_EQ(rows_of(import(file.pipe_form()).profile),
            (Rows{":5/:5 /bin/prog+0x123 cycles:HG: 1 1"}));
}

TEST(Import, ForkKeepsMappingsAndExecForgetsThem) {
  Recording recording;
  recording.comm(5, 5, "shell", true).map(5, 0x400000, 0x1000, 0, "/bin/sh");
  recording.fork(6, 5).sample(6, 6, 0x400010);
  recording.comm(6, 6, "tool", true).sample(6, 6, 0x400020);
  recording.map(6, 0x400000, 0x1000, 0, "/bin/tool").sample(6, 6, 0x400030);
  recording.sample(5, 5, 0x400040);
  EXPECT_EQ(
      rows_of(import(recording).profile),
      (Rows{"shell/shell /bin/sh+0x10 cycles:HG: 1 1", "shell/shell /bin/sh+0x40 cycles:HG: 1 1",
            "tool/tool /bin/tool+0x30 cycles:HG: 1 1",
            "tool/tool [unknown]+0x400020 cycles:HG: 1 1"}));
}

TEST(Import, RenamingSplitsRowsAndKeepsMappings) {
  // Kernels before 3.16 do not say whether a new name is a new program.
  Recording recording;
  recording.comm(5, 5, "old").map(5, 0x400000, 0x1000, 0, "/bin/a").sample(5, 5, 0x400010);
  recording.comm(5, 5, "new").sample(5, 5, 0x400010);
  EXPECT_EQ(rows_of(import(recording).profile),
            (Rows{"new/new /bin/a+0x10 cycles:HG: 1 1", "old/old /bin/a+0x10 cycles:HG: 1 1"}));
}

TEST(Import, NamesThreadsByTheirOwnNames) {
  Recording recording;
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x1000, 0, "/bin/a");
  recording.comm(5, 6, "worker").sample(5, 6, 0x400010).sample(5, 5, 0x400010);
  EXPECT_EQ(rows_of(import(recording).profile), (Rows{"prog/prog /bin/a+0x10 cycles:HG: 1 1",
                                                      "prog/worker /bin/a+0x10 cycles:HG: 1 1"}));
}

TEST(Import, KnowsKernelModulesAndBpfPrograms) {
  constexpr uint16_t kKernel = PERF_RECORD_MISC_KERNEL;
  constexpr uint64_t kText = 0xffffffff81000000;
  constexpr uint64_t kModule = 0xffffffffa0000000;
  constexpr uint64_t kBpf = 0xffffffffc0000000;
  Recording recording;
  recording.map(~0U, kText, 0x1000000, kText, "[kernel.kallsyms]_text", kKernel);
  recording.map(~0U, kModule, 0x4000, 0, "/lib/modules/6.1/kernel/fs/ext4/ext-4.ko.xz", kKernel);
  recording.ksymbol(kBpf, 64, "bpf_prog_0123456789abcdef_f");
  recording.sample(0, 0, kText + 0x10, 1, kKernel).sample(0, 0, kModule + 0x20, 1, kKernel);
  recording.sample(0, 0, kBpf + 0x30, 1, kKernel).sample(0, 0, kBpf + 64, 1, kKernel);
  recording.ksymbol(kBpf, 64, "bpf_prog_0123456789abcdef_f", PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
  recording.sample(0, 0, kBpf + 0x30, 1, kKernel);
  const Imported imported = import(recording);
  EXPECT_EQ(rows_of(imported.profile),
            (Rows{"swapper/swapper [bpf] bpf_prog_0123456789abcdef_f+0x30 cycles:HG: 1 1",
                  "swapper/swapper [ext_4]+0x20 cycles:HG: 1 1",
                  "swapper/swapper [kernel, unknown]+0xffffffffc0000030 cycles:HG: 1 1",
                  "swapper/swapper [kernel, unknown]+0xffffffffc0000040 cycles:HG: 1 1",
                  "swapper/swapper [kernel]+0x10 cycles:HG: 1 1"}));
  EXPECT_EQ(imported.facts.size(), 1u);
}

TEST(Import, KeepsGuestsApart) {
  Recording recording;
  recording.comm(5, 5, "qemu").map(5, 0x400000, 0x1000, 0, "/bin/qemu");
  recording.sample(5, 5, 0x400010, 1, PERF_RECORD_MISC_GUEST_USER);
  recording.sample(5, 5, 0xffffffff81000010, 1, PERF_RECORD_MISC_GUEST_KERNEL);
  EXPECT_EQ(rows_of(import(recording).profile),
            (Rows{"qemu/qemu [guest kernel]+0xffffffff81000010 cycles:HG: 1 1",
                  "qemu/qemu [guest user]+0x400010 cycles:HG: 1 1"}));
}

TEST(Import, SamplesOfGuestsAreNotOfUnknownAddresses) {
  Recording recording;
  recording.comm(5, 5, "qemu").sample(5, 5, 0x400010, 1, PERF_RECORD_MISC_GUEST_USER);
  recording.sample(5, 5, 0xffffffff81000010, 1, PERF_RECORD_MISC_GUEST_KERNEL);
  EXPECT_EQ(import(recording).profile.ledger.amount(ledger::kUnknownAddress), 0u);
}

// The map of simpleperf's files: [0, 2^64-1], from offset 0. It says nothing of where the kernel
// begins, but that all is in it.
TEST(Import, AKernelMappedEverywhereHoldsAllItsSamples) {
  constexpr uint16_t kKernel = PERF_RECORD_MISC_KERNEL;
  Recording recording;
  recording.map(~0U, 0, ~uint64_t{0}, 0, "[kernel.kallsyms]", kKernel);
  recording.map(~0U, 0xffffffc000a00000, 0x4000, 0, "[wlan]", kKernel);
  recording.sample(0, 0, 0xffffffc010081234, 1, kKernel);
  recording.sample(0, 0, 0xffffffc000a00020, 1, kKernel);
  const Imported imported = import(recording);
  EXPECT_EQ(rows_of(imported.profile),
            (Rows{"swapper/swapper [kernel]+0xffffffc010081234 cycles:HG: 1 1",
                  "swapper/swapper [wlan]+0x20 cycles:HG: 1 1"}));
  EXPECT_EQ(imported.profile.ledger.amount(ledger::kUnknownAddress), 0u);
  EXPECT_EQ(imported.profile.ledger.amount(ledger::kDamagedRecords), 0u);
}

TEST(Import, LeaderSamplingCountsWhatEachCounterGained) {
  TestEvent leader;
  leader.sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_READ;
  leader.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  leader.ids = {71};
  TestEvent member = leader;
  member.config = 1;
  member.period = 0;
  member.ids = {72};
  Recording recording(std::vector<TestEvent>{leader, member});
  const auto sample = [](uint64_t time, uint64_t first, uint64_t second) {
    return Bytes()
        .u64(0x9000)
        .u32(5)
        .u32(5)
        .u64(time)
        .u64(71)
        .u64(2)
        .u64(first)
        .u64(71)
        .u64(second)
        .u64(72);
  };
  recording.raw_sample(sample(1, 100, 40))
      .raw_sample(sample(2, 250, 40))
      .raw_sample(sample(3, 300, 95));
  // cycles: 100 + 150 + 50; instructions: 40 + 0 (which is no sample of it) + 55.
  EXPECT_EQ(rows_of(import(recording).profile),
            (Rows{":5/:5 [unknown]+0x9000 cycles:HG: 3 300",
                  ":5/:5 [unknown]+0x9000 instructions:HG: 2 95"}));
}

/// Offsets of the one stack, innermost first.
std::vector<uint64_t> only_stack(const Profile& profile) {
  std::vector<uint64_t> offsets;
  EXPECT_EQ(profile.stack_counts.size(), 1u);
  if (profile.stack_counts.empty()) return offsets;
  for (StackId at = profile.stack_counts[0].stack; !at.is_all();
       at = profile.stacks[at.value].parent) {
    offsets.push_back(profile.stacks[at.value].location.offset.value);
  }
  return offsets;
}

TEST(Import, CountsStacksFromTheirRoots) {
  Recording recording(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN);
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x1000, 0, "/bin/a");
  Bytes sample;
  sample.u64(0x400300).u32(5).u32(5).u64(5000);
  sample.u64(4).u64(uint64_t(PERF_CONTEXT_USER)).u64(0x400300).u64(0x400201).u64(0x400101);
  recording.raw_sample(sample);
  // Return addresses less 1.
  EXPECT_EQ(only_stack(import(recording).profile), (std::vector<uint64_t>{0x300, 0x200, 0x100}));
}

// perf record --call-graph lbr: the branch records are the calls not returned from, the latest
// first. Frame pointers knew only one caller.
TEST(Import, CallsInBranchRecordsAreTheStack) {
  TestEvent event;
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                      PERF_SAMPLE_BRANCH_STACK;
  event.branch_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
  Recording recording(std::vector<TestEvent>{event});
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x1000, 0, "/bin/a");
  Bytes sample;
  sample.u64(0x400305).u32(5).u32(5).u64(5000);
  sample.u64(3).u64(uint64_t(PERF_CONTEXT_USER)).u64(0x400305).u64(0x400999);
  sample.u64(2).u64(0x400210).u64(0x400300).u64(0).u64(0x400110).u64(0x400200).u64(0);
  recording.raw_sample(sample);
  const Profile profile = import(recording).profile;
  EXPECT_EQ(only_stack(profile), (std::vector<uint64_t>{0x305, 0x210, 0x110}));
  EXPECT_TRUE(profile.branch_counts.empty());
}

// The records are of user code: what the kernel ran comes from the callchain, and then where it
// was entered.
TEST(Import, CallsInBranchRecordsFollowTheKernelsFrames) {
  TestEvent event;
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                      PERF_SAMPLE_BRANCH_STACK;
  event.branch_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
  constexpr uint64_t kText = 0xffffffff81000000;
  Recording recording(std::vector<TestEvent>{event});
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x1000, 0, "/bin/a");
  recording.map(~0U, kText, 0x1000000, kText, "[kernel.kallsyms]_text", PERF_RECORD_MISC_KERNEL);
  Bytes sample;
  sample.u64(kText + 0x50).u32(5).u32(5).u64(5000);
  sample.u64(5).u64(uint64_t(PERF_CONTEXT_KERNEL)).u64(kText + 0x50).u64(kText + 0x41);
  sample.u64(uint64_t(PERF_CONTEXT_USER)).u64(0x400305);
  sample.u64(1).u64(0x400210).u64(0x400300).u64(0);
  recording.raw_sample(sample, PERF_RECORD_MISC_KERNEL);
  EXPECT_EQ(only_stack(import(recording).profile),
            (std::vector<uint64_t>{0x50, 0x40, 0x305, 0x210}));
}

// simpleperf unwinds stacks itself, leaves STACK_USER set, and writes copies of 0 bytes.
TEST(Import, ACopyOfNothingLeavesTheCallchain) {
  Recording recording(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
                      PERF_SAMPLE_STACK_USER);
  recording.comm(5, 5, "prog").map(5, 0x400000, 0x1000, 0, "/bin/a");
  Bytes sample;
  sample.u64(0x400300).u32(5).u32(5).u64(5000);
  sample.u64(3).u64(uint64_t(PERF_CONTEXT_USER)).u64(0x400300).u64(0x400201).u64(0);
  recording.raw_sample(sample);
  ImportTools tools;
  tools.make_unwinder = [](const std::string&, const OpenMappedFile&) -> UnwindStack {
    return [](uint32_t, const AddressSpaces&, const RegisterDump&, std::span<const std::byte>) {
      return UnwoundStack{{}, UnwindStop::no_registers};
    };
  };
  EXPECT_EQ(only_stack(import(recording.file().pipe_form(), tools).profile),
            (std::vector<uint64_t>{0x300, 0x200}));
}

std::vector<std::string> names_of_events(const Profile& profile) {
  std::vector<std::string> names;
  for (const Event& event : profile.events) names.push_back(profile.strings.text(event.name));
  return names;
}

TEST(Import, EventsStandInTheOrderOfTheFile) {
  TestEvent cycles;
  cycles.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
  cycles.ids = {71};
  TestEvent instructions = cycles;
  instructions.config = PERF_COUNT_HW_INSTRUCTIONS;
  instructions.ids = {72};
  TestEvent never = cycles;
  never.config = PERF_COUNT_HW_BRANCH_MISSES;
  never.ids = {70};
  Recording recording(std::vector<TestEvent>{never, cycles, instructions});
  recording.raw_sample(Bytes().u64(0x9000).u32(5).u32(5).u64(1).u64(72));
  recording.raw_sample(Bytes().u64(0x9000).u32(5).u32(5).u64(2).u64(71));
  recording.raw_sample(Bytes().u64(0x9000).u32(5).u32(5).u64(3).u64(71));
  EXPECT_EQ(names_of_events(import(recording).profile),
            (std::vector<std::string>{"cycles:HG", "instructions:HG"}));
  EXPECT_EQ(rows_of(import(recording).profile),
            (Rows{":5/:5 [unknown]+0x9000 cycles:HG: 2 2",
                  ":5/:5 [unknown]+0x9000 instructions:HG: 1 1"}));
}

// perf record -e 'cycles, instructions' keeps the space, and --all-user is not in the names.
TEST(Import, NamesOfEventsHaveTheirModifiersAndNoSpace) {
  constexpr uint64_t kExcludeKernel = 1 << 5;
  TestEvent event;
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  event.flags |= kExcludeKernel;
  TestFile file;
  file.event(event);
  Bytes names;
  names.u32(1).u32(TestEvent::kBytes).raw(testing::text_of(event.attr(std::endian::little)));
  names.u32(0).u32(16).raw(std::string_view(" instructions\0\0\0", 16));
  constexpr uint32_t kEventDescriptions = 12;
  file.feature(kEventDescriptions, names);
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, Bytes().u64(1).u32(5).u32(5).u64(1));
  EXPECT_EQ(names_of_events(import(file.pipe_form()).profile),
            (std::vector<std::string>{"instructions:u"}));
}

TEST(Import, SaysWhatWasLost) {
  Recording recording;
  recording.sample(5, 5, 0x9000);
  recording.record(PERF_RECORD_LOST, 0, Bytes().u64(71).u64(12), 5, 5);
  recording.record(PERF_RECORD_LOST_SAMPLES, 0, Bytes().u64(30), 5, 5);
  recording.record(PERF_RECORD_THROTTLE, 0, Bytes().u64(1).u64(71).u64(71), 5, 5);
  recording.raw_sample(Bytes().u64(1));
  const Imported imported = import(recording);
  const Ledger& ledger = imported.profile.ledger;
  EXPECT_EQ(ledger.amount(ledger::kLostRecords), 12u);
  EXPECT_EQ(ledger.amount(ledger::kLostSamples), 30u);
  EXPECT_EQ(ledger.amount(ledger::kThrottled), 1u);
  EXPECT_EQ(ledger.amount(ledger::kDamagedRecords), 1u);
  EXPECT_EQ(imported.lost, 42u);
}

TEST(Import, KeepsWhatCameBeforeTheDamage) {
  Recording recording;
  recording.sample(5, 5, 0x9000);
  const std::string good = recording.file().pipe_form();
  const Imported imported = import(good + "rest");
  EXPECT_EQ(imported.samples, 1u);
  ASSERT_EQ(imported.remarks.size(), 1u);
  EXPECT_NE(imported.remarks[0].find("damaged"), std::string::npos);
}

// Advice to let perf read it helps only with what perf may be able to read.
TEST(Import, SendsOnlyFilesOfPerfToPerf) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto error_of = [&](const std::string& bytes) {
    std::ofstream(folder->path() + "/f", std::ios::binary) << bytes;
    const Result<Imported> imported = import_perf_data({folder->path() + "/f"}, {}, {});
    return imported ? "" : imported.error().message;
  };
  EXPECT_NE(error_of("PERFILE2 and nothing of use").find("perf script -i"), std::string::npos);
  const std::string garbage = error_of(std::string(1000, '\x7f'));
  EXPECT_NE(garbage.find("not a perf.data file"), std::string::npos) << garbage;
  EXPECT_EQ(garbage.find("perf script -i"), std::string::npos) << garbage;
  EXPECT_EQ(error_of("PERFFILE" + std::string(96, 'x')).find("perf script -i"), std::string::npos);
}

TEST(Import, RefusesRecordsBeforeTheirEvents) {
  TestFile file;
  file.record(PERF_RECORD_SAMPLE, 0, Bytes().u64(1));
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  std::ofstream(folder->path() + "/f", std::ios::binary) << file.pipe_form();
  const Result<Imported> imported = import_perf_data({folder->path() + "/f"}, {}, {});
  ASSERT_FALSE(imported);
  EXPECT_NE(imported.error().message.find("records before the events"), std::string::npos);
}

}  // namespace
}  // namespace culprit
