#pragma once

// A profile opened for reading: its counts, and the facts of its images, which are read when they
// are first asked for. Several threads may ask one view at once.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "model/context_filter.h"
#include "model/profile.h"
#include "session/facts_cache.h"
#include "store/fact_parts.h"

namespace culprit {

class ProfileView {
 public:
  /// So much of facts is kept for questions to come.
  static constexpr uint64_t kFactsLimitBytes = uint64_t{512} << 20;

  /// With the counts that the filters let through.
  static Result<ProfileView> open(const std::string& path,
                                  const std::vector<ContextFilter>& filters = {},
                                  uint64_t facts_limit_bytes = kFactsLimitBytes);

  /// A view of a profile that is in no file. Call stacks beside its counts are joined to them.
  static ProfileView of(std::unique_ptr<Profile> profile, ReadFacts read,
                        uint64_t facts_limit_bytes = kFactsLimitBytes);

  [[nodiscard]] const Profile& profile() const { return *profile_; }

  /// The facts by image, with at least `parts` of them; damaged ones count as absent, and problem()
  /// tells. What a lookup gave is valid until it, and every copy of it, is gone; the view must
  /// outlive them. One thread at a time may use a lookup: each asks for its own.
  [[nodiscard]] FactsLookup facts(FactParts parts) const;
  [[nodiscard]] std::string problem() const { return cache_->problem(); }

 private:
  ProfileView(std::unique_ptr<const Profile> profile, std::unique_ptr<FactsCache> cache)
      : profile_(std::move(profile)), cache_(std::move(cache)) {}

  std::unique_ptr<const Profile> profile_;
  std::unique_ptr<FactsCache> cache_;
};

}  // namespace culprit
