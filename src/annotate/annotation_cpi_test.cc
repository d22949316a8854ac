// An annotation of a profile of two runs: the samples of test_profile.h (of grind's block at 1210:
// 400 at addl, none at nop, 100 at je; 2,000,000 cycles each) beside 100 million runs of it.
// Upper ends of intervals by Poisson's distribution, with 2.5 % above: 121.627 of 100 samples,
// 150 of them: 176.017, 400: 441.187, 500: 545.809.

#include "annotate/annotation_cpi.h"

#include <cmath>
#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

constexpr uint64_t kRuns = 100'000'000;
constexpr double kSampleCycles = 2e6;

AnnotateOptions grind() {
  AnnotateOptions options;
  options.function = "grind";
  return options;
}

/// Each instruction at these offsets ran so often.
TestProfile two_runs(const std::vector<uint64_t>& offsets) {
  TestProfile test = make_test_profile();
  Profile& profile = test.profile;
  Event event;
  event.name = profile.strings.intern("instructions");
  event.engine = profile.strings.intern("simulate");
  event.provenance = Provenance::counted;
  profile.events.push_back(event);
  Histogram counts;
  counts.context = profile.histograms.front().context;
  counts.image = profile.histograms.front().image;
  EventColumn column{EventId(profile.events.size() - 1), {}, {}, {}};
  for (const uint64_t offset : offsets) {
    counts.offsets.emplace_back(offset);
    column.samples.push_back(0);
    column.value.push_back(kRuns);
  }
  counts.columns.push_back(std::move(column));
  profile.histograms.push_back(std::move(counts));
  return test;
}

TestProfile grind_twice() {
  return two_runs({0x210, 0x213, 0x214, 0x220, 0x223});
}

Annotation annotation_of(const TestProfile& test) {
  Result<Annotation> made = make_annotation(test.profile, test.lookup(), grind());
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? *std::move(made) : Annotation{};
}

TEST(AnnotationCpi, IsFirmPerBlockLineAndFunction) {
  const Annotation made = annotation_of(grind_twice());
  ASSERT_TRUE(made.executed);
  EXPECT_EQ(made.values[*made.executed].value, 5.0 * kRuns);
  ASSERT_TRUE(made.cpi);
  EXPECT_DOUBLE_EQ(made.cpi->value, 650 * kSampleCycles / (5.0 * kRuns));
  const AnnotatedBlock& block = made.places.at(0).blocks.at(1);
  ASSERT_TRUE(block.cpi);
  EXPECT_DOUBLE_EQ(block.cpi->value, 500 * kSampleCycles / (3.0 * kRuns));
  EXPECT_DOUBLE_EQ(block.cpi->standard_error, std::sqrt(500) * kSampleCycles / (3.0 * kRuns));
  EXPECT_FALSE(made.places[0].blocks[0].cpi);  // neither sampled nor executed
  for (const AnnotatedLine& line : made.lines) {
    if (line.line != 11) continue;
    ASSERT_TRUE(line.cpi);  // addl and nop
    EXPECT_DOUBLE_EQ(line.cpi->value, 400 * kSampleCycles / (2.0 * kRuns));
  }
}

TEST(AnnotationCpi, OfAnInstructionIsARangeThatSkidLeaves) {
  const Annotation made = annotation_of(grind_twice());
  const auto high = [&](size_t block, size_t instruction) {
    const auto& range = made.places.at(0).blocks.at(block).instructions.at(instruction).cpi;
    EXPECT_TRUE(range);
    EXPECT_EQ(range ? range->low : -1, 0);
    return (range ? range->high : -1) * kRuns / kSampleCycles;
  };
  EXPECT_NEAR(high(1, 0), 441.187, 0.1);  // its own; the nop has none
  EXPECT_NEAR(high(1, 1), 121.627, 0.1);  // none of its own, but the next one's
  EXPECT_NEAR(high(1, 2), 545.809, 0.1);  // its own and those of the loop's next round
  // jmp has no samples, but maybe the first one's: 150.
  EXPECT_NEAR(high(3, 0), 176.017, 0.1);
}

TEST(AnnotationCpi, IsUnknownWithoutExecutionsOrSamples) {
  const Annotation made = annotation_of(two_runs({0x213}));
  const std::vector<AnnotatedInstruction>& block = made.places.at(0).blocks.at(1).instructions;
  EXPECT_FALSE(block[0].cpi);  // sampled, not executed
  EXPECT_TRUE(block[1].cpi);
  EXPECT_FALSE(made.places[0].blocks[3].cpi);
  const TestProfile one_run = make_test_profile();
  const Annotation other = annotation_of(one_run);
  EXPECT_FALSE(other.executed);
  EXPECT_FALSE(other.cpi);
}

TEST(AnnotationCpi, StandsBesideTheCycles) {
  const TestProfile test = grind_twice();
  const auto print = [&](Format format, bool assembly = true) {
    AnnotateOptions options = grind();
    options.show_assembly = assembly;
    const Result<Annotation> annotation = make_annotation(test.profile, test.lookup(), options);
    EXPECT_TRUE(annotation);
    return annotation ? print_annotation(test.profile, *annotation, options, format, {}) : "";
  };
  const auto expect_in = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
  };
  const std::string text = print(Format::text);
  expect_in(text, "500 M instructions executed, CPI 2.60 +-0.20\n");
  expect_in(text, "  100 M runs   10.0 +-0.88 cycles each   CPI 3.33 +-0.29\n");
  expect_in(text, " ~cycles   ~share^ =executed         ~CPI^  addr  instruction\n");
  expect_in(text, "   800 M   61.5 %      100 M    0.00-8.82   1210  addl   $0x1,%eax\n");
  expect_in(text, "                       100 M    0.00-2.43   1213  nop\n");
  expect_in(print(Format::text, false), "   800 M   61.5 %      200 M  4.00 +-0.39      11  ");
  expect_in(print(Format::json), "\"cycles_per_instruction\": {");
  expect_in(print(Format::csv), ",cycles per instruction low,cycles per instruction high\n");
}

}  // namespace
}  // namespace culprit
