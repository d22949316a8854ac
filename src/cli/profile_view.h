#pragma once

// A profile opened for reading: its counts, and the facts of its images, which
// are loaded when they are first asked for.

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
  /// `parts`: what of the facts will be needed.
  static Result<ProfileView> open(const std::string& path, FactParts parts);

  [[nodiscard]] const Profile& profile() const { return *profile_; }
  /// The facts by image; damaged ones count as absent, and problem() tells.
  [[nodiscard]] FactsLookup facts();
  /// Before facts() are asked for: that they shall have the machine code.
  void read_code_too() { cache_->parts.functions = cache_->parts.code = true; }
  [[nodiscard]] const std::string& problem() const { return cache_->problem; }

 private:
  struct Cache {
    ProfileReader reader;
    FactParts parts;
    std::map<ImageId, std::unique_ptr<ImageFacts>> facts;
    std::string problem;
  };
  ProfileView(std::unique_ptr<Profile> profile, std::unique_ptr<Cache> cache)
      : profile_(std::move(profile)), cache_(std::move(cache)) {}

  std::unique_ptr<Profile> profile_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace culprit
