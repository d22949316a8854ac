#include "perfdata/script_line.h"

#include <gtest/gtest.h>

#include "perfdata/script_header.h"
#include "perfdata/script_records.h"

namespace culprit {
namespace {

TEST(ScriptHead, HasCommPidTidCpuAndTime) {
  const auto head =
      find_script_head("     Web Content 12/345 [007]    12.000345:       1 cycles: ");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->comm, "Web Content");
  EXPECT_EQ(head->pid, 12u);
  EXPECT_EQ(head->tid, 345u);
  EXPECT_EQ(head->cpu, 7u);
  EXPECT_EQ(head->time_ns, 12'000'345'000u);
}

TEST(ScriptHead, TakesNanosecondsAndATidAlone) {
  const auto head = find_script_head("t  6245  8777.763435123: PERF_RECORD_COMM exec: t:1/1");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->pid, std::nullopt);
  EXPECT_EQ(head->tid, 6245u);
  EXPECT_EQ(head->time_ns, 8'777'763'435'123u);
}

TEST(ScriptHead, CommsMayLookLikeOtherFields) {
  const auto head = find_script_head("[0] 1.5: 7/8 9 [000]  1.000000: x: 0");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->comm, "[0] 1.5: 7/8");
  EXPECT_EQ(head->tid, 9u);
}

TEST(ScriptHead, NeedsTidAndTime) {
  EXPECT_FALSE(find_script_head("t 6245 cpu-clock: 1234"));
  EXPECT_FALSE(find_script_head("t 8777.763435: cpu-clock: 1234"));
  EXPECT_FALSE(find_script_head("t 99999999999 1.000000: cpu-clock: 1234"));
  EXPECT_FALSE(find_script_head("t 1 99999999999999999999.000000: cpu-clock: 1234"));
  EXPECT_FALSE(find_script_head(""));
}

TEST(ScriptFrame, HasSymbolOffsetAndDso) {
  const auto frame = parse_script_frame("  ffffffff816f857c mangle_path+0x9c ([kernel.kallsyms])");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->address, 0xffffffff816f857cu);
  EXPECT_EQ(frame->symbol, "mangle_path");
  EXPECT_EQ(frame->symbol_offset, 0x9cu);
  EXPECT_EQ(frame->dso, "[kernel.kallsyms]");
}

TEST(ScriptFrame, NamesOfFunctionsMayHoldSpacesAndBrackets) {
  const auto frame = parse_script_frame(
      "11be (anonymous namespace)::f<A (*)(B)>(int) const+0x25 (/tmp/a b (c)/x.so (deleted))");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "(anonymous namespace)::f<A (*)(B)>(int) const");
  EXPECT_EQ(frame->symbol_offset, 0x25u);
  EXPECT_EQ(frame->dso, "/tmp/a b (c)/x.so (deleted)");
  EXPECT_EQ(parse_script_frame("11be [unknown] (/tmp/a (b)/x)")->dso, "/tmp/a (b)/x");
  const auto deleted = parse_script_frame("11be f+0x0 (/tmp/x.so (deleted))");
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->dso, "/tmp/x.so (deleted)");
}

TEST(ScriptFrame, WhatIsUnknownIsEmpty) {
  const auto frame = parse_script_frame("7fc8 [unknown] ([unknown])");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->symbol, "");
  EXPECT_EQ(frame->dso, "");
  EXPECT_EQ(frame->symbol_offset, std::nullopt);
  EXPECT_EQ(parse_script_frame("7fc8")->address, 0x7fc8u);
  EXPECT_FALSE(parse_script_frame("main+0x4 (/bin/x)"));
  EXPECT_FALSE(parse_script_frame("11112222333344445 f (x)"));  // 17 digits
}

TEST(ScriptFrame, InlinedFramesAndOffsetsInFilesAreTold) {
  EXPECT_TRUE(parse_script_frame("11be add+0x3 (inlined)")->is_inlined);
  const auto frame = parse_script_frame("7f01 f+0x1 (/lib/libc.so.6+0x26123)");
  EXPECT_EQ(frame->dso, "/lib/libc.so.6");
  EXPECT_EQ(frame->dso_offset, 0x26123u);
}

TEST(ScriptSample, HasPeriodEventAndPlace) {
  const auto sample = parse_script_sample(
      "    2000000 cpu_core/cycles:ppp/:  ffffffff816f857c add ([kernel.kallsyms])");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->period, 2'000'000u);
  EXPECT_EQ(sample->event, "cpu_core/cycles:ppp/");
  ASSERT_TRUE(sample->frame);
  EXPECT_EQ(sample->frame->symbol, "add");
}

TEST(ScriptSample, DataAddressSourceAndWeightComeBeforeThePlace) {
  // A line that perf 6.1 printed.
  const auto sample = parse_script_sample(
      "      10009 MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned:     "
      "55ffba5cda08 "
      "    11868100242 |OP LOAD|LVL LFB/MAB or LFB/MAB hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  "
      "N/A             225               0 ffffffffa4470d46 [unknown] ([kernel.kallsyms])");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->event, "MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64:precise=2:mh:mg:pinned");
  EXPECT_EQ(sample->data_address, 0x55ffba5cda08u);
  EXPECT_EQ(sample->data_source, 0x11868100242u);
  EXPECT_EQ(sample->weight, 225u);
  ASSERT_TRUE(sample->frame);
  EXPECT_EQ(sample->frame->address, 0xffffffffa4470d46u);
  EXPECT_EQ(sample->frame->dso, "[kernel.kallsyms]");
}

TEST(ScriptSample, BranchesHaveATarget) {
  const auto sample = parse_script_sample(
      "          1 branches:uH:   tr strt jmp                    401136 main+0x6 (/bin/x) => "
      "          401020 puts@plt+0x0 (/bin/x)");
  ASSERT_TRUE(sample);
  ASSERT_TRUE(sample->frame);
  ASSERT_TRUE(sample->target);
  EXPECT_EQ(sample->frame->address, 0x401136u);
  EXPECT_EQ(sample->target->address, 0x401020u);
  EXPECT_EQ(sample->target->symbol, "puts@plt");
}

TEST(ScriptSample, TracepointsTextIsNoPlace) {
  const auto sample = parse_script_sample(
      " sched:sched_switch: prev_comm=perf prev_pid=2384 ==> next_comm=add next_pid=17");
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->event, "sched:sched_switch");
  EXPECT_FALSE(sample->frame);
  EXPECT_TRUE(sample->has_trace_text);
}

TEST(ScriptBranches, AreReadWithAndWithoutDsos) {
  for (const char* text : {"0x401481/0x401470/P/-/-/0  0x401c4c/0x401c77/M/-/-/12",
                           "0x401481(/bin/x)/0x401470(/bin/x)/P/-/-/0/  "
                           "0x401c4c([a b])/0x401c77(/bin/x)/M/-/-/12/",
                           "0x401481 ([unknown])/0x401470 (/bin/x)/P/-/-/0//-  "
                           "0x401c4c ([unknown])/0x401c77 ([unknown])/M/-/-/12/COND/-"}) {
    SCOPED_TRACE(text);
    const auto branches = parse_script_branches(text);
    ASSERT_TRUE(branches);
    ASSERT_EQ(branches->size(), 2u);
    EXPECT_EQ((*branches)[0].from, RunAddress(0x401481));
    EXPECT_EQ((*branches)[0].to, RunAddress(0x401470));
    EXPECT_TRUE((*branches)[0].predicted);
    EXPECT_EQ((*branches)[1].to, RunAddress(0x401c77));
    EXPECT_TRUE((*branches)[1].mispredicted);
    EXPECT_EQ((*branches)[1].cycles, 12u);
  }
  EXPECT_FALSE(parse_script_branches("main+0x4/puts+0x0/P/-/-/0"));
  EXPECT_FALSE(parse_script_branches("0x401481"));
  EXPECT_FALSE(parse_script_branches("0x401481/"));
}

TEST(ScriptRecords, MappingsAreRead) {
  const auto body = parse_script_record(
      "PERF_RECORD_MMAP2 6245/6246: [0x559d58d97000(0x1000) @ 0x2000 fe:01 10977867 42]: r-xp "
      "/tmp/a b");
  ASSERT_TRUE(body);
  const auto& map = std::get<MmapRecord>(*body);
  EXPECT_EQ(map.pid, 6245u);
  EXPECT_EQ(map.tid, 6246u);
  EXPECT_EQ(map.start, RunAddress(0x559d58d97000));
  EXPECT_EQ(map.length, 0x1000u);
  EXPECT_EQ(map.file_offset, 0x2000u);
  EXPECT_EQ(map.device_major, 0xfeu);
  EXPECT_EQ(map.device_minor, 1u);
  EXPECT_EQ(map.inode, 10977867u);
  EXPECT_TRUE(map.executable);
  EXPECT_EQ(map.path, "/tmp/a b");
  EXPECT_EQ(map.mode, Mode::user);

  const auto kernel = parse_script_record(
      "PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) @ 0xffffffff81000000]: x "
      "[kernel.kallsyms]_text");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(std::get<MmapRecord>(*kernel).mode, Mode::kernel);

  const auto with_build_id = parse_script_record(
      "PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 <d2ab0000c4ee8efc>]: r--p /tmp/a");
  ASSERT_TRUE(with_build_id);
  EXPECT_EQ(std::get<MmapRecord>(*with_build_id).build_id, "d2ab0000c4ee8efc");
  EXPECT_FALSE(std::get<MmapRecord>(*with_build_id).executable);
}

TEST(ScriptRecords, TasksAndLossesAreRead) {
  const auto comm = parse_script_record("PERF_RECORD_COMM exec: a:b:12/13");
  EXPECT_EQ(std::get<CommRecord>(*comm).name, "a:b");
  EXPECT_TRUE(std::get<CommRecord>(*comm).exec);
  EXPECT_EQ(std::get<CommRecord>(*comm).tid, 13u);
  const auto fork = parse_script_record("PERF_RECORD_FORK(6247:6248):(6245:6246)");
  EXPECT_EQ(std::get<ForkRecord>(*fork).pid, 6247u);
  EXPECT_EQ(std::get<ForkRecord>(*fork).tid, 6248u);
  EXPECT_EQ(std::get<ForkRecord>(*fork).parent_pid, 6245u);
  EXPECT_EQ(std::get<ForkRecord>(*fork).parent_tid, 6246u);
  EXPECT_EQ(std::get<LostRecord>(*parse_script_record("PERF_RECORD_LOST lost 7")).lost, 7u);
}

TEST(ScriptRecords, DamagedOnesAreNoRecords) {
  for (const char* text :
       {"PERF_RECORD_MMAP2", "PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 fe:00 1 2",
        "PERF_RECORD_MMAP2 1/1: [0x11112222333344445(0x1) @ 0 fe:00 1 2]: r-xp /x",
        "PERF_RECORD_MMAP2 1/1: [0x1000(0x1000) @ 0 <zz>]: r-xp /x", "PERF_RECORD_COMM: x",
        "PERF_RECORD_FORK(1:2)", "PERF_RECORD_LOST lost x"}) {
    EXPECT_FALSE(parse_script_record(text)) << text;
  }
}

TEST(ScriptHeader, TellsMachineRunAndEvents) {
  RecordedFacts facts;
  DescribedEvents events;
  for (const char* line :
       {"# hostname : vm", "# os release : 6.18.44", "# arch : x86_64", "# nrcpus online : 2",
        "# cpudesc : Intel(R) Xeon(R) Processor", "# cmdline : /usr/bin/perf record ./t ",
        "# event : name = cpu/event=0x3c,umask=1/u, , id = { 5, 6 }, type = 4, size = 128, config "
        "= 0x13c, { sample_period, sample_freq } = 4000, sample_type = IP|TID, freq = 1, "
        "exclude_kernel = 1, branch_sample_type = USER|ANY"}) {
    parse_script_header(line, facts, events);
  }
  EXPECT_EQ(facts.host, "vm");
  EXPECT_EQ(facts.kernel_release, "6.18.44");
  EXPECT_EQ(facts.architecture, "x86_64");
  EXPECT_EQ(facts.cpu_model, "Intel(R) Xeon(R) Processor");
  EXPECT_EQ(facts.command, "/usr/bin/perf record ./t");
  EXPECT_EQ(facts.cpus_online, 2u);
  ASSERT_TRUE(events.contains("cpu/event=0x3c,umask=1/u"));
  const EventAttr& attr = events.find("cpu/event=0x3c,umask=1/u")->second.attr;
  EXPECT_EQ(attr.type, 4u);
  EXPECT_EQ(attr.config, 0x13cu);
  EXPECT_TRUE(attr.is_frequency);
  EXPECT_TRUE(attr.exclude_kernel);
  EXPECT_FALSE(attr.exclude_user);
}

}  // namespace
}  // namespace culprit
