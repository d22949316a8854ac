#include "compare/run_rows.h"

#include <gtest/gtest.h>

#include "compare/compared_rows.h"

namespace culprit {
namespace {

// What gcc 12 and clang 19 append, as `nm` shows it of builds with -O3 and link-time optimisation.
TEST(CloneSuffix, IsNoPartOfAName) {
  EXPECT_EQ(without_clone_suffix("parse.constprop.0"), "parse");
  EXPECT_EQ(without_clone_suffix("parse.isra.0.cold"), "parse");
  EXPECT_EQ(without_clone_suffix("parse.part.0.lto_priv.12"), "parse");
  EXPECT_EQ(without_clone_suffix("parse.llvm.1234567890"), "parse");
  EXPECT_EQ(without_clone_suffix("ns::f(int) [clone .isra.0]"), "ns::f(int)");
  EXPECT_EQ(without_clone_suffix("main._omp_fn.0"), "main._omp_fn.0");
  EXPECT_EQ(without_clone_suffix("a.b"), "a.b");
  EXPECT_EQ(without_clone_suffix(".cold"), ".cold");
  EXPECT_EQ(without_clone_suffix(""), "");
}

RunRows run_of(const std::string& name, const Measure& measure,
               std::vector<std::pair<ComparedKey, Value>> rows) {
  return {name, measure, 0, std::move(rows), {0, 10, 0}};
}

TEST(ComparedRows, AreMatchedByName) {
  const Measure measure{"instructions", "events", Provenance::counted};
  const RunRows runs[] = {run_of("a", measure, {{{"f"}, {0, 1, 0}}, {{"g"}, {0, 2, 0}}}),
                          run_of("b", measure, {{{"g"}, {0, 3, 0}}, {{"h"}, {0, 4, 0}}})};
  const Result<ComparedRows> rows = put_side_by_side(runs);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->rows.size(), 3U);
  EXPECT_EQ(rows->rows[0].key, ComparedKey{"f"});
  EXPECT_EQ(rows->rows[0].runs[1].value, 0);
  EXPECT_EQ(rows->rows[1].runs[0].value, 2);
  EXPECT_EQ(rows->rows[1].runs[1].value, 3);
  EXPECT_EQ(rows->rows[2].runs[1].value, 4);
}

TEST(ComparedRows, DifferentMeasuresAreRefused) {
  const RunRows runs[] = {run_of("a", {"cpu-clock", "cycles", Provenance::sampled}, {}),
                          run_of("b", {"instructions", "events", Provenance::counted}, {})};
  const Result<ComparedRows> rows = put_side_by_side(runs);
  ASSERT_FALSE(rows);
  EXPECT_NE(rows.error().message.find("--event"), std::string::npos);
}

}  // namespace
}  // namespace culprit
