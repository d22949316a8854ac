#include "session/merged_view.h"

#include <map>
#include <memory>
#include <utility>

#include "model/profile_merger.h"
#include "store/profile_file.h"

namespace culprit {

Result<ProfileView> open_together(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return ProfileView::open(paths.front());
  struct Source {
    ProfileReader reader;
    std::vector<ImageId> images;  // its rows, as the merged profile calls them
  };
  const auto sources = std::make_shared<std::vector<Source>>();
  ProfileMerger merger;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
    ASSIGN_OR_RETURN(const Profile profile, reader.read_profile());
    std::vector<ImageId> images = merger.add(profile);
    sources->push_back({std::move(reader), std::move(images)});
  }
  if (sources->empty()) return Error{"no profile was named"};
  // Facts of an image are the first's that knows it.
  const auto read = [sources](ImageId image, FactParts parts) -> Result<std::optional<ImageFacts>> {
    for (Source& source : *sources) {
      for (uint32_t row = 0; row < source.images.size(); ++row) {
        if (source.images[row] != image) continue;
        Result<std::optional<ImageFacts>> facts = source.reader.read_facts(ImageId(row), parts);
        if (!facts || *facts) return facts;
      }
    }
    return std::nullopt;
  };
  return ProfileView::of(std::make_unique<Profile>(merger.take()), read);
}

}  // namespace culprit
