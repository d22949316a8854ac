#include "validate/judge.h"

#include <algorithm>
#include <cmath>

#include "templates/quantities.h"

namespace culprit {
namespace {

constexpr double kStray = 0.01;  // a round
constexpr double kStrayPerInstruction = 0.002;
constexpr double kTooMuch = 1.25;  // of a kernel's cycles, that one branch may be charged

double find_expected(const Family& family, const char* quantity) {
  for (const Expectation& one : family.causes) {
    if (one.quantity == quantity) return (one.least + one.most) / 2;
  }
  return 0;
}

/// Cycles of the software PMU that only a cause of their own makes. The others (all, base, chains,
/// ports, starvation) are what each kernel has some of.
constexpr std::string_view kCausedCycles[] = {"sim:load-l2-cycles",
                                              "sim:load-l3-cycles",
                                              "sim:load-memory-cycles",
                                              "sim:load-other-core-clean-cycles",
                                              "sim:load-translation-cycles",
                                              "sim:load-other-core-modified-cycles",
                                              "sim:forward-refused-cycles",
                                              "sim:alias-cycles",
                                              "sim:bandwidth-cycles",
                                              "sim:divider-cycles",
                                              "sim:store-cycles",
                                              "sim:misprediction-cycles"};

bool is_open(const Family& family, const std::string& quantity) {
  return !is_told(quantity) ||
         std::find(family.open.begin(), family.open.end(), quantity) != family.open.end();
}

EventVerdict judge_event(const Family& family, const ValidatedEvent& event,
                         const EventCount& counted) {
  EventVerdict verdict{&event, 0, 0, counted, CountVerdict::not_counted};
  const auto cause =
      std::find_if(family.causes.begin(), family.causes.end(),
                   [&](const Expectation& one) { return one.quantity == event.quantity; });
  if (cause != family.causes.end()) {
    verdict.least = cause->least;
    verdict.most = cause->most;
  } else {
    verdict.most = kStray + kStrayPerInstruction * find_expected(family, "instructions");
  }
  if (!counted.per_round) return verdict;
  if (is_open(family, event.quantity)) {
    verdict.most = HUGE_VAL;
    verdict.verdict = CountVerdict::open;
  } else {
    // The difference of two lengths may be less than nothing by as much.
    const double least = verdict.least > 0 ? verdict.least : -verdict.most;
    const bool is_right = *counted.per_round >= least && *counted.per_round <= verdict.most;
    verdict.verdict = is_right ? CountVerdict::right : CountVerdict::wrong;
  }
  return verdict;
}

/// Two rows of a branch that count the same, or one that counts twice, charge it more than all
/// cycles.
void find_twice(FamilyVerdict& verdict) {
  if (!verdict.cycles_per_round) return;
  std::map<std::string, double> charged;
  for (const EventVerdict& one : verdict.events) {
    if (one.event->branch.empty() || !one.event->penalty || !one.counted.per_round) continue;
    charged[one.event->branch] += *one.counted.per_round * *one.event->penalty;
  }
  for (const auto& [branch, cycles] : charged) {
    if (cycles > kTooMuch * *verdict.cycles_per_round && cycles > verdict.charged_cycles) {
      verdict.twice = branch;
      verdict.charged_cycles = cycles;
    }
  }
}

/// How often the quantity occurred in each round, by the first of its events that was counted.
std::optional<double> find_count(const FamilyVerdict& verdict, const std::string& quantity) {
  for (const EventVerdict& one : verdict.events) {
    if (one.event->quantity == quantity && one.counted.per_round) return one.counted.per_round;
  }
  return std::nullopt;
}

void find_penalty(FamilyVerdict& verdict, const std::vector<FamilyVerdict>& all) {
  const Family& family = verdict.family;
  if (family.costs.empty() || !verdict.cycles_per_round) return;
  const auto reference = std::find_if(all.begin(), all.end(), [&](const FamilyVerdict& one) {
    return one.family.name == family.reference;
  });
  if (reference == all.end() || !reference->cycles_per_round) return;
  // What the family must cause stands in for what cannot be counted here.
  const double with =
      find_count(verdict, family.costs).value_or(find_expected(family, family.costs.c_str()));
  const double without = find_count(*reference, family.costs).value_or(0);
  if (!(with > without)) return;
  verdict.penalty = (*verdict.cycles_per_round - *reference->cycles_per_round) / (with - without);
}

}  // namespace

bool is_told(std::string_view quantity) {
  return (is_quantity(quantity) && quantity != "cycles") ||
         std::find(std::begin(kCausedCycles), std::end(kCausedCycles), quantity) !=
             std::end(kCausedCycles);
}

std::vector<FamilyVerdict> judge_families(const std::vector<Family>& families,
                                          const std::vector<ValidatedEvent>& events,
                                          const std::vector<FamilyCounts>& counts) {
  std::vector<FamilyVerdict> verdicts;
  for (size_t i = 0; i < families.size() && i < counts.size(); ++i) {
    FamilyVerdict verdict;
    verdict.family = families[i];
    verdict.cycles_per_round = counts[i].cycles_per_round;
    for (size_t k = 0; k < events.size() && k < counts[i].counts.size(); ++k) {
      verdict.events.push_back(judge_event(families[i], events[k], counts[i].counts[k]));
    }
    find_twice(verdict);
    verdicts.push_back(std::move(verdict));
  }
  for (FamilyVerdict& verdict : verdicts) find_penalty(verdict, verdicts);
  return verdicts;
}

std::vector<EventSummary> summarize_events(const std::vector<FamilyVerdict>& verdicts) {
  std::vector<EventSummary> all;
  for (const FamilyVerdict& verdict : verdicts) {
    for (size_t i = 0; i < verdict.events.size(); ++i) {
      if (all.size() <= i) all.emplace_back().event = verdict.events[i].event;
      EventSummary& summary = all[i];
      const EventVerdict& one = verdict.events[i];
      switch (one.verdict) {
        case CountVerdict::right:
          ++(one.is_caused() ? summary.caused_right : summary.zero_right);
          break;
        case CountVerdict::wrong:
          ++summary.wrong;
          break;
        case CountVerdict::not_counted:
          ++summary.not_counted;
          summary.reason = one.counted.reason;
          break;
        case CountVerdict::open:
          break;
      }
    }
  }
  return all;
}

}  // namespace culprit
