#include "scan/search.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "stats/robust.h"

namespace culprit::scan {
namespace {

constexpr double kMostSetups = 100'000;  // of an exhaustive search
constexpr size_t kFirstRounds = 3;       // of a setup that may be good
constexpr size_t kFewestLastRounds = 7;  // an interval of the median needs six
constexpr size_t kMostLastRounds = 21;
constexpr size_t kMostFinalists = 6;
/// Stages 1 to 3 leave this part of the budget for the last one.
constexpr double kKeptForTheEnd = 0.3;
/// Pairs may take so much of it.
constexpr double kForPairs = 0.5;
/// A setup whose count is so much larger than the best one's is not timed. Counts are no times:
/// this leaves room for what they do not see.
constexpr double kScreenedOut = 0.25;  // natural logarithm
/// Each of so many setups is predicted, again and again.
constexpr double kMostPredicted = 20'000;
/// Setups that are this much slower than the best in the first rounds are no finalists.
constexpr double kFinalistWithin = 0.10;

std::vector<double> log_ratios(const std::vector<Timing>& of, const std::vector<Timing>& to,
                               uint64_t first_round) {
  std::map<uint64_t, double> other;
  for (const Timing& one : to) other.emplace(one.round, one.log_ns);
  std::vector<double> ratios;
  for (const Timing& one : of) {
    if (one.round < first_round) continue;
    const auto found = other.find(one.round);
    if (found != other.end()) ratios.push_back(one.log_ns - found->second);
  }
  return ratios;
}

class Search {
 public:
  Search(const SearchSpace& space, const SearchLimits& limits, TrialRunner& runner)
      : space_(space), limits_(limits), runner_(runner) {}

  Result<SearchResult> run() {
    RETURN_IF_ERROR(try_base());
    RETURN_IF_ERROR(try_single_values());
    RETURN_IF_ERROR(try_pairs());
    RETURN_IF_ERROR(climb());
    return decide(find_finalists());
  }

  Result<SearchResult> run_all(size_t rounds) {
    RETURN_IF_ERROR(try_base());
    std::vector<Levels> setups;
    Levels levels(space_.factors.size());
    for (;;) {
      setups.push_back(levels);
      if (!advance(levels)) break;
    }
    RETURN_IF_ERROR(try_setups(setups));
    std::vector<size_t> all;
    for (size_t i = 0; i < trials_.size(); ++i) {
      if (trials_[i].failure.empty() && trials_[i].same_as == i) all.push_back(i);
    }
    for (size_t i = 0; i < rounds; ++i) RETURN_IF_ERROR(time_round(all));
    return decide(find_finalists());
  }

 private:
  /// The next of all setups; false: there is none.
  bool advance(Levels& levels) const {
    size_t i = levels.size();
    while (i > 0 && ++levels[i - 1] == space_.factors[i - 1].values.size()) levels[--i] = 0;
    return i > 0;
  }

  // ---- trying ----

  [[nodiscard]] double most_runs(double share) const {
    return static_cast<double>(limits_.runs) * share;
  }

  /// Whether `more` executions go beyond this share of the budget.
  [[nodiscard]] bool is_spent(double share, uint64_t more) const {
    return static_cast<double>(runner_.runs() + more) > most_runs(share) ||
           runner_.elapsed_s() > limits_.seconds * share;
  }

  Result<void> try_base() {
    RETURN_IF_ERROR(try_setups({Levels(space_.factors.size())}));
    if (trials_[0].failure.empty()) return {};
    return Error{
        "the first value of each factor is where a search begins, and that setup does "
        "not work: " +
        trials_[0].failure};
  }

  /// Screens those that were not. Their trials.
  Result<std::vector<size_t>> try_setups(const std::vector<Levels>& setups) {
    std::vector<Levels> fresh;
    std::vector<size_t> trials;
    for (const Levels& levels : setups) {
      const auto [known, is_new] = known_.try_emplace(levels, trials_.size() + fresh.size());
      if (is_new) fresh.push_back(levels);
      trials.push_back(known->second);
    }
    if (fresh.empty()) return trials;
    ASSIGN_OR_RETURN(const std::vector<Screened> screened, runner_.screen(fresh));
    for (size_t i = 0; i < fresh.size(); ++i) {
      const size_t at = trials_.size();
      trials_.push_back({fresh[i], screened[i].failure, at, screened[i].log_count, {}});
      if (!screened[i].failure.empty()) continue;
      trials_.back().same_as = programs_.try_emplace(screened[i].programs, at).first->second;
    }
    return trials;
  }

  Result<void> time_round(const std::vector<size_t>& trials) {
    ASSIGN_OR_RETURN(const std::vector<double> times, runner_.time(trials));
    for (size_t i = 0; i < trials.size(); ++i) {
      trials_[trials[i]].timings.push_back({round_, times[i]});
    }
    ++round_;
    return {};
  }

  /// Times those of them that were not, beside base, so often that a median means something.
  Result<void> judge_roughly(const std::vector<size_t>& trials, double share) {
    std::set<size_t> programs;
    for (const size_t trial : trials) {
      if (!trials_[trial].failure.empty()) continue;
      const size_t program = trials_[trial].same_as;
      if (trials_[program].timings.empty()) programs.insert(program);
    }
    programs.insert(0);
    if (programs.size() == 1 && !trials_[0].timings.empty()) return {};
    const std::vector<size_t> all(programs.begin(), programs.end());
    for (size_t i = 0; i < first_rounds_; ++i) {
      if (i > 0 && is_spent(share, all.size() * runner_.runs_of_one())) break;
      RETURN_IF_ERROR(time_round(all));
    }
    return {};
  }

  // ---- what is known of them ----

  /// Log of the time against base; nullopt: it was not timed.
  [[nodiscard]] std::optional<double> measured(size_t trial) const {
    const auto ratios = log_ratios(trials_[trials_[trial].same_as].timings, trials_[0].timings, 0);
    if (ratios.empty()) return std::nullopt;
    return compute_median(ratios);
  }

  [[nodiscard]] size_t find_best() const {
    size_t best = 0;
    double least = 0;
    for (size_t i = 0; i < trials_.size(); ++i) {
      if (!trials_[i].failure.empty()) continue;
      const auto value = measured(i);
      if (!value || *value >= least) continue;
      best = i;
      least = *value;
    }
    return best;
  }

  [[nodiscard]] const Trial* find_trial(const Levels& levels) const {
    const auto found = known_.find(levels);
    return found == known_.end() ? nullptr : &trials_[found->second];
  }

  [[nodiscard]] Levels only(std::initializer_list<size_t> factors, const Levels& of) const {
    Levels levels(of.size());
    for (const size_t factor : factors) levels[factor] = of[factor];
    return levels;
  }

  /// Whether one of its values, or a pair of them, is known not to work.
  [[nodiscard]] bool is_hopeless(const Levels& levels) const {
    for (size_t a = 0; a < levels.size(); ++a) {
      for (size_t b = a; b < levels.size(); ++b) {
        if (levels[a] == 0 || levels[b] == 0) continue;
        const Trial* const trial = find_trial(only({a, b}, levels));
        if (trial != nullptr && !trial->failure.empty()) return true;
      }
    }
    return false;
  }

  /// Log of the time against base, from its values alone, and from pairs of them that were tried:
  /// what a pair takes beyond its parts, in time where it was timed, else in counts.
  [[nodiscard]] double predict(const Levels& levels) const {
    double sum = 0;
    for (size_t a = 0; a < levels.size(); ++a) {
      if (levels[a] == 0) continue;
      sum += effect(only({a}, levels));
      for (size_t b = a + 1; b < levels.size(); ++b) {
        if (levels[b] != 0) sum += interaction(levels, a, b);
      }
    }
    return sum;
  }

  [[nodiscard]] double effect(const Levels& single) const {
    const auto found = known_.find(single);
    if (found == known_.end()) return 0;
    const double by_count = trials_[found->second].log_count - trials_[0].log_count;
    return ignore_noise(measured(found->second).value_or(by_count));
  }

  /// What is within the tolerance is nothing: sums of such effects would be sought for ever.
  [[nodiscard]] double ignore_noise(double logarithm) const {
    return std::abs(logarithm) < limits_.tolerance ? 0 : logarithm;
  }

  [[nodiscard]] double interaction(const Levels& levels, size_t a, size_t b) const {
    const auto found = known_.find(only({a, b}, levels));
    if (found == known_.end() || !trials_[found->second].failure.empty()) return 0;
    const Levels one = only({a}, levels);
    const Levels other = only({b}, levels);
    if (const auto time = measured(found->second)) {
      return ignore_noise(*time - effect(one) - effect(other));
    }
    const auto count = [&](const Levels& of) {
      const Trial* const trial = find_trial(of);
      return trial == nullptr || !trial->failure.empty() ? 0
                                                         : trial->log_count - trials_[0].log_count;
    };
    return trials_[found->second].log_count - trials_[0].log_count - count(one) - count(other);
  }

  // ---- stages ----

  Result<void> try_single_values() {
    std::vector<Levels> singles;
    for (size_t factor = 0; factor < space_.factors.size(); ++factor) {
      for (uint32_t level = 1; level < space_.factors[factor].values.size(); ++level) {
        if (is_spent(1 - kKeptForTheEnd, runner_.runs_of_one() * (singles.size() + 1))) break;
        singles.emplace_back(space_.factors.size());
        singles.back()[factor] = level;
      }
    }
    // A small budget gives a quarter to these.
    const auto of_one = static_cast<double>(runner_.runs_of_one() * (singles.size() + 1));
    first_rounds_ = static_cast<size_t>(
        std::clamp(most_runs(0.25) / of_one, 1.0, static_cast<double>(kFirstRounds)));
    ASSIGN_OR_RETURN(const std::vector<size_t> trials, try_setups(singles));
    return judge_roughly(trials, 1 - kKeptForTheEnd);
  }

  /// Pairs of values that work alone, the least predicted time first.
  [[nodiscard]] std::vector<Levels> list_pairs() const {
    std::vector<Levels> pairs;
    for (size_t a = 0; a < space_.factors.size(); ++a) {
      for (size_t b = a + 1; b < space_.factors.size(); ++b) {
        for (uint32_t i = 1; i < space_.factors[a].values.size(); ++i) {
          for (uint32_t j = 1; j < space_.factors[b].values.size(); ++j) {
            Levels levels(space_.factors.size());
            levels[a] = i;
            levels[b] = j;
            if (!is_hopeless(levels)) pairs.push_back(std::move(levels));
          }
        }
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](const Levels& a, const Levels& b) { return predict(a) < predict(b); });
    return pairs;
  }

  Result<void> try_pairs() {
    std::vector<Levels> pairs = list_pairs();
    size_t count = 0;
    while (count < pairs.size() && !is_spent(kForPairs, runner_.runs_of_one() * (count + 1)))
      ++count;
    pairs.resize(count);
    const Result<std::vector<size_t>> tried = try_setups(pairs);
    if (!tried) return tried.error();
    return {};
  }

  [[nodiscard]] bool is_done(const Levels& levels) const {
    const auto found = known_.find(levels);
    return found != known_.end() &&
           (!trials_[found->second].failure.empty() || measured(found->second));
  }

  /// Setups that differ from this one in one factor, and those of all that are predicted to be
  /// better than the best so far, if there are not too many setups to ask that: what was not timed
  /// of them, the most promising first.
  [[nodiscard]] std::vector<Levels> list_candidates(const Levels& from, double least) const {
    std::vector<std::pair<double, Levels>> all;
    const auto add = [&](const Levels& levels, double most) {
      if (is_done(levels) || is_hopeless(levels)) return;
      const double predicted = predict(levels);
      if (predicted < most) all.emplace_back(predicted, levels);
    };
    if (count_setups(space_) <= kMostPredicted) {
      Levels levels(space_.factors.size());
      do add(levels, least - limits_.tolerance);
      while (advance(levels));
    }
    for (size_t factor = 0; factor < from.size(); ++factor) {
      for (uint32_t level = 0; level < space_.factors[factor].values.size(); ++level) {
        Levels levels = from;
        levels[factor] = level;
        if (level != from[factor]) add(levels, HUGE_VAL);
      }
    }
    std::stable_sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::vector<Levels> setups;
    for (auto& [predicted, levels] : all) setups.push_back(std::move(levels));
    return setups;
  }

  Result<void> climb() {
    constexpr size_t kAtOnce = 4;
    std::set<Levels> seen;
    for (;;) {
      const size_t best = find_best();
      const double least = measured(best).value_or(0);
      std::vector<Levels> setups;
      for (const Levels& levels : list_candidates(trials_[best].levels, least)) {
        if (setups.size() == kAtOnce) break;
        if (seen.contains(levels)) continue;
        const uint64_t more = runner_.runs_of_one() * (1 + first_rounds_) * (setups.size() + 2);
        is_cut_short_ = is_spent(1 - kKeptForTheEnd, more);
        if (is_cut_short_) break;
        seen.insert(levels);
        setups.push_back(levels);
      }
      if (setups.empty()) return {};
      ASSIGN_OR_RETURN(const std::vector<size_t> trials, try_setups(setups));
      std::vector<size_t> next;
      for (const size_t trial : trials) {
        const Trial& tried = trials_[trial];
        if (!tried.failure.empty() || measured(trial)) continue;
        if (tried.log_count <= trials_[best].log_count + kScreenedOut) next.push_back(trial);
      }
      RETURN_IF_ERROR(judge_roughly(next, 1 - kKeptForTheEnd));
    }
  }

  /// Distinct programs, the best by the rounds so far first; base is the last of them if it is not
  /// among the best.
  [[nodiscard]] std::vector<size_t> find_finalists() const {
    std::vector<std::pair<double, size_t>> all;
    for (size_t i = 0; i < trials_.size(); ++i) {
      if (!trials_[i].failure.empty() || trials_[i].same_as != i) continue;
      if (const auto value = measured(i)) all.emplace_back(*value, i);
    }
    std::stable_sort(all.begin(), all.end());
    std::vector<size_t> finalists;
    const auto add = [&](double value, size_t trial, size_t most, double within) {
      if (finalists.size() >= most || value > all.front().first + within) return;
      if (std::find(finalists.begin(), finalists.end(), trial) == finalists.end()) {
        finalists.push_back(trial);
      }
    };
    for (const auto& [value, trial] : all) add(value, trial, kMostFinalists - 2, kFinalistWithin);
    // The simplest of those that may be as good: rounds are few so far, and luck chooses among
    // many.
    std::stable_sort(all.begin() + 1, all.end(), [&](const auto& a, const auto& b) {
      return count_changes(trials_[a.second].levels) < count_changes(trials_[b.second].levels);
    });
    for (const auto& [value, trial] : all) {
      add(value, trial, kMostFinalists, 2 * limits_.tolerance);
    }
    if (std::find(finalists.begin(), finalists.end(), 0) == finalists.end()) {
      finalists.push_back(0);
    }
    return finalists;
  }

  // ---- the last judgement ----

  [[nodiscard]] Finalist judge(size_t trial, size_t best, uint64_t first) const {
    Finalist finalist;
    finalist.trial = trial;
    const std::vector<Timing>& own = trials_[trial].timings;
    finalist.to_base = estimate_time_ratio(own, trials_[0].timings, first).value_or(TimeRatio());
    finalist.to_best = estimate_time_ratio(own, trials_[best].timings, first).value_or(TimeRatio());
    finalist.is_as_good = finalist.to_best.interval95.low <= 1 + limits_.tolerance;
    return finalist;
  }

  /// The one with the least median in the rounds since `first`.
  [[nodiscard]] size_t find_best_of(const std::vector<size_t>& finalists, uint64_t first) const {
    const auto value = [&](size_t trial) {
      const auto ratios = log_ratios(trials_[trial].timings, trials_[0].timings, first);
      return ratios.empty() ? 0.0 : compute_median(ratios);
    };
    return *std::min_element(finalists.begin(), finalists.end(),
                             [&](size_t a, size_t b) { return value(a) < value(b); });
  }

  Result<SearchResult> decide(std::vector<size_t> finalists) {
    const uint64_t first = round_;
    SearchResult result;
    for (size_t i = 0; i < kMostLastRounds; ++i) {
      if (i > 0 && is_spent(1, finalists.size() * runner_.runs_of_one())) {
        is_cut_short_ = true;
        break;
      }
      RETURN_IF_ERROR(time_round(finalists));
      ++result.rounds;
      if (result.rounds < kFewestLastRounds) continue;
      // Undecided is whose interval holds the tolerance.
      const size_t best = find_best_of(finalists, first);
      result.is_decided = std::all_of(finalists.begin(), finalists.end(), [&](size_t trial) {
        const Interval interval = judge(trial, best, first).to_best.interval95;
        return interval.low > 1 + limits_.tolerance || interval.high <= 1 + limits_.tolerance;
      });
      if (result.is_decided) break;
    }
    const size_t best = find_best_of(finalists, first);
    for (const size_t trial : finalists) result.finalists.push_back(judge(trial, best, first));
    std::stable_sort(
        result.finalists.begin(), result.finalists.end(),
        [](const Finalist& a, const Finalist& b) { return a.to_best.ratio < b.to_best.ratio; });
    result.chosen = choose(result.finalists);
    result.setups = count_setups(space_);
    result.runs = runner_.runs();
    result.elapsed_s = runner_.elapsed_s();
    result.is_cut_short = is_cut_short_;
    result.trials = std::move(trials_);
    return result;
  }

  /// The setup that changes least is chosen among those that are as good as the best; of two that
  /// change as much, the better one. Base is a setup like others: if it is as good it is chosen.
  [[nodiscard]] size_t choose(const std::vector<Finalist>& finalists) const {
    size_t chosen = finalists.front().trial;
    for (const Finalist& one : finalists) {
      if (!one.is_as_good || one.to_best.ratio > 1 + limits_.tolerance) continue;
      if (count_changes(trials_[one.trial].levels) < count_changes(trials_[chosen].levels)) {
        chosen = one.trial;
      }
    }
    return chosen;
  }

  const SearchSpace& space_;
  const SearchLimits& limits_;
  TrialRunner& runner_;
  std::vector<Trial> trials_;
  std::map<Levels, size_t> known_;
  std::map<std::string, size_t> programs_;
  uint64_t round_ = 0;
  size_t first_rounds_ = kFirstRounds;
  bool is_cut_short_ = false;
};

}  // namespace

std::optional<TimeRatio> estimate_time_ratio(const std::vector<Timing>& of,
                                             const std::vector<Timing>& to, uint64_t first_round) {
  const std::vector<double> ratios = log_ratios(of, to, first_round);
  if (ratios.empty()) return std::nullopt;
  const Interval interval = median_interval(ratios);
  return TimeRatio{std::exp(compute_median(ratios)),
                   {std::exp(interval.low), std::exp(interval.high)}};
}

Result<SearchResult> search(const SearchSpace& space, const SearchLimits& limits,
                            TrialRunner& runner) {
  return Search(space, limits, runner).run();
}

Result<SearchResult> try_all(const SearchSpace& space, size_t rounds, double tolerance,
                             TrialRunner& runner) {
  if (count_setups(space) > kMostSetups) {
    return Error{
        fmt::format("{:.0f} setups are too many to try all: leave --all out", count_setups(space))};
  }
  SearchLimits limits;
  limits.runs = uint64_t{1} << 62;
  limits.tolerance = tolerance;
  return Search(space, limits, runner).run_all(rounds);
}

}  // namespace culprit::scan
