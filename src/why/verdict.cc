#include "why/verdict.h"

#include <cmath>
#include <fmt/format.h>

#include "accounting/advice.h"
#include "base/text.h"

namespace culprit {
namespace {

constexpr double kMostOfTheTime = 2.0 / 3;
constexpr double kLeastGain = 0.02;  // of the time: a repair that saves less is none

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

std::string describe_few(double samples) {
  return fmt::format("{:.0f} samples are too few for a verdict on time ({} are the least)", samples,
                     kLeastSamples);
}

std::string describe_fit(const MeasuredCycles& measured) {
  const ModelFit& fit = measured.fit;
  if (fit.judged == 0) return "no function has enough of them to judge the model by";
  return fmt::format(
      "the model is within {:.0f} % in functions of {:.0f} % of the time that could be judged; it "
      "lacks {:.0f} % of the time and has {:.0f} % too much",
      100 * kLargestMisfit, percent(fit.fitting, fit.judged),
      percent(fit.missing, measured.measured.value), percent(fit.excess, measured.measured.value));
}

Verdict of_hardware(const CostTree& tree, const CostNode& first) {
  const std::optional<double> samples = count_samples(tree.unhalted);
  if (samples && *samples < static_cast<double>(kLeastSamples)) {
    return {Certainty::none, &first, describe_few(*samples)};
  }
  if (tree.unexplained && tree.unexplained->value > first.cycles->value) {
    return {Certainty::none, &first, "more stalled cycles are in no branch than in any one"};
  }
  return {Certainty::firm, &first, ""};
}

Verdict of_model(const CostTree& tree, const CostNode& first, const MeasuredCycles& measured,
                 const GainForecast* gain) {
  const ModelFit& fit = measured.fit;
  const double cycles = first.cycles->value;
  const double whole = measured.measured.value;
  if (measured.samples < kLeastSamples) {
    return {Certainty::none, &first, describe_few(static_cast<double>(measured.samples))};
  }
  if (measured.kernel.value > cycles) {
    return {Certainty::none, &first,
            fmt::format("{:.0f} % of the time is in the kernel, which is not simulated",
                        percent(measured.kernel.value, whole))};
  }
  if (fit.missing > cycles) {
    return {Certainty::none, &first,
            fmt::format("{:.0f} % of the time is unexplained, more than any branch has",
                        percent(fit.missing, whole))};
  }
  if (fit.fitting < kMostOfTheTime * fit.judged || fit.judged == 0) {
    return {Certainty::candidate, &first,
            fmt::format("model and measurement differ by more than {:.0f} % in functions of {:.0f} "
                        "% of the time",
                        100 * kLargestMisfit, percent(fit.judged - fit.fitting, whole))};
  }
  const CostNode* const second = find_second(tree, first);
  if (second != nullptr && cycles - second->cycles->value < fit.missing + fit.excess) {
    return {Certainty::candidate, &first,
            fmt::format("by what model and measurement differ, it may as well be {}",
                        printable(second->label))};
  }
  if (gain != nullptr && gain->low < kLeastGain) {
    return {Certainty::candidate, &first,
            fmt::format("without it the simulated core saves {:.0f} % ({:.0f} to {:.0f} %): what "
                        "else is slow may take its place",
                        100 * gain->expected, 100 * gain->low, 100 * gain->high)};
  }
  return {Certainty::firm, &first, ""};
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
  if (!core.empty()) text += ": core of " + core;
  const std::string date = find("simulate.calibrated");
  if (machine == "host") text += date.empty() ? ", not calibrated" : ", calibrated " + date;
  return text;
}

}  // namespace

Verdict find_verdict(const Template& cpu, const CostTree& tree,
                     const std::optional<MeasuredCycles>& measured,
                     const std::optional<BranchGain>& chosen) {
  const CostNode* const first = chosen ? chosen->branch : find_largest_branch(tree);
  if (first == nullptr) return {Certainty::none, nullptr, "no branch has a tenth of the cycles"};
  if (!cpu.is_simulated) return of_hardware(tree, *first);
  if (!measured) {
    return {Certainty::candidate, first,
            "no time was measured beside the model: its fit is not known"};
  }
  return of_model(tree, *first, *measured, chosen ? &chosen->gain : nullptr);
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
  std::string text;
  if (measured) {
    text = format_thousands(measured->samples) + " samples; " + describe_fit(*measured);
  } else if (const std::optional<double> samples = count_samples(tree.unhalted)) {
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
