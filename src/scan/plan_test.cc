#include "scan/plan.h"

#include <gtest/gtest.h>
#include <random>

#include "scan/command_words.h"

namespace culprit::scan {
namespace {

constexpr const char* kPlan = R"([scan]
program = ["kernels/*.cc"]
build = "{cc} {flags} -DDIM={DIM} {program} -o {out}"
run = "{out} {runs} {MODE}"
runs = [1, 300, 1000]
DIM = "1..3"
MODE = ["a", "b"]
[setup]
plain = { cc = "cc", flags = "-O2" }
"clang{V}_{O}" = { V = [14, 19], O = ["O2", "O3"], cc = "clang++-{V}", flags = "-{O}" }
[expect]
L1-dcache-loads = ">= DIM"
)";

Plan parse(std::string_view text) {
  Result<Plan> plan = parse_plan(text, "plan.toml");
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : Plan();
}

std::string plan_mistake(std::string_view text) {
  const Result<Plan> plan = parse_plan(text, "plan.toml");
  return plan ? "" : plan.error().message;
}

TEST(Plan, HasASetupForEachCombinationOfLists) {
  const Plan plan = parse(kPlan);
  std::vector<std::string> names;
  for (const scan::Setup& setup : plan.setups) names.push_back(setup.name);
  EXPECT_EQ(names, (std::vector<std::string>{"clang14_O2", "clang19_O2", "clang14_O3", "clang19_O3",
                                             "plain"}));
  EXPECT_EQ(*find_variable(plan.setups[1].variables, "cc"), "clang++-19");
  EXPECT_EQ(*find_variable(plan.setups[2].variables, "flags"), "-O3");
}

TEST(Plan, HasACellForEachProgramSetupAndValue) {
  const auto cells = make_cells(parse(kPlan), {"kernels/a.cc", "kernels/b.cc"});
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->size(), 2u * 5 * 3 * 2);
  EXPECT_EQ(cells->front().name.text(), "a clang14_O2 1 a");
  EXPECT_EQ(*find_variable(cells->back().variables, "MODE"), "b");
}

TEST(Plan, ProgramsOfOneNameAreTheirPaths) {
  const auto cells = make_cells(parse(kPlan), {"x/a.cc", "y/a.cc", "y/b.cc"});
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->front().name.program, "x/a.cc");
  EXPECT_EQ(cells->back().name.program, "b");
}

TEST(Plan, RangesStepAndMultiply) {
  const auto values = [](std::string_view text) {
    std::string all;
    const auto range = expand_range(text);
    if (!range) return std::string("none");
    for (const std::string& one : *range) all += one + " ";
    return all;
  };
  EXPECT_EQ(values("1..4"), "1 2 3 4 ");
  EXPECT_EQ(values("0..20+5"), "0 5 10 15 20 ");
  EXPECT_EQ(values("16..128*2"), "16 32 64 128 ");
  EXPECT_EQ(values("5..5"), "5 ");
  for (const char* bad : {"", "..", "3..1", "1..2..3", "1..x", "1..9*1", "0..9*2", "1..9+0", "a",
                          "1..99999999999999999999", "1..999999999999"}) {
    EXPECT_EQ(values(bad), "none") << bad;
  }
}

TEST(Plan, MistakesSayTheirLine) {
  EXPECT_EQ(plan_mistake("[scan]\nprogram = 'a'\nrun = '{out}'\n[setup]\nx = {}\n"),
            "plan.toml, line 3: scan.run needs {runs}: without loop counts there is no difference");
  EXPECT_EQ(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\nruns=[300,100]\n[setup]\nx={}\n"),
            "plan.toml, line 4: loop counts ascend, and are at most 10^12");
  EXPECT_NE(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\n[setup]\n\"x{V}\" = {}\n")
                .find("line 5: the setup's name: nothing is called {V}"),
            std::string::npos);
  EXPECT_NE(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\n[setup]\nx={V=[1,1],cc='a'}\n")
                .find("line 5: there are two setups 'x'"),
            std::string::npos);
  EXPECT_NE(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\n").find("there is no setup"),
            std::string::npos);
  EXPECT_NE(
      plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\n[setup]\nx={}\n[expect]\nloads='DIM'\n")
          .find("line 7"),
      std::string::npos);
  EXPECT_NE(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\n[setup]\nx={}\n[other]\n")
                .find("line 6: there is no section 'other'"),
            std::string::npos);
}

TEST(Plan, AParameterThatNothingUsesIsAMistake) {
  EXPECT_EQ(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\ntimeout=5\n[setup]\nx={}\n"),
            "plan.toml, line 4: nothing uses the parameter timeout: {timeout} stands in neither "
            "build nor run (did you mean timeout_s?)");
  EXPECT_EQ(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\nDIM='1..9'\n[setup]\nx={}\n"),
            "plan.toml, line 4: nothing uses the parameter DIM: {DIM} stands in neither build nor "
            "run");
  // One value is a label: it says of what size the program is.
  EXPECT_EQ(plan_mistake("[scan]\nprogram='a'\nrun='{runs}'\nDIM=1\n[setup]\nx={}\n"), "");
}

TEST(Plan, AListIsNoText) {
  const auto mistake = [](const std::string& values) {
    return plan_mistake("[scan]\nprogram='a'\nrun='{runs} {N}'\nN=" + values + "\n[setup]\nx={}\n");
  };
  EXPECT_EQ(mistake("'1,2,3'"),
            "plan.toml, line 4: N is one value, '1,2,3': a list is N = [1, 2, 3]; a list of one is "
            "[\"1,2,3\"]");
  for (const char* wrong : {"'1 2'", "'[1, 2]'", "'4;5'"}) {
    EXPECT_NE(mistake(wrong).find("N is one value"), std::string::npos) << wrong;
  }
  EXPECT_EQ(mistake("['1..3', 5]"),
            "plan.toml, line 4: '1..3' in a list is a text: a range stands alone, N = \"1..3\"");
  EXPECT_EQ(mistake("[1, 2, 1]"), "plan.toml, line 4: N has the value '1' twice");
  for (const char* right : {"['1,2,3']", "'1..3'", "'-O2,-g'", "'8x8'", "' 7 '", "['../a', 'b']"}) {
    EXPECT_EQ(mistake(right), "") << right;
  }
}

TEST(Plan, AVariableOfASetupThatNothingUsesIsAMistake) {
  const auto mistake = [](const std::string& setup) {
    return plan_mistake(
        "[scan]\nprogram='a'\nbuild='{cc} {flags} -o {out}'\nrun='{out} {runs} {N}'\nN=1\n"
        "[setup]\n" +
        setup + "\n");
  };
  EXPECT_EQ(mistake("x = { cc = 'a', flag = '-O2' }"),
            "plan.toml, line 7: nothing uses flag: {flag} stands in neither build nor run (did you "
            "mean flags?)");
  // The name says O3, the code is the same.
  EXPECT_EQ(mistake("'x{O}' = { O = ['O2', 'O3'], cc = 'a', flags = '-O2' }"),
            "plan.toml, line 7: nothing uses O: {O} stands in neither build nor run");
  EXPECT_EQ(mistake("x = { cc = 'a', flags = '', N = 2 }"),
            "plan.toml, line 7: N is a parameter of [scan] already");
  EXPECT_EQ(mistake("x = { cc = 'a', flags = '', out = 'b' }"),
            "plan.toml, line 7: {out} is a word of scan's own, and no setup's");
  EXPECT_EQ(mistake("'x{O}' = { O = ['O2', 'O3'], cc = 'a', flags = '-{O}', fc = 'f' }"), "");
}

TEST(Plan, WhatIsRunMustBeBuilt) {
  EXPECT_EQ(plan_mistake("[scan]\nprogram='a'\nbuild='cc {program}'\nrun='{out} {runs}'\n"
                         "[setup]\nx={}\n"),
            "plan.toml, line 3: scan.run starts {out}, which scan.build does not make: {out} does "
            "not stand in it");
  EXPECT_EQ(plan_mistake("[scan]\nprogram='a'\nbuild='make'\nrun='./made {runs}'\n"
                         "[setup]\nx={}\n"),
            "");
}

TEST(Plan, SurvivesDamagedText) {
  const std::string whole = kPlan;
  std::mt19937 random(7);
  for (size_t length = 0; length < whole.size(); ++length) {
    static_cast<void>(parse_plan(whole.substr(0, length), "plan.toml"));
  }
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 4; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    const Result<Plan> plan = parse_plan(damaged, "plan.toml");
    if (plan) static_cast<void>(make_cells(*plan, {"a.cc"}));
  }
}

TEST(FillIn, ReplacesNamesInBraces) {
  const Variables variables = {{"cc", "g++"}, {"flags", "-O2 {x}"}};
  const auto fill = [&](std::string_view text) {
    const Result<std::string> filled = fill_in(text, variables, "build");
    return filled ? *filled : filled.error().message;
  };
  EXPECT_EQ(fill("{cc} {flags}"), "g++ -O2 {x}");  // what is put in is not read again
  EXPECT_EQ(fill("a{{b}}"), "a{b}");
  EXPECT_EQ(fill("{flag}"), "build: nothing is called {flag} (did you mean {flags}?)");
  EXPECT_EQ(fill("{cc"), "build: a brace is not closed: '{cc'");
}

TEST(SplitWords, KnowsQuotesAndBackslashes) {
  const auto words = split_words(R"(a 'b c' "d e"f \ g)");
  ASSERT_TRUE(words);
  EXPECT_EQ(*words, (std::vector<std::string>{"a", "b c", "d ef", " g"}));
  EXPECT_FALSE(split_words("a 'b"));
}

TEST(WriteRuns, HaveEqualWidth) {
  EXPECT_EQ(write_runs(1, 300), "001");
  EXPECT_EQ(write_runs(300, 300), "300");
}

}  // namespace
}  // namespace culprit::scan
