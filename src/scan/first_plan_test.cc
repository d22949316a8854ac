#include "scan/first_plan.h"

#include <gtest/gtest.h>

#include "scan/plan.h"

namespace culprit::scan {
namespace {

std::string build_of(const std::string& source) {
  const Result<std::string> text = make_first_plan(source, "float x[DIM];", "");
  EXPECT_TRUE(text) << source;
  const Result<Plan> plan = parse_plan(text ? *text : "", "scan.toml");
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  if (!plan) return "";
  EXPECT_EQ(plan->programs, std::vector<std::string>{source});
  return *find_variable(plan->setups.front().variables, "cc") + ": " + plan->build;
}

TEST(FirstPlan, BuildsASourceByItsLanguage) {
  const std::string defines = " {flags} {remarks} -g -DDIM={DIM} {program} -o {out}";
  EXPECT_EQ(build_of("kernel.c"), "gcc: {cc}" + defines);
  EXPECT_EQ(build_of("a kernel.cpp"), "g++: {cc}" + defines);
  // gfortran takes -DDIM in every form of source only where it is told to preprocess.
  for (const char* source : {"kernel.f90", "kernel.F90", "kernel.f", "kernel.f95"}) {
    EXPECT_EQ(build_of(source),
              "gfortran: {cc} {flags} {remarks} -g -cpp -J$(dirname {out}) -DDIM={DIM} {program} "
              "-o {out}");
  }
  EXPECT_EQ(build_of("kernel.rs"), "rustc: {cc} {flags} -g {program} -o {out}");
}

TEST(FirstPlan, NamesTheClangThatIsThere) {
  EXPECT_EQ(find_clang_of("kernel.c"), "clang");
  EXPECT_EQ(find_clang_of("kernel.cc"), "clang++");
  EXPECT_EQ(find_clang_of("kernel.f90"), "");
  const Result<std::string> text = make_first_plan("kernel.cc", "DIM", "clang++-14");
  ASSERT_TRUE(text);
  const Result<Plan> plan = parse_plan(*text, "scan.toml");
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->setups.size(), 4u);
  for (const scan::Setup& setup : plan->setups) {
    if (!setup.name.starts_with("clang")) continue;
    EXPECT_EQ(*find_variable(setup.variables, "cc"), "clang++-14");
  }
}

TEST(FirstPlan, HasSizesOnlyWhereTheSourceHas) {
  const Result<std::string> text = make_first_plan("kernel.c", "float x[64];", "");
  ASSERT_TRUE(text);
  const Result<Plan> plan = parse_plan(*text, "scan.toml");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(plan->parameters.empty());
  EXPECT_EQ(plan->build, "{cc} {flags} {remarks} -g {program} -o {out}");
}

TEST(FirstPlan, RefusesWhatNobodyKnowsHowToBuild) {
  const Result<std::string> text = make_first_plan("kernel.zig", "", "");
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("kernel.zig"), std::string::npos);
}

}  // namespace
}  // namespace culprit::scan
