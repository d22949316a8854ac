#include "simulate/native_samples.h"

#include <fmt/format.h>
#include <set>

#include "base/text.h"

namespace culprit {
void NativeSamples::add(const Profile& part) {
  for (const Histogram& histogram : part.histograms) {
    const size_t context = histogram.context.value;
    const bool is_user =
        context < part.contexts.size() && part.contexts[context].mode == Mode::user;
    for_each_count(part, histogram, [&](const Location& at, size_t, const Sum& sum) {
      (is_user ? user_[part.contexts[context].thread][at] : kernel_) += sum.samples;
    });
  }
}

JoinedSamples NativeSamples::join(const Profile& both) const {
  std::set<Location> executed;
  for_each_executed(both, [&](ThreadId, const Location& at) { executed.insert(at); });
  JoinedSamples joined;
  joined.kernel = kernel_;
  for (const auto& [thread, places] : user_) {
    for (const auto& [at, samples] : places) {
      (executed.contains(at) ? joined.simulated : joined.not_simulated) += samples;
    }
  }
  return joined;
}

std::string describe_joined(const JoinedSamples& samples) {
  const uint64_t all = samples.simulated + samples.not_simulated + samples.kernel;
  if (all == 0) return "the native run was too short for a sample: there is nothing to join";
  const auto percent = [all](uint64_t part) {
    return 100 * static_cast<double>(part) / static_cast<double>(all);
  };
  return fmt::format(
      "of {} samples of the native run {:.1f} % are on code that the simulated run did not count, "
      "{:.1f} % in the kernel, which is not simulated",
      format_thousands(all), percent(samples.not_simulated), percent(samples.kernel));
}

}  // namespace culprit
