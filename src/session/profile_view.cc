#include "session/profile_view.h"

#include <map>
#include <utility>

#include "model/every_event.h"
#include "session/joined_stacks.h"
#include "store/profile_file.h"

namespace culprit {

Result<ProfileView> ProfileView::open(const std::string& path,
                                      const std::vector<ContextFilter>& filters,
                                      uint64_t facts_limit_bytes) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  keep_contexts(profile, filters);
  const auto shared = std::make_shared<ProfileReader>(std::move(reader));
  return of(
      std::make_unique<Profile>(std::move(profile)),
      [shared](ImageId image, FactParts parts) { return shared->read_facts(image, parts); },
      facts_limit_bytes);
}

ProfileView ProfileView::of(std::unique_ptr<Profile> profile, ReadFacts read,
                            uint64_t facts_limit_bytes) {
  Profile& rows = *profile;
  ProfileView view(std::move(profile),
                   std::make_unique<FactsCache>(std::move(read), facts_limit_bytes));
  count_every_event(rows);
  join_stacks(rows, view.facts(FactPart::functions));
  return view;
}

FactsLookup ProfileView::facts(FactParts parts) const {
  using Held = std::map<ImageId, std::shared_ptr<const ImageFacts>>;
  return [cache = cache_.get(), parts, held = std::make_shared<Held>()](ImageId image) {
    const auto [at, is_new] = held->try_emplace(image);
    if (is_new) at->second = cache->find(image, parts);
    return at->second.get();
  };
}

}  // namespace culprit
