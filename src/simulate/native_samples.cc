#include "simulate/native_samples.h"

#include <fmt/format.h>
#include <set>

#include "base/text.h"
#include "model/counts.h"
#include "model/engine.h"

namespace culprit {
namespace {

/// Instructions that the simulator counted at least once.
std::set<Location> find_executed(const Profile& profile) {
  std::set<Location> executed;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum&) {
      const Event& what = profile.events[event];
      if (engine_of(profile, what) == Engine::simulate &&
          profile.strings.text(what.name) == "instructions") {
        executed.insert(at);
      }
    });
  }
  return executed;
}

}  // namespace

void NativeSamples::add(const Profile& part) {
  for (const Histogram& histogram : part.histograms) {
    const bool is_user = histogram.context.value < part.contexts.size() &&
                         part.contexts[histogram.context.value].mode == Mode::user;
    for_each_count(part, histogram, [&](const Location& at, size_t, const Sum& sum) {
      (is_user ? user_[at] : kernel_) += sum.samples;
    });
  }
}

JoinedSamples NativeSamples::join(const Profile& both) const {
  const std::set<Location> executed = find_executed(both);
  JoinedSamples joined;
  joined.kernel = kernel_;
  for (const auto& [at, samples] : user_) {
    (executed.contains(at) ? joined.simulated : joined.not_simulated) += samples;
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
