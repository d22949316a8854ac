// One view, asked by many at once. The judge is the answer to the same question alone, of a view
// of its own. Under thread sanitizer (preset tsan) it also shows that nobody writes under a reader.

#include "session/profile_view.h"

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "attribute/test_profile.h"
#include "base/file.h"
#include "session/answers.h"
#include "store/profile_file.h"

namespace culprit {
namespace {

using Ask = std::function<std::string(const ProfileView&)>;

std::string text_of(const Result<std::string>& answer) {
  return answer ? *answer : "error: " + answer.error().message;
}

Ask ask_report(RowLevel level, Format format, Tree tree = Tree::none,
               Columns columns = Columns::events) {
  ReportQuestion question;
  question.report.by = {level};
  question.report.tree = tree;
  question.report.columns = columns;
  return [question, format](const ProfileView& view) {
    const Result<ReportAnswer> answer = answer_report(view, question);
    return answer ? print_answer(*answer, format, {}) : answer.error().message;
  };
}

std::vector<Ask> make_questions() {
  std::vector<Ask> questions;
  for (const RowLevel level : {RowLevel::process, RowLevel::module, RowLevel::function,
                               RowLevel::line, RowLevel::block, RowLevel::instruction}) {
    questions.push_back(ask_report(level, Format::json));
  }
  questions.push_back(ask_report(RowLevel::function, Format::text, Tree::callers));
  questions.push_back(ask_report(RowLevel::function, Format::csv, Tree::none, Columns::executions));
  questions.emplace_back([](const ProfileView& view) {
    AnnotateOptions options;
    options.function = "grind";
    const Result<Annotation> answer = answer_annotation(view, options);
    return answer ? print_annotation(view.profile(), *answer, options, Format::text, {})
                  : answer.error().message;
  });
  questions.emplace_back([](const ProfileView& view) {
    const Result<WhyAnswer> answer = answer_why(view, {});
    return answer ? print_why(answer->profile(), answer->cpu(), answer->why, Format::json, {})
                  : answer.error().message;
  });
  for (const ExportFormat to : {ExportFormat::collapsed, ExportFormat::pprof,
                                ExportFormat::callgrind, ExportFormat::dot, ExportFormat::csv}) {
    ExportQuestion question;
    question.to = to;
    questions.emplace_back(
        [question](const ProfileView& view) { return text_of(answer_export(view, question)); });
  }
  return questions;
}

class ProfileViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder);
    folder_.emplace(*std::move(folder));
    TestProfile test = make_test_profile();
    add_test_stacks(test);
    add_test_branches(test);
    Result<ProfileWriter> writer = ProfileWriter::create(path());
    ASSERT_TRUE(writer) << writer.error().message;
    for (const auto& [image, facts] : test.facts) ASSERT_TRUE(writer->write_facts(image, facts));
    ASSERT_TRUE(writer->close(test.profile));
  }

  [[nodiscard]] std::string path() const { return folder_->path() + "/mill.culprit"; }
  [[nodiscard]] ProfileView open(uint64_t limit_bytes = ProfileView::kFactsLimitBytes) const {
    Result<ProfileView> view = ProfileView::open(path(), {}, limit_bytes);
    if (!view) ADD_FAILURE() << view.error().message;
    return *std::move(view);
  }
  [[nodiscard]] ReadFacts reader() const {
    Result<ProfileReader> reader = ProfileReader::open(path());
    if (!reader) ADD_FAILURE() << reader.error().message;
    const auto shared = std::make_shared<ProfileReader>(*std::move(reader));
    return [shared](ImageId image, FactParts parts) { return shared->read_facts(image, parts); };
  }

 private:
  std::optional<TemporaryFolder> folder_;
};

TEST_F(ProfileViewTest, AnswersManyAtOnceAsEachAlone) {
  const std::vector<Ask> questions = make_questions();
  std::vector<std::string> alone;
  for (const Ask& ask : questions) alone.push_back(ask(open()));
  EXPECT_NE(alone[2].find("grind"), std::string::npos) << alone[2];

  // A limit of one byte lets go of what one thread has just read when the next one reads.
  for (const uint64_t limit_bytes : {ProfileView::kFactsLimitBytes, uint64_t{1}}) {
    const ProfileView view = open(limit_bytes);
    std::atomic<size_t> same = 0;
    std::vector<std::thread> threads;
    constexpr size_t kThreads = 16;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (size_t i = 0; i < questions.size(); ++i) {
          const size_t question = (i * 7 + thread) % questions.size();  // each in another order
          if (questions[question](view) == alone[question]) ++same;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(same, kThreads * questions.size()) << "limit " << limit_bytes;
  }
}

TEST_F(ProfileViewTest, GivesWhatStaysValidWhateverIsAskedForLater) {
  const ProfileView view = open(1);
  const FactsLookup names = view.facts(FactPart::functions);
  const ImageFacts* const mill = names(ImageId(0u));
  ASSERT_NE(mill, nullptr);
  EXPECT_TRUE(mill->lines.empty());
  // More parts of the same image, and then another one in its place.
  const FactsLookup lines = view.facts({FactPart::functions, FactPart::lines});
  EXPECT_EQ(lines(ImageId(0u))->lines, mill_facts().lines);
  EXPECT_NE(lines(ImageId(3u)), nullptr);
  EXPECT_EQ(mill->functions, mill_facts().functions);
  EXPECT_EQ(mill->strings.text(mill->functions.front().name), "grind");
  EXPECT_EQ(names(ImageId(0u)), mill);
}

TEST_F(ProfileViewTest, KeepsNoMoreThanItsLimit) {
  FactsCache whole(reader(), ProfileView::kFactsLimitBytes);
  uint64_t largest = 0;
  for (uint32_t image = 0; image < 4; ++image) {
    const auto facts = whole.find(ImageId(image), FactParts::all());
    ASSERT_NE(facts, nullptr) << image;
    largest = std::max(largest, estimate_memory_bytes(*facts));
  }
  EXPECT_GT(whole.bytes(), largest);

  FactsCache small(reader(), largest);
  for (uint32_t image = 0; image < 4; ++image) {
    EXPECT_NE(small.find(ImageId(image), FactParts::all()), nullptr);
    EXPECT_LE(small.bytes(), largest);
  }
}

TEST_F(ProfileViewTest, ReadsEachImageOnceForTheSameParts) {
  FactsCache cache(reader(), ProfileView::kFactsLimitBytes);
  const auto first = cache.find(ImageId(0u), FactPart::functions);
  EXPECT_EQ(cache.find(ImageId(0u), FactPart::functions), first);
  const auto more = cache.find(ImageId(0u), FactPart::lines);
  EXPECT_NE(more, first);
  // Who asks for less is given what is there: it has the functions, too.
  EXPECT_EQ(more->functions, first->functions);
  EXPECT_EQ(cache.find(ImageId(0u), FactPart::functions), more);
  EXPECT_EQ(cache.find(ImageId(9u), FactPart::functions), nullptr);
  EXPECT_EQ(cache.problem(), "");
}

}  // namespace
}  // namespace culprit
