#include "report/row_estimates.h"

namespace culprit {

std::vector<Estimate> to_estimates(const Profile& profile, const std::vector<Value>& values) {
  std::vector<Estimate> estimates;
  estimates.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Event& event = profile.events[i];
    const bool is_unseen =
        event.provenance == Provenance::sampled && values[i].samples == 0 && values[i].value == 0;
    const double period = static_cast<double>(event.period) * event.scale;
    estimates.push_back({values[i].value, is_unseen ? period : values[i].error});
  }
  return estimates;
}

}  // namespace culprit
