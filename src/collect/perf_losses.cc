#include "collect/perf_losses.h"

#include <algorithm>
#include <cmath>

#include "base/time.h"

namespace culprit {

uint64_t estimate_unsampled_ns(uint64_t cpu_ns, uint64_t samples, uint64_t period_ns) {
  const uint64_t sampled_ns = samples * period_ns;
  if (sampled_ns >= cpu_ns) return 0;
  const double expected = static_cast<double>(cpu_ns) / static_cast<double>(period_ns);
  const double chance_ns = 3 * std::sqrt(expected) * static_cast<double>(period_ns);
  const uint64_t missing_ns = cpu_ns - sampled_ns;
  const double tolerated_ns = chance_ns + static_cast<double>(cpu_ns) / 100;
  return static_cast<double>(missing_ns) > tolerated_ns ? missing_ns : 0;
}

void add_losses(const PerfLosses& losses, bool records_others, std::optional<uint64_t> lost_samples,
                Recording& recording) {
  Ledger& ledger = recording.profile.ledger;
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount > 0) ledger.add(kind, amount);
  };
  // LOST records count whatever did not fit; the kernel knows how much of it was samples.
  if (lost_samples && *lost_samples < recording.lost) {
    ledger.erase(ledger::kLostSamples);
    add(ledger::kLostSamples, *lost_samples);
    add(ledger::kLostRecords, recording.lost - *lost_samples);
    recording.lost = *lost_samples;
  }
  add(ledger::kSampleTime,
      static_cast<uint64_t>(losses.sample_cost_ns * static_cast<double>(recording.samples)));
  if (!losses.usage) return;
  const uint64_t kernel_ns = to_ns(losses.usage->ru_stime);
  if (losses.kernel_barred) add(ledger::kKernelNotSampled, kernel_ns);
  if (!losses.covers_all || records_others) return;
  const uint64_t cpu_ns =
      losses.user_only ? to_ns(losses.usage->ru_utime) : compute_cpu_ns(*losses.usage);
  add(ledger::kUnsampledTime,
      estimate_unsampled_ns(cpu_ns, recording.samples + recording.lost, losses.period_ns));
}

}  // namespace culprit
