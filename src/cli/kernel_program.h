#pragma once

// culprit_kernels (validate/kernels), run: on this machine, and under the software PMU.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit {

struct KernelRun {
  std::string kernel;
  uint64_t rounds = 0;
  uint64_t bytes = 0;  // that it works on; 0: what is its own
};

/// Where the program is.
/// Errors: it is not beside this culprit
Result<std::string> find_kernel_program();

/// The words of a command that runs the kernel and prints nothing.
std::vector<std::string> make_kernel_command(const std::string& program, const KernelRun& run);

/// Runs it on this machine.
/// Units:  -> [ns of its thread on a CPU, for all rounds]
/// Errors: it cannot be started, or fails
Result<double> time_kernel(const std::string& program, const KernelRun& run);

}  // namespace culprit
