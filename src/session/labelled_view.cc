#include "session/labelled_view.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "model/labelled_runs.h"
#include "store/profile_file.h"

namespace culprit {

Result<ProfileView> open_labelled_run(const std::string& path, const std::string& name,
                                      const std::vector<ContextFilter>& filters) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  const std::vector<LabelledRun> all = find_labelled_runs(profile);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const LabelledRun& one) { return one.name == name; });
  if (found == all.end()) return Error{in_quotes(path) + " holds no run " + in_quotes(name)};
  keep_runs(*found, profile);
  keep_contexts(profile, filters);
  const auto shared = std::make_shared<ProfileReader>(std::move(reader));
  return ProfileView::of(
      std::make_unique<Profile>(std::move(profile)),
      [shared](ImageId image, FactParts parts) { return shared->read_facts(image, parts); });
}

}  // namespace culprit
