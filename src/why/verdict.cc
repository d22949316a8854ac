#include "why/verdict.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "accounting/advice.h"
#include "base/text.h"
#include "stats/estimate.h"
#include "why/why_parts.h"

namespace culprit {
namespace {

constexpr double kMostOfTheTime = 2.0 / 3;

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// The branch that has most cycles beside `first`; ports are busy in good programs, too.
const CostNode* find_second(const CostTree& tree, const CostNode& first) {
  const CostNode* second = nullptr;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      const bool counts = branch.kind == NodeKind::branch && branch.cycles && &branch != &first &&
                          branch.branch != CostBranch::port_saturation;
      if (!counts) continue;
      if (second == nullptr || branch.cycles->value > second->cycles->value) second = &branch;
    }
  }
  return second;
}

/// Samples that sampled cycles are of, by their error: that of a Poisson count. nullopt: counted.
std::optional<double> count_samples(const CostNode& unhalted) {
  if (!unhalted.cycles || !(unhalted.cycles->standard_error > 0)) return std::nullopt;
  return std::pow(unhalted.cycles->value / unhalted.cycles->standard_error, 2);
}

/// How much of the time measured in user code a simulated run has that was cut short [0 to 1].
double find_simulated_share(const MeasuredCycles& measured) {
  const double user = measured.measured.value - measured.kernel.value;
  return user > 0 ? std::min(1.0, measured.modelled.value / user) : 0;
}

std::string describe_few(double samples) {
  return fmt::format("{:.0f} samples are too few for a verdict on time ({} are the least)", samples,
                     kLeastSamples);
}

/// ", of them 49 % in variants ..."; "" if the simulated run executed all that was sampled.
std::string describe_other_code(const MeasuredCycles& measured) {
  const OtherCode& other = measured.other;
  const auto samples = static_cast<double>(measured.samples);
  const auto share = [&](uint64_t part) { return percent(static_cast<double>(part), samples); };
  std::string text;
  if (other.variants > 0) {
    text += fmt::format(
        ", of them {:.1f} % in variants of {} that only this CPU chooses, taken together with "
        "those "
        "that were simulated",
        share(other.variants), printable(fmt::format("{}", fmt::join(other.families, ", "))));
  }
  constexpr double kWorthSaying = 0.05;  // percent
  if (share(other.not_executed) >= kWorthSaying) {
    text += fmt::format("{} {:.1f} % in functions that were not simulated",
                        text.empty() ? ", of them" : " and", share(other.not_executed));
  }
  return text;
}

std::string describe_fit(const MeasuredCycles& measured) {
  const ModelFit& fit = measured.fit;
  constexpr double kWorthSaying = 1;  // percent
  const double whole = measured.measured.value;
  const double within = 100 * kLargestMisfit;
  std::string words =
      fit.judged == 0
          ? "no function has enough of them to judge the model by"
          : fmt::format(
                "the model is within {:.0f} % in functions of {:.0f} % of the time that could be "
                "judged",
                within, percent(fit.fitting, fit.judged));
  if (fit.judged == 0 && fit.together == 0) return words;
  if (percent(fit.together, whole) >= kWorthSaying) {
    const std::string judged =
        fit.judged == 0
            ? ""
            : fmt::format(" function by function ({:.0f} % of all)", percent(fit.judged, whole));
    words += fmt::format(
        "{}; functions with {:.0f} % of the time, of few samples each, were "
        "judged by their sum alone, which is {}within {:.0f} %",
        judged, percent(fit.together, whole), fit.together_fits ? "" : "not ", within);
  }
  return fmt::format("{}; it lacks {:.0f} % of the time and has {:.0f} % too much", words,
                     percent(fit.missing, whole), percent(fit.excess, whole));
}

Verdict of_hardware(const VerdictInput& input, const CostNode& first) {
  const CostTree& tree = input.tree;
  const std::optional<double> samples = count_samples(tree.unhalted);
  if (samples && *samples < static_cast<double>(kLeastSamples)) {
    return {Certainty::none, &first, nullptr, describe_few(*samples)};
  }
  if (tree.unexplained && tree.unexplained->value > first.cycles->value) {
    return {Certainty::none, &first, nullptr,
            "more stalled cycles are in no branch than in any one"};
  }
  const RuleResult* const broken =
      input.rules == nullptr ? nullptr : find_broken_rule(*input.rules, first);
  if (broken != nullptr) {
    return {Certainty::candidate, &first, nullptr,
            fmt::format("its events contradict each other: {} are {:.0f} % apart",
                        printable(broken->rule->name), 100 * broken->difference)};
  }
  return {Certainty::firm, &first, nullptr, ""};
}

/// What model and measurement differ by need not be the model's fault.
const char* blame_others(const VerdictInput& input) {
  return input.others_ran ? ", though others kept the CPUs busy meanwhile" : "";
}

Verdict of_cut_run(const VerdictInput& input, const CostNode* first) {
  const double share = find_simulated_share(*input.measured);
  const std::string reason = fmt::format(
      "the simulated run was ended by {} when it had {:.2g} % of the cycles of user code",
      printable(*input.cut), 100 * share);
  if (has_most_of_a_cut_run(*input.measured)) return {Certainty::candidate, first, nullptr, reason};
  return {Certainty::none, nullptr, nullptr,
          reason + ": of the rest nothing is known; " +
              (share > 0.001 ? fmt::format("at that pace the whole takes {:.0f} times as long: let "
                                           "it run so long, or give it less to do",
                                           1 / share)
                             : "let it run longer, or give it less to do")};
}

Verdict of_model(const VerdictInput& input, const CostNode& first) {
  const CostTree& tree = input.tree;
  const MeasuredCycles& measured = *input.measured;
  const ModelFit& fit = measured.fit;
  const double cycles = first.cycles->value;
  const double whole = measured.measured.value;
  if (measured.samples < kLeastSamples) {
    return {Certainty::none, &first, nullptr, describe_few(static_cast<double>(measured.samples))};
  }
  if (input.kernel == nullptr && measured.kernel.value > cycles) {
    return {Certainty::none, &first, nullptr,
            fmt::format("{:.0f} % of the time is in the kernel, which is not simulated",
                        percent(measured.kernel.value, whole))};
  }
  // What hides behind other costs saves more than it has.
  const double saved = input.chosen ? input.chosen->gain.expected * whole : 0;
  if (fit.missing > std::max(cycles, saved)) {
    return {Certainty::none, &first, nullptr,
            fmt::format("{:.0f} % of the time is unexplained, more than {} has{}",
                        percent(fit.missing, whole), printable(first.label), blame_others(input))};
  }
  const bool is_few = fit.fitting >= kMostOfTheTime * fit.judged &&
                      fit.fitting < kMostOfTheTime * (fit.judged + fit.together);
  if (is_few) {
    return {Certainty::candidate, &first, nullptr,
            fmt::format("functions of {:.0f} % of the time have too few samples each to judge the "
                        "model by{}",
                        percent(fit.together, whole), blame_others(input))};
  }
  if (fit.fitting < kMostOfTheTime * fit.judged || fit.judged == 0) {
    return {Certainty::candidate, &first, nullptr,
            fmt::format("model and measurement differ by more than {:.0f} % in functions of {:.0f} "
                        "% of the time{}",
                        100 * kLargestMisfit, percent(fit.judged - fit.fitting, whole),
                        blame_others(input))};
  }
  const CostNode* const second = find_second(tree, first);
  const double chance = second == nullptr ? 0
                                          : kNormal95 * std::hypot(first.cycles->standard_error,
                                                                   second->cycles->standard_error);
  if (second != nullptr && cycles - second->cycles->value < fit.missing + fit.excess + chance) {
    return {
        Certainty::candidate, &first, nullptr,
        fmt::format("by what model and measurement differ{}, it may as well be {}",
                    chance > 0 ? ", and the errors of the windows" : "", printable(second->label))};
  }
  if (input.chosen && input.chosen->gain.low < kLeastForecast) {
    const GainForecast& gain = input.chosen->gain;
    return {Certainty::candidate, &first, nullptr,
            fmt::format("without it the simulated core saves {:.0f} % ({:.0f} to {:.0f} %): what "
                        "else is slow may take its place",
                        100 * gain.expected, 100 * gain.low, 100 * gain.high)};
  }
  return {Certainty::firm, &first, nullptr, ""};
}

/// What the change of one thing does away with needs no model.
Verdict of_experiment(const VerdictInput& input) {
  const BranchGain& chosen = *input.chosen;
  if (input.others_ran) {
    return {Certainty::candidate, chosen.branch, nullptr,
            "an experiment says so, though others kept the CPUs busy meanwhile"};
  }
  return {Certainty::firm, chosen.branch, nullptr, ""};
}

/// The share of everything's time that code has whose costs are not known: user code that was only
/// sampled, and what a model lacks but for the time around the work's calls [0 to 1].
double find_unknown(const VerdictInput& input, const KernelPart& work) {
  const double in_kernel = input.kernel->share.value;
  if (input.measured && input.measured->measured.value > 0) {
    const double missing = input.measured->fit.missing / input.measured->measured.value;
    return std::max(0.0, missing - work.around.value);
  }
  const bool has_branches = find_second(input.tree, input.tree.unhalted) != nullptr;
  return has_branches ? 0 : std::max(0.0, 1 - in_kernel);
}

/// The largest work of the kernel that a programmer can do something about.
const KernelPart* find_largest_work(const KernelTime& kernel) {
  const auto found = std::ranges::find_if(
      kernel.parts, [](const KernelPart& part) { return !part.kind->advice.empty(); });
  return found == kernel.parts.end() ? nullptr : &*found;
}

/// The branch's share of the same whole as the shares of the kernel's work [0 to 1].
double share_of(const CostNode& branch, const VerdictInput& input) {
  if (input.chosen && input.chosen->was_tried) return input.chosen->gain.expected;
  const double whole = input.measured               ? input.measured->measured.value
                       : input.tree.unhalted.cycles ? input.tree.unhalted.cycles->value
                                                    : 0;
  return whole > 0 && branch.cycles ? branch.cycles->value / whole : 0;
}

std::string describe_unknown(double share, double unknown) {
  return fmt::format("it has {:.0f} % of the time; what takes {:.0f} % in user code is not known",
                     100 * share, 100 * unknown);
}

std::optional<Verdict> of_kernel(const VerdictInput& input, const CostNode* first) {
  constexpr double kMuch = 0.1;
  if (input.kernel == nullptr) return std::nullopt;
  const KernelPart* const work = find_largest_work(*input.kernel);
  if (work == nullptr || work->share.value < kMuch) return std::nullopt;
  if (first != nullptr && share_of(*first, input) >= work->share.value) return std::nullopt;
  const auto verdict = [&](Certainty certainty, std::string reason) {
    return Verdict{certainty, nullptr, work, std::move(reason)};
  };
  if (input.kernel->samples < kLeastSamples) {
    return verdict(Certainty::none, describe_few(static_cast<double>(input.kernel->samples)));
  }
  if (!input.kernel->has_stacks) {
    return verdict(Certainty::candidate,
                   "the kernel's innermost functions say so; call stacks were not recorded");
  }
  const double unknown = find_unknown(input, *work);
  if (unknown > work->share.value) {
    return verdict(Certainty::candidate, describe_unknown(work->share.value, unknown));
  }
  return verdict(Certainty::firm, "");
}

/// The share of everything's time that code beside the library's has whose costs are not known, at
/// least: what is missing may be the library's own first [0 to 1].
double find_unknown_beside(const VerdictInput& input, const LibraryPart& part) {
  const double in_kernel = input.kernel == nullptr ? 0 : input.kernel->share.value;
  const bool has_branches = find_second(input.tree, input.tree.unhalted) != nullptr;
  double unknown = has_branches ? 0 : 1 - in_kernel;
  if (input.measured && input.measured->measured.value > 0) {
    unknown = input.measured->fit.missing / input.measured->measured.value;
  }
  return std::max(0.0, unknown - part.share.value);
}

std::optional<Verdict> of_library(const VerdictInput& input, const CostNode* first) {
  constexpr double kMuch = 0.2;
  const LibraryPart* const part = input.library;
  if (part == nullptr || part->share.value < kMuch) return std::nullopt;
  if (first != nullptr && share_of(*first, input) >= part->share.value) return std::nullopt;
  if (input.kernel != nullptr) {
    const KernelPart* const work = find_largest_work(*input.kernel);
    if (work != nullptr && work->share.value >= part->share.value) return std::nullopt;
  }
  Verdict verdict;
  verdict.library = part;
  verdict.certainty = Certainty::firm;
  if (part->all_samples < kLeastSamples) {
    verdict.certainty = Certainty::none;
    verdict.reason = describe_few(static_cast<double>(part->all_samples));
  } else if (const double unknown = find_unknown_beside(input, *part);
             unknown > part->share.value) {
    verdict.certainty = Certainty::candidate;
    verdict.reason = describe_unknown(part->share.value, unknown);
  }
  return verdict;
}

std::optional<Verdict> of_waiting(const WaitingTime* time) {
  const WaitKind* const kind = time == nullptr ? nullptr : find_what_holds_up(*time);
  if (kind == nullptr) return std::nullopt;
  Verdict verdict;
  verdict.certainty = explains_idle_time(*time, *kind) ? Certainty::firm : Certainty::candidate;
  verdict.waiting = kind;
  if (verdict.certainty != Certainty::firm)
    verdict.reason = "threads wait for several things at once";
  return verdict;
}

/// The largest cost of all, however small, and that of ports, too; nullptr: no branch has a cost.
const CostNode* find_any_largest(const CostTree& tree) {
  const CostNode* largest = nullptr;
  for (const CostNode& level : tree.unhalted.parts) {
    for (const CostNode& branch : level.parts) {
      if (branch.kind != NodeKind::branch || !branch.cycles || !(branch.cycles->value > 0))
        continue;
      if (largest == nullptr || branch.cycles->value > largest->cycles->value) largest = &branch;
    }
  }
  return largest;
}

/// Whether it is known of any branch what it costs, but of ports, which any cycles tell.
bool knows_any_cost(const CostTree& tree) {
  return std::ranges::any_of(tree.unhalted.parts, [](const CostNode& level) {
    return std::ranges::any_of(level.parts, [](const CostNode& branch) {
      return branch.kind == NodeKind::branch && branch.cycles &&
             branch.branch != CostBranch::port_saturation;
    });
  });
}

Verdict of_nothing_large(const Template& cpu, const VerdictInput& input) {
  const CostNode* const largest = find_any_largest(input.tree);
  const bool has_cycles = input.tree.unhalted.cycles.has_value();
  const bool has_costs = knows_any_cost(input.tree);
  if (largest == nullptr || !has_cycles || !has_costs) {
    const bool is_time = !cpu.is_simulated && cpu.name.empty();
    return {Certainty::none, nullptr, nullptr,
            is_time       ? "samples of time alone do not tell what user code waits for"
            : !has_cycles ? "no cycles were counted"
            : !has_costs  ? "of what this template asks for no event was recorded that tells a cost"
                          : "no branch has a tenth of the cycles"};
  }
  const double share = 100 * share_of(*largest, input);
  if (largest->branch == CostBranch::port_saturation) {
    return {Certainty::none, nullptr, nullptr,
            fmt::format("nothing holds the code up much; its instructions keep ports busy for "
                        "{:.1f} % of the cycles: fewer, or wider ones, take less time",
                        share)};
  }
  return {Certainty::none, nullptr, nullptr,
          fmt::format("no branch has a tenth of the cycles; {} has most, {:.1f} %",
                      printable(largest->label), share)};
}

/// "; machine host: core of zen4, calibrated 2026-11-25"; "" of profiles without a machine.
std::string describe_machine_model(const Profile& profile) {
  const auto find = [&](const char* key) {
    const auto found = profile.environment.find(key);
    return found == profile.environment.end() ? std::string() : printable(found->second);
  };
  const std::string machine = find("simulate.machine");
  if (machine.empty()) return "";
  std::string text = "; machine " + machine;
  const std::string core = find("simulate.core");
  const bool has_own_caches = find("simulate.caches").empty();
  if (!core.empty()) text += (has_own_caches ? ": core of " : ": core and caches of ") + core;
  const std::string date = find("simulate.calibrated");
  if (machine == "host") text += date.empty() ? ", not calibrated" : ", calibrated " + date;
  return text;
}

Verdict choose_verdict(const Template& cpu, const VerdictInput& input) {
  if (std::optional<Verdict> verdict = of_waiting(input.waiting)) return *std::move(verdict);
  const CostNode* const first =
      input.chosen ? input.chosen->branch : find_largest_branch(input.tree);
  if (const std::optional<Verdict> verdict = of_library(input, first)) return *verdict;
  if (const std::optional<Verdict> verdict = of_kernel(input, first)) return *verdict;
  const bool is_cut = input.cut != nullptr && cpu.is_simulated && input.measured;
  if (is_cut) return of_cut_run(input, first);
  if (first == nullptr) return of_nothing_large(cpu, input);
  if (!cpu.is_simulated) return of_hardware(input, *first);
  if (!input.measured) {
    return {Certainty::candidate, first, nullptr,
            "no time was measured beside the model: its fit is not known"};
  }
  if (input.chosen && input.chosen->was_tried) return of_experiment(input);
  return of_model(input, *first);
}

}  // namespace

bool has_most_of_a_cut_run(const MeasuredCycles& measured) {
  return find_simulated_share(measured) >= 0.5;
}

Verdict find_verdict(const Template& cpu, const VerdictInput& input) {
  Verdict verdict = choose_verdict(cpu, input);
  if (input.chosen && verdict.branch == input.chosen->branch) verdict.gain = input.chosen->gain;
  return verdict;
}

const char* certainty_name(Certainty certainty) {
  switch (certainty) {
    case Certainty::none:
      return "none";
    case Certainty::candidate:
      return "candidate";
    case Certainty::firm:
      return "firm";
  }
  return "none";
}

std::string describe_basis(const Profile& profile, const Template& cpu, const CostTree& tree,
                           const std::optional<MeasuredCycles>& measured) {
  if (!measured && cpu.is_simulated && has_no_cycles(tree))
    return "executions that were counted; no costs";
  std::string text;
  if (measured) {
    text = format_thousands(measured->samples) + " samples" + describe_other_code(*measured) +
           "; " + describe_fit(*measured);
  } else if (const auto samples = count_samples(tree.unhalted); samples && cpu.is_simulated) {
    text = fmt::format("a model alone, in windows: cycles +- {:.1f} %",
                       100 * kNormal95 / std::sqrt(*samples));
  } else if (samples) {
    text =
        fmt::format("{} samples", format_thousands(static_cast<uint64_t>(std::llround(*samples))));
  } else {
    text = cpu.is_simulated ? "a model alone" : "counts of whole runs";
  }
  text += describe_machine_model(profile);
  const bool is_validated = !cpu.validated_by.empty();
  return text + (is_validated ? "; costs validated by " + printable(cpu.validated_by)
                              : "; costs not validated on hardware");
}

}  // namespace culprit
