#include "model/profile.h"

namespace culprit {

void clear_counts(Profile& profile) {
  profile.histograms.clear();
  profile.stack_counts.clear();
  profile.branch_counts.clear();
  profile.fall_throughs.clear();
  profile.memory_samples.clear();
  profile.counts.clear();
  profile.accesses.clear();
  profile.tenures.clear();
  profile.edges.clear();
  profile.region_values.clear();
}

}  // namespace culprit
