// The formats made of branch records: BOLT, AutoFDO, dot.

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "attribute/test_profile.h"
#include "base/file.h"
#include "exports/exports.h"
#include "exports/sample_profile.h"
#include "model/imported.h"
#include "model/random_profile.h"

namespace culprit {

namespace {

TestProfile with_branches() {
  TestProfile test = make_test_profile();
  add_test_branches(test);
  return test;
}

void expect_error(const Result<std::string>& got, const std::string& part) {
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find(part), std::string::npos) << got.error().message;
}

// ---- Which image. ----

TEST(BranchImage, NoBranchRecordsIsAnErrorThatSaysHowToGetThem) {
  TestProfile test = make_test_profile();
  expect_error(export_bolt(test.profile, test.lookup(), ""), "record -b");
  expect_error(export_autofdo(test.profile, test.lookup(), ""), "culprit record -b");
  test.profile.environment[std::string(kImportedFrom)] = "perf.data";
  expect_error(export_autofdo(test.profile, test.lookup(), ""), ": perf record -b");
}

TEST(BranchImage, AWrongPatternIsToldWhatThereIs) {
  const TestProfile test = with_branches();
  expect_error(export_bolt(test.profile, test.lookup(), "sort"), "mill, libc.so.6");
}

// ---- BOLT. ----

TEST(Bolt, WritesLinkAddressesOfTheImageWithMostBranches) {
  const TestProfile test = with_branches();
  const auto text = export_bolt(test.profile, test.lookup(), "");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "B 1214 1220 60 6\n"
            "B 1223 1210 99 0\n"
            "B 1308 1200 1 0\n"
            "B X:0 1300 1 0\n"
            "F 1200 1214 1\n"
            "F 1210 1214 59\n"
            "F 1210 1223 40\n"
            "F 1220 1223 60\n");
}

TEST(Bolt, AnImageCanBeChosen) {
  const TestProfile test = with_branches();
  const auto text = export_bolt(test.profile, test.lookup(), "libc*");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "B 5050 X:0 1 0\n");
}

// ---- AutoFDO. ----

// By hand: line 10 ran once (range 1200-1214), lines 11 and 12 1 + 59 + 40 times, weigh
// (called in line 13) and line 14 40 + 60 times. grind is declared in line 9, weigh in 4. Bytes: 16
// once, 6 to 1216 100 times, 10 to 1220 40 times, 3 of weigh and 2 behind it 100 times.
constexpr const char* kGrind =
    "grind:1516:1\n"
    " 1: 1\n"
    " 2: 100\n"
    " 3: 100\n"
    " 5: 100\n"
    " 4: weigh:300\n"
    "  1: 100\n";

TEST(AutoFdo, CountsLinesFromTheDeclaration) {
  const TestProfile test = with_branches();
  const auto text = export_autofdo(test.profile, test.lookup(), "mill");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, kGrind);
}

TEST(AutoFdo, NamesWhoIsCalled) {
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[1].line = 38;  // calls grind in line 40
  facts.functions[1].linkage_name = facts.strings.intern("push");
  const auto text = export_autofdo(test.profile, test.lookup(), "mill");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, std::string(kGrind) + "push:0:1\n 2: 1 grind:1\n");
}

TEST(AutoFdo, PartsOfASplitFunctionAreOne) {
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[1].line = 9;
  facts.functions[1].linkage_name = facts.strings.intern("grind.cold");
  const auto text = export_autofdo(test.profile, test.lookup(), "mill");
  ASSERT_TRUE(text);
  // Entered once from libc, through the cold part; from there no call.
  EXPECT_EQ(*text, kGrind);
}

TEST(AutoFdo, WithoutDeclarationsIsAnError) {
  TestProfile test = with_branches();
  for (FunctionFact& function : test.facts[ImageId(0u)].functions) function.line = 0;
  expect_error(export_autofdo(test.profile, test.lookup(), "mill"), "symbolize");
}

TEST(AutoFdo, HostileNamesAndRangesKeepTheFormat) {
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[0].linkage_name =
      facts.strings.intern(std::string("a b:7\n9: 1\0\"#", 13) + std::string(100'000, 'x'));
  test.profile.fall_throughs.push_back(
      {ContextId(0u), ImageId(0u), FileOffset(0), FileOffset(UINT64_MAX), 5});
  test.profile.fall_throughs.push_back(
      {ContextId(0u), ImageId(0u), FileOffset(9), FileOffset(8), 5});
  const auto text = export_autofdo(test.profile, test.lookup(), "mill");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("\na_b_7_9__1_\"_xxxx"), std::string::npos);
}

TEST(AutoFdo, UnpacksClangsDiscriminators) {
  // 0x02: 0 bit, base 1. 0x105 = 1, then 0 bit and factor 1 ... by hand:
  //   base 3:                 3 << 1                        = 6
  //   base 0, factor 4:       1 | (4 << 1) << 1             = 0x11
  //   base 3, factor 2:       3 << 1 | (2 << 1) << 7        = 0x206
  //   base 40 (two pieces):   low 5 bits 8, "more" 0x20, high bits 1 above: (8|0x20|1<<6) << 1
  EXPECT_EQ(line_place(12, 10, 6), (LinePlace{2, 3}));
  EXPECT_EQ(duplication_factor(6), 1u);
  EXPECT_EQ(line_place(12, 10, 0x11), (LinePlace{2, 0}));
  EXPECT_EQ(duplication_factor(0x11), 4u);
  EXPECT_EQ(line_place(12, 10, 0x206), (LinePlace{2, 3}));
  EXPECT_EQ(duplication_factor(0x206), 2u);
  EXPECT_EQ(line_place(12, 10, (8 | 0x20 | 1 << 6) << 1), (LinePlace{2, 40}));
  EXPECT_EQ(line_place(8, 10, 0), (LinePlace{0xfffe, 0}));  // above: modulo 65536
}

// ---- dot. ----

TEST(Dot, DrawsBlocksWithCountsAndWays) {
  const TestProfile test = with_branches();
  const auto text = export_dot(test.profile, test.lookup(), "grind", "mill");
  ASSERT_TRUE(text);
  for (const char* part :
       {"grind (/opt/bin/mill): 650 ms, 65.0 % of everything",
        "b1210 [label=\"1210-1216  3 instr.\\nmill.c:11-12\\n500 ms  76.9 %\\n500 samples\"",
        "b1220 [label=\"1220-1225  2 instr.\\nmill.c:13-14\\n150 ms  23.1 %\\n150 samples\"",
        "b1200 -> b1210 [label=\"1\"]", "b1210 -> b1216 [label=\"40\"]",
        "b1210 -> b1220 [label=\"taken 60\"]", "b1216 -> b1220 [label=\"40\"]",
        "b1220 -> b1210 [label=\"taken 99\"]"}) {
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
  }
}

TEST(Dot, WithoutBranchRecordsWaysHaveNoCounts) {
  const TestProfile test = make_test_profile();
  const auto text = export_dot(test.profile, test.lookup(), "grind", "mill");
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("b1210 -> b1220 [label=\"taken\"];"), std::string::npos) << *text;
}

TEST(Dot, SeveralFunctionsOfANameAreListed) {
  const TestProfile test = make_test_profile();
  const auto text = export_dot(test.profile, test.lookup(), "grind", "");
  expect_error(text, "/opt/bin/mill at 0x1200");
  expect_error(text, "/opt/bin/sort at 0x200");
}

TEST(Dot, ANameThatNothingHasGetsTheNearest) {
  const TestProfile test = make_test_profile();
  expect_error(export_dot(test.profile, test.lookup(), "grimd", ""), "did you mean grind?");
}

TEST(Dot, HostileNamesStayInTheirQuotes) {
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[0].name = facts.strings.intern("a\"] b [\n\\");
  const auto text = export_dot(test.profile, test.lookup(), "a*", "mill");
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->starts_with("// culprit export --to dot\ndigraph \"a\\\"] b [?\\\\\" {\n"))
      << *text;
}

TEST(DotCalls, DrawsWhoCallsWhom) {
  const TestProfile test = with_branches();
  const auto text = export_call_graph(test.profile, test.lookup(), {});
  ASSERT_TRUE(text);
  // Two calls: libc (no names) entered the long name, which called grind.
  for (const char* part : {"calls by branch records: 2; shares of executed instructions",
                           "[label=\"grind\\n100.0 %\\ncalled 1\"", "[label=\"libc.so.6\"",
                           "std::vector<..>::push_back\\ncalled 1\"", "f2 -> f1 [label=\"1\"",
                           "f1 -> f0 [label=\"1\""}) {
    EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
  }
}

TEST(DotCalls, SayWhatIsLeftOut) {
  const TestProfile test = with_branches();
  const auto text = export_call_graph(test.profile, test.lookup(), {"", 1, 0});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("2, 0 of them drawn; 1 of 3 functions"), std::string::npos) << *text;
  expect_error(export_call_graph(test.profile, test.lookup(), {"nothing*", 0, 0}), "nothing*");
  expect_error(export_call_graph(make_test_profile().profile, test.lookup(), {}), "record -b");
}

TEST(DotCalls, WithoutNamesNoCallsAreKnown) {
  const TestProfile test = with_branches();
  expect_error(export_call_graph(test.profile, [](ImageId) { return nullptr; }, {}), "symbolize");
}

TEST(DotCalls, HostileNamesStayInTheirQuotes) {
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[0].name = facts.strings.intern("a\"] b [\n\\");
  const auto text = export_call_graph(test.profile, test.lookup(), {});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("[label=\"a\\\"] b [?\\\\"), std::string::npos) << *text;
}

// ---- Profiles and facts that do not fit together, as a damaged file may have them. ----

TEST(Exports, SurviveWhatDoesNotFitTogether) {
  const ImageFacts mill = mill_facts();
  const FactsLookup everywhere = [&](ImageId) { return &mill; };
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomProfile random(seed);
    random.grow();
    const Profile& profile = random.profile();
    EXPECT_TRUE(export_collapsed(profile, everywhere)) << seed;
    EXPECT_TRUE(export_pprof(profile, everywhere)) << seed;
    EXPECT_TRUE(export_callgrind(profile, everywhere)) << seed;
    EXPECT_TRUE(export_bolt(profile, everywhere, "")) << seed;
    // These may have nothing to say; they must say so.
    for (const Result<std::string>& text :
         {export_autofdo(profile, everywhere, ""), export_dot(profile, everywhere, "grind", ""),
          export_call_graph(profile, everywhere, {})}) {
      EXPECT_FALSE(text ? text->empty() : text.error().message.empty()) << seed;
    }
  }
}

// ---- The tools that these formats are for. ----

bool have(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = ::pclose(pipe);
  EXPECT_EQ(status, 0) << command << "\n" << text;
  return text;
}

TEST(AutoFdo, IsReadByLlvmProfdata) {
  if (!have("llvm-profdata-19")) GTEST_SKIP() << "no llvm-profdata-19 on this machine";
  TestProfile test = with_branches();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[1].line = 38;
  facts.functions[1].linkage_name = facts.strings.intern("push");
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const auto text = export_autofdo(test.profile, test.lookup(), "mill");
  ASSERT_TRUE(text);
  const std::string path = folder->path() + "/mill.prof";
  std::ofstream(path) << *text;
  const std::string binary = folder->path() + "/mill.profdata";
  output_of("llvm-profdata-19 merge --sample -o " + binary + " " + path);
  const std::string shown = output_of("llvm-profdata-19 show --sample " + binary);
  for (const char* part : {"Function: grind: 1516, 1, 4 sampled lines",
                           "4: inlined callee: weigh: 300, 0, 1 sampled lines",
                           "Function: push: 0, 1, 1 sampled lines", "2: 1, calls: grind:1"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  }
}

TEST(Bolt, IsReadByPerf2bolt) {
  if (!have("perf2bolt-19") || !have("gcc") || !have("nm")) {
    GTEST_SKIP() << "no perf2bolt-19, gcc or nm on this machine";
  }
#ifndef __x86_64__
  GTEST_SKIP() << "the program is for x86_64";
#endif
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string program = folder->path() + "/loop";
  std::ofstream(program + ".s") << ".globl main\n.type main,@function\n"
                                   "main: xor %eax,%eax\n"  // +0
                                   "1: inc %eax\n"          // +2
                                   "cmp $100,%eax\n"        // +4
                                   "jne 1b\n"               // +7
                                   "xor %eax,%eax\nret\n"   // +9
                                   ".size main,.-main\n"
                                   ".section .note.GNU-stack,\"\",@progbits\n";
  output_of("gcc -Wl,-q -o " + program + " " + program + ".s");
  const uint64_t main = std::stoull(output_of("nm " + program + " | grep ' T main$'"), nullptr, 16);
  Profile profile;  // without facts, offsets are taken for link addresses
  profile.contexts.resize(1);
  profile.images.resize(1);
  profile.images[0].kind = ImageKind::program;
  profile.images[0].path = profile.strings.intern(program);
  const auto at = [&](uint64_t offset) { return Location{ImageId(0u), FileOffset(main + offset)}; };
  profile.branch_counts = {{ContextId(0u), at(7), at(2), 98, 3, 0, 98, 0}};
  profile.fall_throughs = {{ContextId(0u), ImageId(0u), at(2).offset, at(7).offset, 98}};
  const auto text = export_bolt(profile, {}, "");
  ASSERT_TRUE(text);
  std::ofstream(program + ".pa") << *text;
  // It goes by the name that it is called by.
  output_of("ln -s $(command -v perf2bolt-19) " + folder->path() + "/perf2bolt");
  output_of(folder->path() + "/perf2bolt " + program + " --pa -p " + program + ".pa -o " + program +
            ".fdata");
  EXPECT_EQ(output_of("cat " + program + ".fdata"), "1 main 7 1 main 2 3 98\n");
}

}  // namespace

}  // namespace culprit
