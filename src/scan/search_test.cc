#include "scan/search.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace culprit::scan {
namespace {

SearchSpace make_space(const std::vector<size_t>& levels) {
  SearchSpace space;
  for (size_t i = 0; i < levels.size(); ++i) {
    Parameter factor{std::string(1, static_cast<char>('a' + i)), {}};
    for (size_t level = 0; level < levels[i]; ++level)
      factor.values.push_back(std::to_string(level));
    space.factors.push_back(std::move(factor));
  }
  return space;
}

/// Setups whose costs are given: times scatter about them, by a seeded generator.
class PlannedRunner final : public TrialRunner {
 public:
  using Cost = std::function<double(const Levels&)>;
  PlannedRunner(Cost cost, double noise) : cost_(std::move(cost)), noise_(noise) {}

  Result<std::vector<Screened>> screen(const std::vector<Levels>& setups) override {
    std::vector<Screened> all;
    for (const Levels& levels : setups) {
      Screened screened;
      if (is_broken && is_broken(levels)) screened.failure = "build failed";
      screened.log_count = std::log(count ? count(levels) : cost_(levels));
      for (size_t i = 0; i < levels.size(); ++i) {
        // A factor that changes no program.
        screened.programs += i == no_effect ? "0" : std::to_string(levels[i]);
      }
      all.push_back(screened);
      setups_.push_back(levels);
      runs_ += 2;
    }
    return all;
  }
  Result<std::vector<double>> time(const std::vector<size_t>& trials) override {
    std::vector<double> times;
    // All of a round share its disturbance.
    const double round = 0.2 * normal_(random_);
    for (const size_t trial : trials) {
      times.push_back(std::log(cost_(setups_[trial])) + round + noise_ * normal_(random_));
      ++timed[setups_[trial]];
      runs_ += 2;
    }
    return times;
  }
  [[nodiscard]] uint64_t runs() const override { return runs_; }
  [[nodiscard]] double elapsed_s() const override { return 0; }
  [[nodiscard]] uint64_t runs_of_one() const override { return 2; }

  Cost count;  // of the screen; none: what it costs
  std::function<bool(const Levels&)> is_broken;
  size_t no_effect = SIZE_MAX;
  std::map<Levels, size_t> timed;

 private:
  Cost cost_;
  double noise_;
  std::vector<Levels> setups_;
  uint64_t runs_ = 0;
  std::mt19937_64 random_{7};
  std::normal_distribution<double> normal_;
};

const Levels& chosen_levels(const SearchResult& result) {
  return result.trials[result.chosen].levels;
}

TEST(Search, FindsTheBestOfValuesThatDoNotInteract) {
  const SearchSpace space = make_space({2, 3, 2, 2, 2, 2, 2, 2});  // 384
  PlannedRunner runner(
      [](const Levels& at) {
        const double factors[] = {1.0, 0.9, 0.7};
        return 100 * factors[at[1]] * (at[2] ? 0.8 : 1) * (at[3] ? 1.3 : 1) * (at[7] ? 0.95 : 1);
      },
      0.005);
  const auto result = search(space, {}, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(chosen_levels(*result), (Levels{0, 2, 1, 0, 0, 0, 0, 1}));
  EXPECT_LE(result->runs, 400u);
  // 0.7 x 0.8 x 0.95 = 0.532.
  const TimeRatio& ratio = result->finalists.front().to_base;
  EXPECT_NEAR(ratio.ratio, 0.532, 0.01);
  EXPECT_LE(ratio.interval95.low, 0.532);
  EXPECT_GE(ratio.interval95.high, 0.532);
}

TEST(Search, FindsAPairOfWhichEachValueAloneIsOfNoUse) {
  // -ffast-math is such a factor: it lets a sum be vectorised where vectorising is on.
  const SearchSpace space = make_space({2, 2, 2, 2, 2, 2, 2, 2});
  PlannedRunner runner(
      [](const Levels& at) {
        return 100 * (at[2] && at[5] ? 0.4 : at[2] || at[5] ? 1.02 : 1.0);
      },
      0.005);
  const auto result = search(space, {}, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(chosen_levels(*result), (Levels{0, 0, 1, 0, 0, 1, 0, 0}));
}

TEST(Search, BelievesTimeWhereCountsSayOtherwise) {
  const SearchSpace space = make_space({2, 2, 2});
  PlannedRunner runner([](const Levels& at) { return at[1] ? 80.0 : 100.0; }, 0.005);
  runner.count = [](const Levels& at) { return (at[1] ? 110.0 : 100.0) * (at[0] ? 0.8 : 1.0); };
  const auto result = search(space, {}, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(chosen_levels(*result), (Levels{0, 1, 0}));
}

TEST(Search, ChoosesBaseWhereNothingHelps) {
  const SearchSpace space = make_space({2, 2, 2, 2});
  PlannedRunner runner([](const Levels& at) { return at[3] ? 150.0 : 100.0; }, 0.002);
  const auto result = search(space, {}, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(chosen_levels(*result), Levels(4));
  for (const Finalist& one : result->finalists) {
    if (result->trials[one.trial].levels[3] == 0) {
      EXPECT_TRUE(one.is_as_good);
    }
  }
}

TEST(Search, TimesOneOfSetupsThatMakeTheSameProgram) {
  const SearchSpace space = make_space({2, 2, 2});
  PlannedRunner runner([](const Levels& at) { return at[0] ? 70.0 : 100.0; }, 0.002);
  runner.no_effect = 1;
  const auto result = search(space, {}, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(chosen_levels(*result), (Levels{1, 0, 0}));
  for (const auto& [levels, count] : runner.timed) EXPECT_EQ(levels[1], 0u);
}

TEST(Search, LeavesOutWhatFailsAndWhatHasItInIt) {
  const SearchSpace space = make_space({2, 2, 2});
  PlannedRunner runner([](const Levels& at) { return at[0] ? 10.0 : at[1] ? 90.0 : 100.0; }, 0.002);
  runner.is_broken = [](const Levels& at) { return at[0] == 1; };
  const auto result = search(space, {}, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(chosen_levels(*result), (Levels{0, 1, 0}));
  size_t failed = 0;
  for (const Trial& trial : result->trials) failed += trial.failure.empty() ? 0 : 1;
  EXPECT_EQ(failed, 1u);
  runner.is_broken = [](const Levels&) { return true; };
  EXPECT_FALSE(search(space, {}, runner));
}

TEST(Search, KeepsToItsLimit) {
  const SearchSpace space = make_space({3, 3, 3, 3, 3, 3});
  PlannedRunner runner(
      [](const Levels& at) {
        double cost = 100;
        for (const uint32_t level : at) cost *= 1 - 0.05 * level;
        return cost;
      },
      0.005);
  SearchLimits limits;
  limits.runs = 150;
  const auto result = search(space, limits, runner);
  ASSERT_TRUE(result);
  EXPECT_LE(result->runs, 150u);
  EXPECT_TRUE(result->is_cut_short);
  EXPECT_FALSE(result->finalists.empty());
}

TEST(Search, TriesAllWhereAsked) {
  const SearchSpace space = make_space({2, 3});
  PlannedRunner runner([](const Levels& at) { return 100.0 - 10 * at[1] + 3 * at[0]; }, 0.001);
  const auto result = try_all(space, 3, 0.01, runner);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->trials.size(), 6u);
  EXPECT_EQ(chosen_levels(*result), (Levels{0, 2}));
  EXPECT_FALSE(try_all(make_space(std::vector<size_t>(20, 2)), 3, 0.01, runner));
}

TEST(SearchSpace, NamesSetupsByWhatTheyChange) {
  SearchSpace space;
  space.factors = {
      {"cc", {"g++", "clang++"}}, {"O", {"-O2", "-O3"}}, {"math", {"", "-ffast-math"}}};
  EXPECT_EQ(count_setups(space), 8);
  const auto base = make_setup(space, {0, 0, 0});
  ASSERT_TRUE(base);
  EXPECT_EQ(base->name, "base");
  EXPECT_EQ(*find_variable(base->variables, "flags"), "-O2");
  const auto other = make_setup(space, {1, 1, 1});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->name, "cc=clang++ O=-O3 math=-ffast-math");
  EXPECT_EQ(*find_variable(other->variables, "flags"), "-O3 -ffast-math");
  space.rest = {{"flags", "{math} -g"}};
  EXPECT_EQ(*find_variable(make_setup(space, {1, 1, 1})->variables, "flags"), "-ffast-math -g");
  space.rest = {{"flags", "{none}"}};
  EXPECT_FALSE(make_setup(space, {0, 0, 0}));
}

TEST(TimeRatio, IsOfRoundsThatBothHave) {
  const std::vector<Timing> a = {{0, std::log(2.0)}, {1, std::log(4.0)}, {5, std::log(100.0)}};
  const std::vector<Timing> b = {{0, std::log(1.0)}, {1, std::log(2.0)}, {2, std::log(9.0)}};
  const auto ratio = estimate_time_ratio(a, b, 0);
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->ratio, 2);
  EXPECT_FALSE(estimate_time_ratio(a, b, 2));
}

}  // namespace
}  // namespace culprit::scan
