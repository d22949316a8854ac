#pragma once

// Looking at the counts of a profile, for tests.

#include <cstdint>
#include <map>
#include <string>

#include "model/counts.h"
#include "model/profile.h"

namespace culprit {

/// {offset: sum} of one event in image 0.
inline std::map<uint64_t, Sum> counts_of(const Profile& profile, const std::string& name) {
  std::map<uint64_t, Sum> counts;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (profile.strings.text(profile.events[event].name) == name && at.image == ImageId(0u))
        counts[at.offset.value] += sum;
    });
  }
  return counts;
}

inline std::map<uint64_t, uint64_t> values_of(const Profile& profile, const std::string& name) {
  std::map<uint64_t, uint64_t> values;
  for (const auto& [at, sum] : counts_of(profile, name)) values[at] = sum.value;
  return values;
}

inline const Event* find_event(const Profile& profile, const std::string& name) {
  for (const Event& event : profile.events) {
    if (profile.strings.text(event.name) == name) return &event;
  }
  return nullptr;
}

}  // namespace culprit
