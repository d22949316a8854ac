#include "compare/difference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/robust.h"

namespace culprit {
namespace {

constexpr double kBelievedTail = 0.05;
constexpr double kFactorSamples = 50;  // a row with fewer does not help to find the factor
constexpr size_t kFactorRows = 5;      // so many rows at least have something in common
constexpr size_t kModeratedRows = 20;  // so many tell how much variance is usual
constexpr double kUsualDegrees = 6;    // what that knowledge weighs
constexpr double kLeastTotalShare = 0.01;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Two groups of runs, and what is asked of a row's values there.
class Groups {
 public:
  Groups(size_t base, size_t all) : base_(base), all_(all) {}

  [[nodiscard]] size_t base() const { return base_; }
  [[nodiscard]] size_t fresh() const { return all_ - base_; }
  [[nodiscard]] std::span<const double> first(const std::vector<double>& values) const {
    return std::span(values).first(base_);
  }
  [[nodiscard]] std::span<const double> second(const std::vector<double>& values) const {
    return std::span(values).subspan(base_);
  }
  /// Both groups count alike, however many runs each has.
  [[nodiscard]] double middle(const std::vector<double>& values) const {
    return (mean(first(values)) + mean(second(values))) / 2;
  }
  [[nodiscard]] double shift(const std::vector<double>& values) const {
    return mean(second(values)) - mean(first(values));
  }
  /// Squares within the groups: over `degrees()` it is the variance of one run.
  [[nodiscard]] double squares(const std::vector<double>& values) const {
    double sum = 0;
    for (const auto group : {first(values), second(values)}) {
      const double middle = mean(group);
      for (const double value : group) sum += (value - middle) * (value - middle);
    }
    return sum;
  }
  [[nodiscard]] double degrees() const { return static_cast<double>(all_) - 2; }
  /// The variance of a difference of means is this times that of one run.
  [[nodiscard]] double reach() const {
    return 1 / static_cast<double>(base()) + 1 / static_cast<double>(fresh());
  }

 private:
  size_t base_;
  size_t all_;
};

/// A row that is seen often enough on both sides, as logarithms.
struct TestedRow {
  size_t index;  // in Difference::rows
  std::vector<double> logs;
  double sampling = 0;  // the variance that the number of samples alone gives to one of them
};

/// Half a sample stands for none, whose logarithm there is not.
std::vector<double> logarithms(const ComparedRow& row, double per_sample) {
  std::vector<double> logs;
  logs.reserve(row.runs.size());
  for (const Value& value : row.runs) {
    const double least = per_sample > 0 ? per_sample / 2 : 0.5;
    logs.push_back(std::log(std::max(value.value, least)));
  }
  return logs;
}

double sampling_variance(const ComparedRow& row) {
  double sum = 0;
  for (const Value& value : row.runs) {
    const double relative = value.value > 0 ? value.error / value.value : 1;
    sum += relative * relative;
  }
  return sum / static_cast<double>(row.runs.size());
}

RowChange describe_row(const ComparedRow& row, const Groups& groups) {
  RowChange change;
  change.key = row.key;
  for (size_t run = 0; run < row.runs.size(); ++run) {
    const bool is_base = run < groups.base();
    const double part = 1 / static_cast<double>(is_base ? groups.base() : groups.fresh());
    (is_base ? change.base : change.now) += row.runs[run].value * part;
    (is_base ? change.base_samples : change.now_samples) +=
        static_cast<double>(row.runs[run].samples) * part;
    if (run < row.functions.size()) {
      const std::set<std::string>& names = row.functions[run];
      (is_base ? change.base_functions : change.now_functions).insert(names.begin(), names.end());
    }
  }
  if (change.base > 0 && change.now > 0) change.change = change.now / change.base - 1;
  return change;
}

/// What is said of a difference of logarithms.
void judge(RowChange& row, const GroupDifference& difference) {
  const Interval logs = difference_interval(difference);
  row.change = std::expm1(difference.difference);
  row.interval95 = Interval{std::expm1(logs.low), std::expm1(logs.high)};
  row.tail = difference_tail(difference);
}

ChangeVerdict verdict_of(const RowChange& row) {
  if (row.tail >= kBelievedTail || !row.change || *row.change == 0) return ChangeVerdict::same;
  return *row.change > 0 ? ChangeVerdict::more : ChangeVerdict::less;
}

/// Sum of independent differences: Welch's degrees of freedom of the sum.
GroupDifference operator+(const GroupDifference& a, const GroupDifference& b) {
  const double first = a.standard_error * a.standard_error;
  const double second = b.standard_error * b.standard_error;
  const double weighted =
      first * first / a.degrees_of_freedom + second * second / b.degrees_of_freedom;
  return {a.difference + b.difference, std::sqrt(first + second),
          weighted > 0 ? (first + second) * (first + second) / weighted
                       : std::min(a.degrees_of_freedom, b.degrees_of_freedom)};
}

class Comparison {
 public:
  Comparison(const ComparedRows& rows, size_t base_runs, const DifferenceOptions& options)
      : rows_(rows), groups_(base_runs, rows.names.size()), options_(options) {}

  Difference find() {
    out_.base_runs = groups_.base();
    out_.new_runs = groups_.fresh();
    out_.is_exact = rows_.per_sample == 0;
    out_.total = describe_row(rows_.total, groups_);
    out_.total.key = {"total"};
    for (const ComparedRow& row : rows_.rows) sort_in(row);
    if (out_.is_exact) {
      compare_exactly();
    } else if (has_repetitions()) {
      take_common_factor_out();
      test_rows();
    } else {
      estimate_untested();
    }
    std::sort(out_.rows.begin(), out_.rows.end(), [](const RowChange& a, const RowChange& b) {
      const double ours = std::abs(a.now - a.base);
      const double theirs = std::abs(b.now - b.base);
      return ours != theirs ? ours > theirs : a.key < b.key;
    });
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool has_repetitions() const { return groups_.base() > 1 && groups_.fresh() > 1; }

  void sort_in(const ComparedRow& row) {
    RowChange change = describe_row(row, groups_);
    if (change.base == 0 && change.now == 0) return;
    const bool is_seen_enough =
        out_.is_exact ||
        std::max(change.base_samples, change.now_samples) >= options_.least_samples;
    if (!is_seen_enough) {
      change.verdict = ChangeVerdict::too_few;
      ++out_.rows_untested;
    } else if (change.base == 0 || change.now == 0) {
      change.verdict = change.base == 0 ? ChangeVerdict::fresh : ChangeVerdict::gone;
    } else {
      tested_.push_back(
          {out_.rows.size(), logarithms(row, rows_.per_sample), sampling_variance(row)});
    }
    out_.rows.push_back(std::move(change));
  }

  /// Counts have no chance in them, unless a group's runs differ among themselves.
  void compare_exactly() {
    for (const TestedRow& tested : tested_) {
      RowChange& row = out_.rows[tested.index];
      judge_counts(row, tested.logs);
    }
    judge_counts(out_.total, logarithms(rows_.total, 0));
  }
  void judge_counts(RowChange& row, const std::vector<double>& logs) {
    const auto difference = estimate_group_difference(groups_.first(logs), groups_.second(logs));
    if (difference) {
      judge(row, *difference);
    } else {
      row.tail = row.base == row.now ? 1 : 0;
      if (row.change) row.interval95 = Interval{*row.change, *row.change};
    }
    row.verdict = verdict_of(row);
  }

  void take_common_factor_out() {
    std::vector<const TestedRow*> steady;
    for (const TestedRow& row : tested_) {
      const RowChange& seen = out_.rows[row.index];
      if (std::min(seen.base_samples, seen.now_samples) >= kFactorSamples) steady.push_back(&row);
    }
    factor_.assign(rows_.names.size(), 0);
    if (steady.size() >= kFactorRows) {
      std::vector<double> middles;
      middles.reserve(steady.size());
      for (const TestedRow* row : steady) middles.push_back(groups_.middle(row->logs));
      for (size_t run = 0; run < factor_.size(); ++run) {
        std::vector<double> distances;
        for (size_t i = 0; i < steady.size(); ++i) {
          distances.push_back(steady[i]->logs[run] - middles[i]);
        }
        factor_[run] = compute_median(distances);
      }
      RowChange everything;
      everything.key = {"everything"};
      everything.base = out_.total.base;
      everything.now = out_.total.base * std::exp(groups_.shift(factor_));
      common_ = *estimate_group_difference(groups_.first(factor_), groups_.second(factor_));
      judge(everything, common_);
      everything.verdict = verdict_of(everything);
      out_.everything = std::move(everything);
    }
    for (TestedRow& row : tested_) {
      for (size_t run = 0; run < factor_.size(); ++run) row.logs[run] -= factor_[run];
    }
  }

  void test_rows() {
    const double usual = estimate_usual_variance();
    const bool is_shared = out_.everything && out_.everything->verdict != ChangeVerdict::same;
    for (const TestedRow& tested : tested_) {
      GroupDifference own = test(tested, usual);
      judge(out_.rows[tested.index], is_shared ? own + common_ : own);
    }
    std::vector<double> tails;
    for (const TestedRow& tested : tested_) tails.push_back(out_.rows[tested.index].tail);
    tails = adjust_false_discovery(tails);
    for (size_t i = 0; i < tested_.size(); ++i) {
      RowChange& row = out_.rows[tested_[i].index];
      row.tail = tails[i];
      row.verdict = verdict_of(row);
    }
    const std::vector<double> totals = logarithms(rows_.total, rows_.per_sample);
    out_.spread = std::sqrt(groups_.squares(totals) / groups_.degrees());
    judge(out_.total, *estimate_group_difference(groups_.first(totals), groups_.second(totals)));
    out_.total.verdict = verdict_of(out_.total);
  }

  /// How much rows scatter from run to run by themselves, beyond what sampling explains.
  [[nodiscard]] double estimate_usual_variance() const {
    std::vector<double> beyond;
    for (const TestedRow& row : tested_) {
      beyond.push_back(std::max(0.0, groups_.squares(row.logs) / groups_.degrees() - row.sampling));
    }
    return compute_median(beyond);
  }

  [[nodiscard]] GroupDifference test(const TestedRow& row, double usual) const {
    if (tested_.size() <= kModeratedRows) {
      // Chance agreement of two or three runs would make anything certain: no row scatters
      // less than its samples do.
      GroupDifference welch =
          *estimate_group_difference(groups_.first(row.logs), groups_.second(row.logs));
      const double least = std::sqrt(row.sampling * groups_.reach());
      if (welch.standard_error < least) {
        welch.standard_error = least;
        welch.degrees_of_freedom = groups_.degrees();
      }
      return welch;
    }
    const double degrees = groups_.degrees() + kUsualDegrees;
    const double variance =
        (groups_.squares(row.logs) + kUsualDegrees * (row.sampling + usual)) / degrees;
    return {groups_.shift(row.logs), std::sqrt(variance * groups_.reach()), degrees};
  }

  /// One run a side: an interval by samples and the spread that runs usually have, no verdict.
  void estimate_untested() {
    out_.spread = options_.spread;
    out_.is_spread_assumed = true;
    const double between = options_.spread * options_.spread;
    const auto estimate = [&](RowChange& row, const std::vector<double>& logs, double sampling) {
      const double error = std::sqrt((sampling + between) * groups_.reach());
      constexpr double kMany = 1e6;  // a spread that is assumed is known
      judge(row, {groups_.shift(logs), error, kMany});
      row.tail = 1;
      row.verdict = ChangeVerdict::not_tested;
    };
    for (const TestedRow& tested : tested_) {
      estimate(out_.rows[tested.index], tested.logs, tested.sampling);
    }
    estimate(out_.total, logarithms(rows_.total, rows_.per_sample), sampling_variance(rows_.total));
  }

  const ComparedRows& rows_;
  Groups groups_;
  DifferenceOptions options_;
  Difference out_;
  std::vector<TestedRow> tested_;
  std::vector<double> factor_;  // by run, logarithms
  GroupDifference common_;
};

}  // namespace

Difference find_difference(const ComparedRows& rows, size_t base_runs,
                           const DifferenceOptions& options) {
  CHECK(base_runs > 0 && base_runs < rows.names.size());
  return Comparison(rows, base_runs, options).find();
}

bool is_above(const Difference& difference, double limit) {
  const auto exceeds = [&](const RowChange& row) {
    return row.verdict == ChangeVerdict::more && row.interval95 && row.interval95->low > limit;
  };
  if (exceeds(difference.total)) return true;
  if (difference.everything && exceeds(*difference.everything)) return true;
  const double least = kLeastTotalShare * std::max(difference.total.base, difference.total.now);
  return std::any_of(difference.rows.begin(), difference.rows.end(), [&](const RowChange& row) {
    return std::max(row.base, row.now) >= least && exceeds(row);
  });
}

}  // namespace culprit
