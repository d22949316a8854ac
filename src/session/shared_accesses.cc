#include "session/shared_accesses.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "locality/objects.h"

namespace culprit {
namespace {

bool is_of_accesses(std::string_view event) {
  constexpr std::string_view kEvents[] = {"L1-dcache-loads", "L1-dcache-stores", "fp-loads",
                                          "fp-stores",       "load-bytes",       "store-bytes"};
  return std::find(std::begin(kEvents), std::end(kEvents), event) != std::end(kEvents);
}

}  // namespace

std::optional<Profile> with_exact_accesses(const Profile& profile) {
  if (!has_objects(profile)) return std::nullopt;
  std::vector<bool> are_shared(profile.events.size());
  for (size_t i = 0; i < profile.events.size(); ++i) {
    const Event& event = profile.events[i];
    are_shared[i] = event.provenance == Provenance::sampled &&
                    profile.strings.text(event.engine) == "simulate" &&
                    is_of_accesses(profile.strings.text(event.name));
  }
  if (std::find(are_shared.begin(), are_shared.end(), true) == are_shared.end()) {
    return std::nullopt;
  }
  Profile exact = profile;
  for (size_t i = 0; i < are_shared.size(); ++i) {
    if (are_shared[i]) exact.events[i].provenance = Provenance::counted;
  }
  for (Histogram& histogram : exact.histograms) {
    for (EventColumn& column : histogram.columns) {
      const size_t event = column.event.value;
      if (event < are_shared.size() && are_shared[event]) column.variance.clear();
    }
  }
  return exact;
}

}  // namespace culprit
