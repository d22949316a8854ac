#pragma once

// A profile opened for reading: its counts, and the facts of its images, which
// are loaded when they are first asked for.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "attribute/attribution.h"
#include "base/result.h"
#include "model/profile.h"
#include "store/profile_file.h"

namespace culprit {

class ProfileView {
 public:
  static Result<ProfileView> open(const std::string& path);

  /// Facts of one image, with at least these parts; nullopt: nothing is known of it.
  using ReadFacts =
      std::function<Result<std::optional<ImageFacts>>(ImageId image, const FactParts& parts)>;
  /// Of a profile that is in no file.
  static ProfileView of(std::unique_ptr<Profile> profile, ReadFacts read);

  [[nodiscard]] const Profile& profile() const { return *profile_; }
  /// The facts by image, with at least `parts` of them; damaged ones count as absent, and
  /// problem() tells. What it gave before is valid until parts are asked for that were not.
  [[nodiscard]] FactsLookup facts(const FactParts& parts);
  [[nodiscard]] const std::string& problem() const { return cache_->problem; }

 private:
  struct Cache {
    ReadFacts read;
    FactParts parts;  // of the facts that were read
    std::map<ImageId, std::unique_ptr<ImageFacts>> facts;
    std::string problem;
  };
  ProfileView(std::unique_ptr<Profile> profile, std::unique_ptr<Cache> cache)
      : profile_(std::move(profile)), cache_(std::move(cache)) {}

  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Cache> cache_;
};

/// No parts: where something is added to.
inline constexpr FactParts kNoParts{false, false, false, false, false, false};

}  // namespace culprit
