#include "session/profile_view.h"

#include <utility>

namespace culprit {
namespace {

/// Whether `more` has a part that `parts` lacks; adds them all.
bool widen(FactParts& parts, const FactParts& more) {
  bool is_wider = false;
  for (bool FactParts::* const part :
       {&FactParts::functions, &FactParts::lines, &FactParts::inlines, &FactParts::blocks,
        &FactParts::code, &FactParts::sources}) {
    is_wider = is_wider || (more.*part && !(parts.*part));
    parts.*part = parts.*part || more.*part;
  }
  return is_wider;
}

}  // namespace

Result<ProfileView> ProfileView::open(const std::string& path) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  const auto shared = std::make_shared<ProfileReader>(std::move(reader));
  return of(
      std::make_unique<Profile>(std::move(profile)),
      [shared](ImageId image, const FactParts& parts) { return shared->read_facts(image, parts); });
}

ProfileView ProfileView::of(std::unique_ptr<Profile> profile, ReadFacts read) {
  auto cache = std::make_unique<Cache>(Cache{std::move(read), kNoParts, {}, {}});
  return {std::move(profile), std::move(cache)};
}

FactsLookup ProfileView::facts(const FactParts& parts) {
  if (widen(cache_->parts, parts)) cache_->facts.clear();
  return [cache = cache_.get()](ImageId image) -> const ImageFacts* {
    const auto [at, is_new] = cache->facts.try_emplace(image);
    if (is_new) {
      Result<std::optional<ImageFacts>> facts = cache->read(image, cache->parts);
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
