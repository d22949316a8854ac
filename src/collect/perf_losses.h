#pragma once

// What a finished recording lacks, for its ledger: samples that did not fit, CPU
// time that no sample stands for, the kernel where it may not be sampled.

#include <cstdint>
#include <optional>
#include <sys/resource.h>

#include "recording/recording.h"

namespace culprit {

struct PerfLosses {
  bool is_per_cpu = false;
  bool kernel_barred = false;  // not by the user's choice
  bool user_only = false;
  bool covers_all = true;  // no delay, no duration: the command as a whole
  uint64_t period_ns = 0;
  double sample_cost_ns = 0;    // taken out of each period
  std::optional<rusage> usage;  // of a command that has ended
};

/// CPU time that `samples` fall short of; 0 if they cover it, give or take chance (three
/// standard deviations of a Poisson count) and 1 %, what timers and interrupts eat.
/// Units:  cpu_ns [ns], samples [count], period_ns [ns/sample] -> [ns]
uint64_t estimate_unsampled_ns(uint64_t cpu_ns, uint64_t samples, uint64_t period_ns);

void add_losses(const PerfLosses& losses, bool records_others, std::optional<uint64_t> lost_samples,
                Recording& recording);

}  // namespace culprit
