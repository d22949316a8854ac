#include "cli/profile_view.h"

#include <utility>

namespace culprit {

Result<ProfileView> ProfileView::open(const std::string& path, FactParts parts) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  auto cache = std::make_unique<Cache>(Cache{std::move(reader), parts, {}, {}});
  return ProfileView(std::make_unique<Profile>(std::move(profile)), std::move(cache));
}

FactsLookup ProfileView::facts() {
  return [cache = cache_.get()](ImageId image) -> const ImageFacts* {
    const auto [at, is_new] = cache->facts.try_emplace(image);
    if (is_new) {
      Result<std::optional<ImageFacts>> facts = cache->reader.read_facts(image, cache->parts);
      if (!facts) {
        cache->problem = facts.error().message;
      } else if (*facts) {
        at->second = std::make_unique<ImageFacts>(**std::move(facts));
      }
    }
    return at->second.get();
  };
}

}  // namespace culprit
