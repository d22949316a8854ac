#include "scan/expression.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace culprit::scan {
namespace {

const std::map<std::string, Estimate> kValues = {{"instructions", {40, 0}},
                                                 {"sim:cycles", {10, 1}},
                                                 {"L1-dcache-loads", {8, 0}},
                                                 {"L1-dcache", {3, 0}},
                                                 {"inst_retired.any_p", {7, 0}},
                                                 {"DIM", {5, 0}},
                                                 {"zero", {0, 0}},
                                                 {"loads", {2, 0}},
                                                 {"2x", {9, 0}}};

std::optional<Estimate> evaluate(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [name, value] : kValues) names.push_back(name);
  const Result<Expression> expression = Expression::parse(text, names);
  EXPECT_TRUE(expression) << expression.error().message;
  if (!expression) return std::nullopt;
  return expression->evaluate([](const std::string& name) { return kValues.at(name); });
}

double value(std::string_view text) {
  const auto found = evaluate(text);
  return found ? found->value : NAN;
}

std::string mistake(std::string_view text) {
  const Result<Expression> expression = Expression::parse(text, {"instructions", "loads"});
  return expression ? "" : expression.error().message;
}

TEST(Expression, FollowsTheUsualRules) {
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("8 / 2 / 2"), 2);
  EXPECT_EQ(value("1 - 2 - 3"), -4);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("1.5e1"), 15);
  EXPECT_EQ(value("min(3, 2) + max(1, 5) + abs(-4) + log2(8) + sqrt(9)"), 17);
}

TEST(Expression, TakesTheLongestNameThatIsKnown) {
  EXPECT_EQ(value("L1-dcache-loads"), 8);      // not L1-dcache minus loads
  EXPECT_EQ(value("L1-dcache - loads"), 1);    // blanks part them
  EXPECT_EQ(value("\"L1-dcache\"-loads"), 1);  // so do quotes
  EXPECT_EQ(value("instructions/sim:cycles"), 4);
  EXPECT_EQ(value("inst_retired.any_p*2"), 14);
  EXPECT_EQ(value("2x"), 9);
  EXPECT_EQ(value("2*DIM"), 10);
}

TEST(Expression, DivisionByZeroIsNoPoint) {
  EXPECT_FALSE(evaluate("instructions / zero"));
  EXPECT_FALSE(evaluate("log2(zero)"));
  EXPECT_FALSE(evaluate("sqrt(-1)"));
}

TEST(Expression, PropagatesErrors) {
  EXPECT_DOUBLE_EQ(evaluate("sim:cycles * 3")->standard_error, 3);
  // (10 +- 1) / 40, and 40 / (10 +- 1): relative errors of a tenth.
  EXPECT_DOUBLE_EQ(evaluate("sim:cycles / instructions")->standard_error, 0.025);
  EXPECT_DOUBLE_EQ(evaluate("instructions / sim:cycles")->standard_error, 0.4);
  EXPECT_DOUBLE_EQ(evaluate("sim:cycles + sim:cycles")->standard_error, std::sqrt(2.0));
}

TEST(Expression, SaysWhatIsWrong) {
  EXPECT_EQ(mistake("instruction"),
            "'instruction' is not a name that is known here (did you mean instructions?)");
  EXPECT_EQ(mistake("quux"), "'quux' is not a name that is known here");
  EXPECT_EQ(mistake("loads / zsim:x * 2"),
            "'loads / zsim:x * 2': 'zsim:x' is not a name that is known here");
  EXPECT_EQ(mistake("loads +"), "'loads +' ends where a name or a number is expected");
  EXPECT_EQ(mistake("loads loads"), "'loads loads': 'loads' is not an operator");
  EXPECT_EQ(mistake("(loads"), "'(loads' ends where ')' is expected");
  EXPECT_NE(mistake(""), "");
  EXPECT_NE(mistake(std::string(5000, '(')), "");
  EXPECT_NE(mistake(std::string(5000, '-')), "");
}

TEST(Expression, SurvivesAnyBytes) {
  std::mt19937 random(3);
  const std::string letters = "loadsinstructions+-*/()., \"'0123456789.e:min(";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t i = random() % 24; i > 0; --i) text += letters[random() % letters.size()];
    const Result<Expression> expression = Expression::parse(text, {"instructions", "loads"});
    if (expression) {
      static_cast<void>(expression->evaluate([](const std::string&) { return Estimate{1, 0}; }));
    }
  }
}

}  // namespace
}  // namespace culprit::scan
