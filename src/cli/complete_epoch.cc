#include "cli/complete_epoch.h"

#include <vector>

#include "cli/terminal.h"
#include "session/facts_archive.h"
#include "store/profile_file.h"

namespace culprit {

void complete_epoch(const ClosedEpoch& epoch, const SnapshotOptions& options) {
  const auto done = [&]() -> Result<void> {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(epoch.path));
    ASSIGN_OR_RETURN(const Profile profile, reader.read_profile());
    Ledger missing;
    FactsArchive archive(epoch.facts_folder);
    std::vector<ImageDemand> demand = collect_demand(profile);
    if (epoch.is_hurried) {
      std::erase_if(demand, [&](const ImageDemand& one) {
        const ImageKind kind = profile.images[one.image.value].kind;
        const bool is_kernel = kind == ImageKind::kernel || kind == ImageKind::module;
        return !is_kernel && !epoch.held.contains(one.image);
      });
    }
    return archive.complete(profile, demand, epoch.held, options, {}, missing);
  }();
  if (!done) print_message(done.error().message);
}

}  // namespace culprit
