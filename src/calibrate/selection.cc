#include "calibrate/selection.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "stats/robust.h"

namespace culprit {
namespace {

using simulate::MachineModel;

constexpr size_t kMostRuns = 5;       // of each kernel, in turn with the others
constexpr double kUnsteady = 0.25;    // middle half of a kernel's runs, of their median
constexpr double kGain = 0.01;        // of a kernel's time: less than runs can tell
constexpr double kMostHarm = 0.05;    // the same: what one kernel may lose for nothing
constexpr double kHarmOfGain = 0.33;  // and for what others win, as a part of that
constexpr double kSameFigure = 0.03;  // of its value before

/// A kernel, and what is known of it.
struct Judge {
  const CheckKernel* kernel = nullptr;
  CheckedKernel checked;
};

double error_of(double modelled, double measured) {
  return std::abs(std::log(modelled / measured));
}

bool depends(const CheckKernel& kernel, const Figure& figure) {
  const std::string key = figure.section + "." + figure.key;
  return std::find(kernel.keys.begin(), kernel.keys.end(), key) != kernel.keys.end();
}

std::string describe_change(const Judge& judge, double modelled) {
  return fmt::format("{} {:.2f} to {:.2f} of measured", judge.checked.name,
                     judge.checked.calibrated / judge.checked.measured,
                     modelled / judge.checked.measured);
}

class Selection {
 public:
  Selection(const MachineModel& machine, const KernelRuns& runs,
            const std::function<bool()>& is_interrupted)
      : runs_(runs), is_interrupted_(is_interrupted), machine_(machine) {}

  void measure(const std::vector<CheckKernel>& kernels, size_t runs,
               const std::function<void()>& step);
  Result<void> model_shipped(const std::function<void()>& step);
  Result<void> judge(Figure& figure);
  Result<void> judge_all(const MachineModel& shipped, std::vector<Figure>& figures);
  [[nodiscard]] std::vector<CheckedKernel> kernels() const;

 private:
  const KernelRuns& runs_;
  const std::function<bool()>& is_interrupted_;
  MachineModel machine_;  // with what is kept so far
  std::vector<Judge> judges_;
};

/// Interleaved, so that what disturbs for a while disturbs all of them. What scatters is no judge.
void Selection::measure(const std::vector<CheckKernel>& kernels, size_t runs,
                        const std::function<void()>& step) {
  std::vector<std::vector<double>> cycles(kernels.size());
  for (size_t run = 0; run < runs; ++run) {
    for (size_t i = 0; i < kernels.size() && !is_interrupted_(); ++i) {
      if (const std::optional<double> one = runs_.measure(kernels[i]); one && *one > 0) {
        cycles[i].push_back(*one);
      }
      step();
    }
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (cycles[i].size() != runs) continue;
    const Interval middle{compute_quantile(cycles[i], 0.25), compute_quantile(cycles[i], 0.75)};
    const double median = compute_median(cycles[i]);
    if (middle.high - middle.low > kUnsteady * median) continue;
    judges_.push_back({&kernels[i], {kernels[i].name, median, middle}});
  }
}

Result<void> Selection::model_shipped(const std::function<void()>& step) {
  for (Judge& judge : judges_) {
    if (is_interrupted_()) break;
    ASSIGN_OR_RETURN(judge.checked.shipped, runs_.model(*judge.kernel, machine_));
    judge.checked.calibrated = judge.checked.shipped;
    step();
  }
  std::erase_if(judges_, [](const Judge& judge) { return !(judge.checked.shipped > 0); });
  return {};
}

/// The figure is tried beside those that are kept, and left out, too.
Result<void> Selection::judge(Figure& figure) {
  if (std::abs(figure.value - figure.before) <= kSameFigure * std::abs(figure.before)) {
    figure.dropped = "as it was, but for 3 %";
    return {};
  }
  Figure alone = figure;
  alone.dropped.clear();
  ASSIGN_OR_RETURN(const MachineModel with, apply_figures(machine_, {alone}));
  double gain = 0;  // of all, and of those that win
  double won = 0;
  double most_harm = 0;
  double most_change = 0;
  std::string worst;
  std::map<Judge*, double> modelled;
  for (Judge& judge : judges_) {
    if (!depends(*judge.kernel, figure)) continue;
    ASSIGN_OR_RETURN(const double cycles, runs_.model(*judge.kernel, with));
    modelled[&judge] = cycles;
    const CheckedKernel& checked = judge.checked;
    const double better =
        error_of(checked.calibrated, checked.measured) - error_of(cycles, checked.measured);
    gain += better;
    won += std::max(0.0, better);
    most_change = std::max(most_change, error_of(cycles, checked.calibrated));
    if (-better > most_harm) {
      most_harm = -better;
      worst = describe_change(judge, cycles);
    }
  }
  if (modelled.empty()) {
    figure.dropped = "no steady kernel depends on it";
  } else if (most_change < kGain) {
    figure.dropped = "it changes no kernel";
  } else if (most_harm > std::max(kMostHarm, kHarmOfGain * won)) {
    figure.dropped = "a kernel is worse: " + worst;
  } else if (gain < kGain) {
    figure.dropped = "no kernel is better" + (worst.empty() ? "" : ": " + worst);
  } else {
    figure.dropped.clear();
    machine_ = with;
    for (const auto& [judge, cycles] : modelled) judge->checked.calibrated = cycles;
  }
  return {};
}

/// Figures were judged by the kernels that they are said to change; this is all of them.
Result<void> Selection::judge_all(const MachineModel& shipped, std::vector<Figure>& figures) {
  double gain = 0;
  for (Judge& judge : judges_) {
    CheckedKernel& checked = judge.checked;
    ASSIGN_OR_RETURN(checked.calibrated, runs_.model(*judge.kernel, machine_));
    gain += error_of(checked.shipped, checked.measured) -
            error_of(checked.calibrated, checked.measured);
  }
  if (gain >= 0) return {};
  machine_ = shipped;
  for (Figure& figure : figures) {
    if (figure.is_kept()) figure.dropped = "all that was kept, together, is worse on all kernels";
  }
  for (Judge& judge : judges_) judge.checked.calibrated = judge.checked.shipped;
  return {};
}

std::vector<CheckedKernel> Selection::kernels() const {
  std::vector<CheckedKernel> all;
  for (const Judge& judge : judges_) all.push_back(judge.checked);
  return all;
}

}  // namespace

Result<MachineModel> apply_figures(const MachineModel& machine,
                                   const std::vector<Figure>& figures) {
  MachineModel changed = machine;
  for (const Figure& figure : figures) {
    if (!figure.is_kept()) continue;
    const std::string text =
        fmt::format("[{}]\n{} = {}\n", figure.section, figure.key, figure.value);
    ASSIGN_OR_RETURN(changed, simulate::parse_machine(text, "a figure of calibrate", changed));
  }
  return changed;
}

Result<void> select_figures(const MachineModel& machine, const std::vector<CheckKernel>& kernels,
                            const KernelRuns& runs, const std::function<bool()>& is_interrupted,
                            const std::function<void(double done)>& progress,
                            Calibration& calibration) {
  const size_t kernel_runs = std::clamp<size_t>(calibration.rounds, 1, kMostRuns);
  // A figure takes about as long as two kernels' models.
  const auto steps =
      static_cast<double>(kernels.size() * (kernel_runs + 2) + 2 * calibration.figures.size());
  double done = 0;
  const auto step = [&] { progress(std::min(1.0, ++done / steps)); };
  Selection selection(machine, runs, is_interrupted);
  selection.measure(kernels, kernel_runs, step);
  RETURN_IF_ERROR(selection.model_shipped(step));
  std::vector<Figure*> left;
  for (Figure& figure : calibration.figures) {
    if (figure.is_kept()) left.push_back(&figure);
  }
  for (int pass = 0; pass < 2; ++pass) {
    bool is_any_kept = false;
    for (Figure* const figure : left) {
      if (is_interrupted()) break;
      RETURN_IF_ERROR(selection.judge(*figure));
      is_any_kept |= figure->is_kept();
      step();
    }
    std::erase_if(left, [](const Figure* figure) { return figure->is_kept(); });
    if (!is_any_kept) break;
  }
  if (!is_interrupted()) RETURN_IF_ERROR(selection.judge_all(machine, calibration.figures));
  if (is_interrupted()) calibration.is_complete = false;
  calibration.kernels = selection.kernels();
  return {};
}

double compute_kernel_error(const std::vector<CheckedKernel>& kernels,
                            double CheckedKernel::* modelled) {
  std::vector<double> errors;
  errors.reserve(kernels.size());
  for (const CheckedKernel& kernel : kernels) {
    errors.push_back(std::abs(kernel.*modelled / kernel.measured - 1));
  }
  return compute_median(errors);
}

}  // namespace culprit
