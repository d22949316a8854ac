#include <gtest/gtest.h>
#include <string>

#include "annotate/annotation.h"
#include "attribute/test_profile.h"
#include "base/names.h"
#include "print/golden.h"
#include "report/report.h"

namespace culprit {
namespace {

AnnotateOptions function(const char* name) {
  AnnotateOptions options;
  options.function = name;
  return options;
}

Annotation annotation_of(const TestProfile& test, const AnnotateOptions& options) {
  Result<Annotation> annotation = make_annotation(test.profile, test.lookup(), options);
  EXPECT_TRUE(annotation) << (annotation ? "" : annotation.error().message);
  return annotation ? *std::move(annotation) : Annotation{};
}

std::string text_of(const TestProfile& test, const AnnotateOptions& options,
                    Format format = Format::text) {
  return print_annotation(test.profile, annotation_of(test, options), options, format, {});
}

TEST(Annotate, GivesInstructionsAndBlocksTheirCounts) {
  const Annotation grind = annotation_of(make_test_profile(), function("grind"));
  EXPECT_EQ(grind.values[0].samples, 650u);  // with the inlined weigh
  ASSERT_EQ(grind.places.size(), 1u);
  const AnnotatedPlace& place = grind.places[0];
  ASSERT_EQ(place.blocks.size(), 5u);
  EXPECT_EQ(place.blocks[1].begin, 0x1210u);
  EXPECT_EQ(place.blocks[1].values[0].samples, 500u);
  EXPECT_EQ(place.blocks[1].instructions[0].values[0].samples, 400u);
  EXPECT_EQ(place.blocks[1].instructions[2].text, "je     1220");
  EXPECT_EQ(place.blocks[3].instructions[0].inlined.at(0).function, "weigh");
  EXPECT_EQ(place.blocks[3].instructions[0].inlined.at(0).call_line, 13u);
}

TEST(Annotate, GivesLinesTheirCounts) {
  const Annotation grind = annotation_of(make_test_profile(), function("grind"));
  uint64_t samples = 0;
  for (const AnnotatedLine& line : grind.lines) {
    if (line.line == 11) {
      EXPECT_EQ(line.values[0].samples, 400u);
    }
    samples += line.values[0].samples;
  }
  EXPECT_EQ(samples, 650u);
}

TEST(Annotate, NamesWhatElseMatches) {
  const Annotation grind = annotation_of(make_test_profile(), function("grind"));
  EXPECT_EQ(base_name(grind.module), "mill");
  ASSERT_EQ(grind.remarks.size(), 1u);
  EXPECT_EQ(grind.remarks[0], "also matches, by --copy N: 2 grind (sort)");
}

TEST(Annotate, LooksInOneModuleOnRequest) {
  AnnotateOptions options = function("grind");
  options.module = "sort";
  EXPECT_EQ(annotation_of(make_test_profile(), options).values[0].samples, 100u);
}

TEST(Annotate, ShowsInlinedFunctionsWhereTheyWereInlined) {
  const Annotation weigh = annotation_of(make_test_profile(), function("weigh"));
  EXPECT_TRUE(weigh.inlined);
  ASSERT_EQ(weigh.places.size(), 1u);
  EXPECT_EQ(weigh.places[0].function, "grind");
  ASSERT_EQ(weigh.places[0].blocks.size(), 1u);
  EXPECT_EQ(weigh.places[0].blocks[0].instructions.size(), 1u);
  EXPECT_EQ(weigh.values[0].samples, 150u);
}

TEST(Annotate, FindsFunctionsWithoutTheirParametersAndByPattern) {
  const TestProfile test = make_test_profile();
  EXPECT_EQ(annotation_of(test, function("*push_back")).function, kLongName);
  const std::string bare(without_parameters(kLongName));
  EXPECT_EQ(annotation_of(test, function(bare.c_str())).function, kLongName);
}

TEST(Annotate, KeepsCountsOfCodeThatIsNotThere) {
  TestProfile test = make_test_profile();
  test.facts[ImageId(0u)].code.clear();
  const Annotation grind = annotation_of(test, function("grind"));
  EXPECT_EQ(grind.values[0].samples, 650u);
  EXPECT_FALSE(grind.places[0].problem.empty());
  EXPECT_EQ(grind.places[0].blocks[0].instructions.size(), 3u);
}

TEST(Annotate, ReadsArmCode) {
  TestProfile test = make_test_profile();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.architecture = "aarch64";
  // add w0, w0, #1; b 0x1210 (binutils: aarch64-linux-gnu-as)
  facts.code = {{FileOffset(0x210), std::string("\x00\x04\x00\x11\xff\xff\xff\x17", 8)}};
  const Annotation grind = annotation_of(test, function("grind"));
  const AnnotatedBlock& block = grind.places[0].blocks[0];
  ASSERT_EQ(block.instructions.size(), 2u);
  EXPECT_EQ(block.instructions[0].text, "add    w0,w0,#0x1");
  EXPECT_EQ(block.instructions[1].text, "b      1210");
  EXPECT_EQ(block.values[0].samples, 500u);
  EXPECT_EQ(grind.values[0].samples, 650u);  // weigh has no code there, yet its counts
}

TEST(Annotate, SuggestsTheNearestName) {
  const TestProfile test = make_test_profile();
  const auto refused = make_annotation(test.profile, test.lookup(), function("gridn"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("did you mean grind?"), std::string::npos);
}

TEST(Annotate, MatchesItsGoldenTexts) {
  const TestProfile test = make_test_profile();
  const auto golden = [&](const char* file, const AnnotateOptions& options, Format format) {
    const std::string text = text_of(test, options, format);
    expect_golden(std::string("annotate/golden/") + file, text);
    if (format != Format::text) return;
    size_t start = 0;
    for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
      EXPECT_LE(count_columns(text.substr(start, end - start)), 80u);
    }
  };
  golden("annotate.txt", function("grind"), Format::text);
  golden("annotate.json", function("grind"), Format::json);
  golden("annotate_inlined.txt", function("weigh"), Format::text);
  golden("annotate_long_name.txt", function("*push_back"), Format::text);
  AnnotateOptions lines = function("grind");
  lines.show_assembly = false;
  golden("annotate_lines.txt", lines, Format::text);
  golden("annotate_lines.csv", lines, Format::csv);
}

}  // namespace
}  // namespace culprit
