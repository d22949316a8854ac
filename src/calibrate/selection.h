#pragma once

// Which of the measured figures make the model better, by kernels that no figure was made of.
//
//     start: the machine as it was shipped
//     each figure in turn: the model of the kernels that depend on it, with it and without it
//         nearer to what was measured, and none loses a third of what others win  → it stays
//         else                                                        → dropped, with the reason
//     once more those that were dropped: some help only beside others
//     all kernels: if all that stayed, together, is no better, nothing stays
//
// A figure that no kernel can tell from what the machine had is dropped, too: nobody could say
// whether it is right.

#include <functional>

#include "calibrate/calibrate.h"
#include "calibrate/check_kernels.h"

namespace culprit {

/// Sets `dropped` of figures and `kernels`.
/// Units:  kernels in cycles a round
/// Errors: a kernel cannot be modelled
Result<void> select_figures(const simulate::MachineModel& machine,
                            const std::vector<CheckKernel>& kernels, const KernelRuns& runs,
                            const std::function<bool()>& is_interrupted,
                            const std::function<void(double done)>& progress,
                            Calibration& calibration);

/// The machine with the figures that are kept.
/// Errors: as parse_machine()
Result<simulate::MachineModel> apply_figures(const simulate::MachineModel& machine,
                                             const std::vector<Figure>& figures);

/// Median of |model / measured - 1| over kernels.
/// Units:  -> [0 to 1 and above]
double compute_kernel_error(const std::vector<CheckedKernel>& kernels,
                            double CheckedKernel::* modelled);

}  // namespace culprit
