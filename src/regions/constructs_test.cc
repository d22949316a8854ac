// Which lines a construct has: those of its pragma, wherever compilers call the runtime.

#include "regions/constructs.h"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "regions/test_regions.h"

namespace culprit {
namespace {

TEST(RegionsReport, FindsThePragmaThatGccTookAnotherOnesLineFor) {
  // 10 #pragma omp parallel   11 {   12 #pragma omp single; the call has line 10.
  ImageFacts facts;
  const StringId file = facts.strings.intern("/src/main.c");
  facts.has_lines = true;
  facts.functions = {
      {FileOffset(0x100), FileOffset(0x200), facts.strings.intern("main._omp_fn.0"), {}, file, 10}};
  facts.lines = {{FileOffset(0x100), file, 10, 0},
                 {FileOffset(0x110), file, 13, 0},
                 {FileOffset(0x200), StringId(), 0, 0}};
  facts.sources = {{file, 10, {"#pragma omp parallel", "{", "#pragma omp single", "work();"}}};
  RegionsOf of;
  of.profile().images.emplace_back();
  const RegionId parallel = of.region("parallel", RegionId(), 0);
  const RegionId single = of.region("single", parallel, 0);
  of.profile().regions[0].site = {ImageId(0u), FileOffset(0x100)};
  of.profile().regions[1].site = {ImageId(0u), FileOffset(0x108)};
  const ContextId thread = of.thread(0);
  of.add(thread, parallel, region::kBody, 10);
  of.add(thread, single, region::kBody, 10);
  const FactsLookup lookup = [&](ImageId) { return &facts; };
  CodeIndex code(of.profile(), lookup);
  const Result<RegionsReport> report = make_regions_report(of.profile(), code);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->constructs[0].place.first_line, 10u);
  EXPECT_EQ(report->constructs[1].place.first_line, 12u);
}

/// A source whose functions have code at each of their lines, 16 bytes a line.
class LinesOf {
 public:
  explicit LinesOf(std::vector<std::string> source) {
    file_ = facts_.strings.intern("/src/main.c");
    facts_.has_lines = true;
    facts_.sources = {{file_, 1, std::move(source)}};
  }
  /// Functions follow one another.
  void add(std::string_view function, uint32_t first, uint32_t last) {
    const uint64_t begin = end_;
    for (uint32_t line = first; line <= last; ++line, end_ += 16)
      facts_.lines.push_back({FileOffset(end_), file_, line, 0});
    facts_.functions.push_back(
        {FileOffset(begin), FileOffset(end_), facts_.strings.intern(function), {}, file_, first});
  }
  [[nodiscard]] Location at(std::string_view function, uint32_t line) const {
    for (const FunctionFact& one : facts_.functions) {
      if (facts_.strings.text(one.name) != function) continue;
      return {ImageId(0u), FileOffset(one.begin.value + (line - one.line) * 16 + 4)};
    }
    return {};
  }
  RegionsReport report(RegionsOf& of) {
    of.profile().images.emplace_back();
    const FactsLookup lookup = [&](ImageId) { return &facts_; };
    CodeIndex code(of.profile(), lookup);
    Result<RegionsReport> made = make_regions_report(of.profile(), code);
    EXPECT_TRUE(made);
    return *std::move(made);
  }

 private:
  ImageFacts facts_;
  StringId file_;
  uint64_t end_ = 0x100;
};

TEST(RegionsReport, ACallThatIsAJumpIsNotWhereItsFunctionWasCalled) {
  LinesOf lines({"void sort(int n) {", "#pragma omp task", "  sort(n / 2);", "#pragma omp taskwait",
                 "}", "int main(void) {", "#pragma omp parallel", "  sort(8);", "}"});
  lines.add("sort", 1, 5);
  lines.add("main._omp_fn.0", 7, 8);
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 0);
  const RegionId jumped = of.region("taskwait", parallel, 0);
  const RegionId called = of.region("taskwait", parallel, 0);
  of.profile().regions[0].site = lines.at("main._omp_fn.0", 7);
  of.profile().regions[jumped.value].site = lines.at("main._omp_fn.0", 8);
  of.profile().regions[called.value].site = lines.at("sort", 3);
  const ContextId thread = of.thread(0);
  for (const RegionId region : {parallel, jumped, called}) of.add(thread, region, region::kBody, 1);
  const RegionsReport report = lines.report(of);
  ASSERT_EQ(report.constructs.size(), 3u);
  EXPECT_EQ(report.constructs[1].place.first_line, 4u);
  EXPECT_EQ(report.constructs[1].place.lines, LinesAre::construct);
  EXPECT_EQ(report.constructs[2].place.lines, LinesAre::function);
}

// LLVM's runtime gave one call of two the place of its region, and another one the loop's.
TEST(RegionsReport, AConstructWhosePlaceWasForgottenIsTheOneBesideIt) {
  LinesOf lines({"int main(void) {", "#pragma omp parallel for schedule(dynamic)",
                 "  for (int i = 0; i < n; ++i) {", "#pragma omp critical", "    sum += i;", "  }",
                 "}"});
  lines.add("main", 1, 2);
  lines.add("main.omp_outlined", 3, 6);
  RegionsOf of;
  const RegionId parallel = of.region("parallel", RegionId(), 0);
  const RegionId forgotten = of.region("loop", parallel, 0, 0, "dynamic");
  const RegionId loop = of.region("loop", parallel, 0, 0, "dynamic");
  const RegionId right = of.region("critical", loop, 0);
  const RegionId wrong = of.region("critical", forgotten, 0);
  std::vector<Region>& regions = of.profile().regions;
  regions[parallel.value].site = regions[forgotten.value].site = lines.at("main", 2);
  regions[loop.value].site = lines.at("main.omp_outlined", 3);
  regions[right.value].site = lines.at("main.omp_outlined", 4);
  regions[wrong.value].site = lines.at("main.omp_outlined", 3);
  const ContextId thread = of.thread(0);
  for (size_t i = 0; i < regions.size(); ++i) of.add(thread, RegionId(i), region::kBody, 10);
  const RegionsReport report = lines.report(of);
  ASSERT_EQ(report.constructs.size(), 3u);
  EXPECT_EQ(report.constructs[1].sum.executions, 2u);
  EXPECT_EQ(report.constructs[1].place.first_line, 3u);
  EXPECT_EQ(report.constructs[2].sum.executions, 2u);
  EXPECT_EQ(report.constructs[2].place.first_line, 4u);
  EXPECT_EQ(report.call_paths.size(), 3u);
}

// flang gives both calls the line of a declaration; of the second region nothing inside is known.
TEST(RegionsReport, RegionsOfFlangAreWhereTheirBodiesAre) {
  LinesOf lines({"subroutine solve(n)", "  real :: x", "  !$omp parallel", "  !$omp single",
                 "  x = 1", "  !$omp end single", "  !$omp end parallel", "  !$omp parallel",
                 "  call work()", "  !$omp end parallel", "end subroutine"});
  lines.add("_QPsolve", 1, 2);
  lines.add("_QPsolve..omp_par", 3, 6);
  RegionsOf of;
  const RegionId first = of.region("parallel", RegionId(), 0);
  const RegionId single = of.region("single", first, 0);
  const RegionId second = of.region("parallel", RegionId(), 0);
  std::vector<Region>& regions = of.profile().regions;
  regions[first.value].site = lines.at("_QPsolve", 2);
  regions[single.value].site = lines.at("_QPsolve..omp_par", 5);
  regions[second.value].site = lines.at("_QPsolve", 2);
  regions[second.value].site.offset = FileOffset(regions[second.value].site.offset.value + 4);
  const ContextId thread = of.thread(0);
  for (size_t i = 0; i < regions.size(); ++i) of.add(thread, RegionId(i), region::kBody, 10);
  const RegionsReport report = lines.report(of);
  ASSERT_EQ(report.constructs.size(), 3u);
  std::map<std::string, std::vector<RegionPlace>> places;
  for (const Construct& one : report.constructs) places[one.type].push_back(one.place);
  ASSERT_EQ(places["PARALLEL"].size(), 2u);
  EXPECT_EQ(places["PARALLEL"][0].lines, LinesAre::function);
  EXPECT_EQ(places["PARALLEL"][1].first_line, 3u);
  EXPECT_EQ(places["PARALLEL"][1].lines, LinesAre::construct);
  EXPECT_EQ(places["SINGLE"][0].first_line, 4u);
}

}  // namespace
}  // namespace culprit
