#include "perfdata/script_importer.h"

#include <cstdio>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "perfdata/import.h"

namespace culprit {
namespace {

/// What import_perf_data() makes of a file with this text.
Result<Imported> import_text(const std::string& text) {
  char path[] = "/tmp/culprit-script-XXXXXX";
  const Fd fd(::mkstemp(path));
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  Result<Imported> imported = import_perf_data({path}, nullptr, nullptr);
  ::unlink(path);
  return imported;
}

/// "image+0x12 name: samples value"; one line per place, in the profile's order.
std::string describe_places(const Imported& imported) {
  const Profile& profile = imported.profile;
  std::string text;
  for (const Histogram& histogram : profile.histograms) {
    for (size_t i = 0; i < histogram.offsets.size(); ++i) {
      std::string name = "?";
      for (const auto& [image, facts] : imported.facts) {
        if (image != histogram.image) continue;
        for (const FunctionFact& function : facts.functions) {
          const bool is_in =
              function.begin <= histogram.offsets[i] && histogram.offsets[i] < function.end;
          if (is_in) name = facts.strings.text(function.name);
        }
      }
      char line[512];
      std::snprintf(line, sizeof line, "%s+0x%llx %s: %llu %llu\n",
                    profile.strings.text(profile.images[histogram.image.value].path).c_str(),
                    static_cast<unsigned long long>(histogram.offsets[i].value), name.c_str(),
                    static_cast<unsigned long long>(histogram.columns[0].samples_at(i)),
                    static_cast<unsigned long long>(histogram.columns[0].value[i]));
      text += line;
    }
  }
  return text;
}

// 0x559d58d98011 lies 0x1011 into a mapping of the file's bytes from 0x1000 on: 0x2011.
constexpr const char* kMapped =
    "t 12 1.000000: PERF_RECORD_COMM exec: t:12/12\n"
    "t 12 1.000001: PERF_RECORD_MMAP2 12/12: [0x559d58d97000(0x4000) @ 0x1000 fe:00 9 1]: r-xp "
    "/bin/t\n";

TEST(ScriptImporter, MappingsMakePlacesExact) {
  const auto imported = import_text(std::string(kMapped) +
                                    "t 12 1.000002: 250 cycles: 559d58d98011 f+0x11 (/bin/t)\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(describe_places(*imported), "/bin/t+0x2011 f: 1 250\n");
  EXPECT_EQ(imported->profile.images[0].kind, ImageKind::program);
  // A binary is looked for, as it may say more.
  EXPECT_NE(imported->facts[0].second.missing, "");
}

TEST(ScriptImporter, FramesOfChainsAreOffsetsInFilesOrAddresses) {
  for (const char* address : {"2011", "559d58d98011"}) {
    const auto imported =
        import_text(std::string(kMapped) + "t 12 1.000002: 250 cycles: \n\t            " + address +
                    " f+0x11 (/bin/t)\n\t            2511 main+0x11 (/bin/t)\n\n");
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(describe_places(*imported), "/bin/t+0x2011 f: 1 250\n") << address;
    ASSERT_EQ(imported->profile.stack_counts.size(), 1u);
    const StackNode leaf = imported->profile.stacks[imported->profile.stack_counts[0].stack.value];
    const StackNode caller = imported->profile.stacks[leaf.parent.value];
    EXPECT_EQ(caller.location.offset, FileOffset(0x2510));  // the call's last byte
    EXPECT_TRUE(caller.parent.is_all());
  }
}

TEST(ScriptImporter, InlinedCallsAreNoFrames) {
  // perf 6.1 printed it so: before or after the function, or with the function among them.
  const auto imported = import_text(std::string(kMapped) +
                                    "t 12 1.000002: 10 cycles: \n"
                                    "\t            2011 g+0x11 (inlined)\n"
                                    "\t            2011 f+0x11 (/bin/t)\n"
                                    "\t            2511 main+0x11 (/bin/t)\n\n"
                                    "t 12 1.000003: 10 cycles: \n"
                                    "\t            2011 f+0x11 (/bin/t)\n"
                                    "\t            2011 g+0x11 (inlined)\n"
                                    "\t            2511 main+0x11 (/bin/t)\n\n"
                                    "t 12 1.000004: 10 cycles: \n"
                                    "\t            2015 g+0x15 (inlined)\n"
                                    "\t            2015 h+0x15 (inlined)\n"
                                    "\t            2511 main+0x11 (/bin/t)\n\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(describe_places(*imported), "/bin/t+0x2011 f: 2 20\n[unknown]+0x2015 h: 1 10\n");
  EXPECT_EQ(imported->profile.stack_counts.size(), 2u);
  ASSERT_FALSE(imported->remarks.empty());
  EXPECT_NE(imported->remarks[0].find("1 frames are inlined"), std::string::npos);
}

TEST(ScriptImporter, WithoutMappingsNamesAreThoseOfTheText) {
  const auto imported = import_text(
      "t 12/12 1.000000: 100 cycles: 7f0000001011 f+0x11 (/lib/x.so)\n"
      "t 12/12 1.000001: 100 cycles: 7f0000001015 f+0x15 (/lib/x.so)\n"
      "t 12/12 1.000002: 100 cycles: ffffffff81000010 read+0x10 ([kernel.kallsyms])\n"
      "t 12/12 1.000003: 100 cycles: 7f0000009999 [unknown] ([unknown])\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(describe_places(*imported),
            "[unknown]+0x7f0000009999 ?: 1 100\n"
            "/lib/x.so+0x7f0000001011 f: 1 100\n/lib/x.so+0x7f0000001015 f: 1 100\n"
            "[kernel.kallsyms]+0xffffffff81000010 read: 1 100\n");
  for (const auto& [image, facts] : imported->facts) EXPECT_EQ(facts.missing, "");
  EXPECT_EQ(imported->profile.ledger.amount(ledger::kUnknownAddress), 1u);
}

TEST(ScriptImporter, OneAddressOfTwoProgramsKeepsBothNames) {
  const auto imported = import_text(
      "a 1/1 1.000000: 100 cycles: 1000 f+0x0 (/lib/x.so)\n"
      "b 2/2 1.000000: 100 cycles: 1000 g+0x0 (/lib/x.so)\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(describe_places(*imported), "/lib/x.so+0x1000 f: 1 100\n/lib/x.so+0x1000 g: 1 100\n");
}

TEST(ScriptImporter, BranchListsAreCounted) {
  const auto imported = import_text(std::string(kMapped) +
                                    "t 12 1.000002: 250 cycles: 559d58d98011 f+0x11 (/bin/t) "
                                    "0x559d58d98011/0x559d58d98001/P/-/-/3 "
                                    "0x559d58d98005/0x559d58d98003/M/-/-/0\n");
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->profile.branch_counts.size(), 2u);
  uint64_t mispredicted = 0;
  uint64_t cycles = 0;
  for (const BranchCount& branch : imported->profile.branch_counts) {
    mispredicted += branch.mispredicted;
    cycles += branch.cycles;
  }
  EXPECT_EQ(mispredicted, 1u);
  EXPECT_EQ(cycles, 3u);
  // Nobody says that no branch was filtered out.
  EXPECT_TRUE(imported->profile.fall_throughs.empty());
}

TEST(ScriptImporter, WhatIsMissingIsSaid) {
  const auto imported = import_text(
      "t 12 1.000000: sched:sched_switch: prev_comm=a ==> next_comm=b\n"
      "t 12 1.000001: cycles: 7f0000001011 f+0x11 (/lib/x.so)\n"
      "t 12 1.000002: PERF_RECORD_FORK(1:\n"
      "\x01\x02\x03 rubbish\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->samples, 2u);
  EXPECT_EQ(imported->profile.ledger.amount(ledger::kDamagedRecords), 2u);
  EXPECT_EQ(imported->profile.ledger.amount(ledger::kRawFields), 1u);
  std::string remarks;
  for (const std::string& remark : imported->remarks) remarks += remark + "\n";
  EXPECT_NE(remarks.find("-F +period"), remarks.npos) << remarks;
  EXPECT_NE(remarks.find("-F +ip"), remarks.npos) << remarks;
  EXPECT_NE(remarks.find("-F +pid"), remarks.npos) << remarks;
}

TEST(ScriptImporter, OtherTextsAreRefusedWithAdvice) {
  for (const std::string& text : {std::string(), std::string("hello\nworld\n"),
                                  std::string("t 12 cycles: 401000 main\n"),  // no time
                                  std::string(100'000, '\x7f'), std::string(100'000, '\0')}) {
    const auto imported = import_text(text);
    ASSERT_FALSE(imported);
    EXPECT_NE(imported.error().message.find("perf script"), std::string::npos);
  }
}

TEST(ScriptImporter, LongLinesArePassedOver) {
  std::string text = "t 12/12 1.000000: 100 cycles: 1000 f+0x0 (/lib/x.so)\n";
  text += std::string(3 << 20, 'x') + "\n";
  text += "t 12/12 1.000001: 100 cycles: 1000 f+0x0 (/lib/x.so)\n";
  text += std::string(3 << 20, 'y');
  const auto imported = import_text(text);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->samples, 2u);
  EXPECT_EQ(imported->profile.ledger.amount(ledger::kDamagedRecords), 2u);
}

TEST(ScriptImporter, HugeNumbersDoNotWrap) {
  const auto imported = import_text(
      "t 12/12 1.000000: 18446744073709551615 cycles: ffffffffffffffff f+0xffffffffffffffff (/x)\n"
      "t 12/12 1.000000: PERF_RECORD_MMAP2 12/12: [0xfffffffffffff000(0xffffffff) @ 0 0:0 0 0]: "
      "r-xp /x\n"
      "t 12/12 9.000000: 1 cycles: \n\tffffffffffffff80 f+0x1 (/x)\n\tfffffffffffffffe g+0x1 "
      "(/x)\n\n");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->samples, 1u);
  // the first sample's period, the mapping
  EXPECT_EQ(imported->profile.ledger.amount(ledger::kDamagedRecords), 2u);
}

}  // namespace
}  // namespace culprit
