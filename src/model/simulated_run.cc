#include "model/simulated_run.h"

#include <algorithm>

namespace culprit {

bool is_simulated(const Profile& profile, const Run& run) {
  return std::any_of(run.labels.begin(), run.labels.end(), [&](const auto& label) {
    return profile.strings.text(label.first) == kEngineLabel &&
           profile.strings.text(label.second) == kSimulated;
  });
}

}  // namespace culprit
