#include "scan/print_search.h"

#include <cmath>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"

namespace culprit::scan {
namespace {

constexpr size_t kMostSearchFailures = 6;

std::string format_ratio(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 10 ? 3 : 1);
}

std::string format_interval(const Interval& interval) {
  return format_ratio(interval.low) + " to " + format_ratio(interval.high);
}

std::string count_of(size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// Trials that can be chosen and are the first of their programs.
size_t count_programs(const SearchResult& result) {
  size_t count = 0;
  for (size_t i = 0; i < result.trials.size(); ++i) {
    if (result.trials[i].failure.empty() && result.trials[i].same_as == i) ++count;
  }
  return count;
}

/// A line of a setup file: `found = { cc = "g++-12", flags = "-O3" }`.
std::string setup_line(const Setup& setup) {
  std::string words;
  for (const Variable& one : setup.variables) {
    std::string quoted;
    for (const char c : one.value) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    words += fmt::format("{}{} = \"{}\"", words.empty() ? "" : ", ", one.name, quoted);
  }
  return "found = { " + words + " }";
}

/// Base is compared with itself: there is nothing to say.
Result<std::string> print_finalists(const SearchResult& result, const SearchSpace& space,
                                    const TextStyle& style) {
  TextColumn to_base{"against base", true, nullptr, 1, {}};
  TextColumn base_interval{"", false, nullptr, 2, {}};
  TextColumn to_best{"the best", true, nullptr, 2, {}};
  TextColumn best_interval{"", false, nullptr, 2, {}};
  TextColumn names{"changes", false, nullptr, 2, {}};
  for (const Finalist& one : result.finalists) {
    ASSIGN_OR_RETURN(const Setup setup, make_setup(space, result.trials[one.trial].levels));
    const bool is_base = one.trial == 0;
    const bool is_best = one.trial == result.finalists.front().trial;
    to_base.cells.push_back(is_base ? "1" : format_ratio(one.to_base.ratio));
    base_interval.cells.push_back(is_base ? "" : format_interval(one.to_base.interval95));
    to_best.cells.push_back(is_best ? "1" : format_ratio(one.to_best.ratio));
    best_interval.cells.push_back(is_best ? "" : format_interval(one.to_best.interval95));
    names.cells.push_back(printable(setup.name) + (one.trial == result.chosen ? "  <-" : ""));
  }
  return print_table({to_base, base_interval, to_best, best_interval, names}, style.width);
}

/// What each value does alone, by the first rounds.
Result<std::string> print_singles(const SearchResult& result, const SearchSpace& space,
                                  const TextStyle& style) {
  TextColumn value{"alone", false, nullptr, 1, {}};
  TextColumn time{"time", true, nullptr, 2, {}};
  TextColumn interval{"", false, nullptr, 2, {}};
  TextColumn count{"count", true, nullptr, 2, {}};
  for (size_t i = 1; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    if (count_changes(trial.levels) != 1) continue;
    ASSIGN_OR_RETURN(const Setup setup, make_setup(space, trial.levels));
    value.cells.push_back(printable(setup.name));
    const bool is_same = trial.same_as == 0 && trial.failure.empty();
    const auto ratio =
        estimate_time_ratio(result.trials[trial.same_as].timings, result.trials.front().timings, 0);
    time.cells.push_back(is_same ? "1" : ratio ? format_ratio(ratio->ratio) : "-");
    interval.cells.push_back(is_same                  ? "the same program"
                             : !trial.failure.empty() ? "fails"
                             : ratio                  ? format_interval(ratio->interval95)
                                                      : "");
    count.cells.push_back(
        !trial.failure.empty()
            ? "-"
            : format_ratio(std::exp(trial.log_count - result.trials.front().log_count)));
  }
  if (value.cells.empty()) return std::string();
  return print_table({value, time, interval, count}, style.width);
}

Result<std::string> print_failures(const SearchResult& result, const SearchSpace& space,
                                   const TextStyle& style) {
  std::string out;
  size_t failures = 0;
  for (const Trial& trial : result.trials) {
    if (trial.failure.empty() || ++failures > kMostSearchFailures) continue;
    ASSIGN_OR_RETURN(const Setup setup, make_setup(space, trial.levels));
    out += print_labelled(failures == 1 ? "Failed" : "",
                          printable(setup.name) + ": " + printable(trial.failure), style);
  }
  if (failures > kMostSearchFailures) {
    out += print_labelled("", fmt::format("and {} more", failures - kMostSearchFailures), style);
  }
  return out;
}

std::string tell_certainty(const SearchResult& result) {
  size_t as_good = 0;
  for (const Finalist& one : result.finalists) as_good += one.is_as_good ? 1 : 0;
  std::string out;
  if (as_good <= 1) {
    out = "one setup is the best: all others of the last rounds are slower";
  } else if (result.is_decided) {
    out = fmt::format("{} setups are as good as each other", as_good);
  } else {
    out = fmt::format("{} setups could not be told apart", as_good);
  }
  return out + (as_good > 1 ? "; <- marks the one that changes least of those whose median is as "
                              "good"
                            : "");
}

}  // namespace

Result<std::string> print_search_text(const SearchResult& result, const SearchSpace& space,
                                      const SearchSubject& subject, const TextStyle& style) {
  std::string out =
      fmt::format("time of an iteration of {}   median of {} rounds, interval of 95 %\n\n",
                  printable(subject.cells), result.rounds);
  ASSIGN_OR_RETURN(const std::string finalists, print_finalists(result, space, style));
  ASSIGN_OR_RETURN(const std::string singles, print_singles(result, space, style));
  ASSIGN_OR_RETURN(const Setup chosen, make_setup(space, result.trials[result.chosen].levels));
  ASSIGN_OR_RETURN(const std::string failures, print_failures(result, space, style));
  out += finalists + "\n" + singles + (singles.empty() ? "" : "\n");
  out += print_labelled("Sure", tell_certainty(result), style);
  out +=
      print_labelled("Tried",
                     fmt::format("{} of {:.0f} setups, {}, in {} runs and {:.0f} s; counts are {}",
                                 result.trials.size(), result.setups,
                                 count_of(count_programs(result), "program", "different programs"),
                                 result.runs, result.elapsed_s, subject.screen),
                     style);
  if (result.is_cut_short) {
    out += print_labelled("Limits",
                          "the limits ended the search before it had run out of ideas: "
                          "--max-runs, --max-minutes",
                          style);
  }
  return out + failures + print_labelled("Setup", printable(setup_line(chosen)), style);
}

Result<std::string> print_search_json(const SearchResult& result, const SearchSpace& space,
                                      const SearchSubject& subject) {
  const auto ratio = [](const TimeRatio& value) {
    return Json{
        {"ratio", value.ratio}, {"low", value.interval95.low}, {"high", value.interval95.high}};
  };
  const auto variables = [](const Setup& setup) {
    Json all = Json::object();
    for (const Variable& one : setup.variables) all[one.name] = one.value;
    return all;
  };
  Json trials = Json::array();
  for (const Trial& trial : result.trials) {
    ASSIGN_OR_RETURN(const Setup setup, make_setup(space, trial.levels));
    const auto time =
        estimate_time_ratio(result.trials[trial.same_as].timings, result.trials.front().timings, 0);
    Json one = {{"name", setup.name},
                {"variables", variables(setup)},
                {"same_as", trial.same_as},
                {"failure", trial.failure}};
    if (trial.failure.empty()) {
      one["count"] = std::exp(trial.log_count);
      if (time) one["time"] = ratio(*time);
    }
    trials.push_back(std::move(one));
  }
  Json finalists = Json::array();
  for (const Finalist& one : result.finalists) {
    finalists.push_back({{"trial", one.trial},
                         {"to_base", ratio(one.to_base)},
                         {"to_best", ratio(one.to_best)},
                         {"as_good", one.is_as_good}});
  }
  return dump({{"schema", "culprit-scan-search-1"},
               {"cells", subject.cells},
               {"screen", subject.screen},
               {"setups", result.setups},
               {"trials", std::move(trials)},
               {"finalists", std::move(finalists)},
               {"chosen", result.chosen},
               {"rounds", result.rounds},
               {"decided", result.is_decided},
               {"cut_short", result.is_cut_short},
               {"runs", result.runs},
               {"elapsed_s", result.elapsed_s}});
}

}  // namespace culprit::scan
