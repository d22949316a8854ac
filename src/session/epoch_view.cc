#include "session/epoch_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/names.h"
#include "base/text.h"
#include "epochs/epoch_database.h"
#include "epochs/merge_epochs.h"
#include "epochs/time_words.h"
#include "session/facts_archive.h"

namespace culprit {

namespace {

Error nothing_there(const EpochDatabase& database, const std::string& wanted) {
  const std::vector<EpochFile> all = database.list();
  if (all.empty()) {
    return Error{fmt::format("'{}' has no epochs yet: culprit daemon --db {} makes them",
                             database.folder(), database.folder())};
  }
  return Error{fmt::format("'{}' has no epoch {}: its {} are from {} to {}", database.folder(),
                           wanted, all.size(), format_moment(all.front().name.start_s),
                           format_moment(all.back().name.end_s()))};
}

Result<std::vector<EpochFile>> find_files(const EpochDatabase& database,
                                          const EpochQuestion& question) {
  if (question.epoch.empty()) {
    std::vector<EpochFile> files = database.find(question.span);
    if (files.empty()) return nothing_there(database, "of that time");
    return files;
  }
  std::vector<EpochFile> files = database.find({});
  std::erase_if(files, [&](const EpochFile& file) {
    return file.path.substr(file.path.rfind('/') + 1).find(question.epoch) == std::string::npos;
  });
  if (files.empty()) return nothing_there(database, fmt::format("'{}'", question.epoch));
  return files;
}

/// Epochs may be merged into longer ones while they are read: then they are looked for again.
Result<MergedEpochs> read_epochs(const EpochDatabase& database, const EpochQuestion& question) {
  constexpr int kTries = 5;
  for (int i = 1;; ++i) {
    ASSIGN_OR_RETURN(const std::vector<EpochFile> files, find_files(database, question));
    Result<MergedEpochs> merged = merge_epochs(files, Projection::Processes::by_pid);
    const bool are_there = std::all_of(files.begin(), files.end(), [](const EpochFile& file) {
      return file.is_current || file_exists(file.path);
    });
    if (are_there || i == kTries) return merged;
  }
}

}  // namespace

Result<ProfileView> open_epochs(const EpochQuestion& question, SnapshotOptions options,
                                const SnapshotProgress& progress, bool facts_are_there) {
  ASSIGN_OR_RETURN(const EpochDatabase database, EpochDatabase::open(question.database));
  ASSIGN_OR_RETURN(MergedEpochs merged, read_epochs(database, question));
  keep_contexts(merged.profile, question.filters);

  auto archive = std::make_shared<FactsArchive>(database.facts_folder());
  // Names of files are whatever the database says.
  options.rights = ReadingRights::of_owner(database.folder());
  auto profile = std::make_unique<Profile>(std::move(merged.profile));
  Ledger missing;
  if (!facts_are_there) {
    RETURN_IF_ERROR(
        archive->complete(*profile, collect_demand(*profile), {}, options, progress, missing));
  }
  profile->ledger.merge(missing);
  const Profile* const rows = profile.get();
  const auto read = [rows, archive, own = std::move(merged.own_facts)](
                        ImageId image, FactParts parts) -> Result<std::optional<ImageFacts>> {
    const auto at = own.find(image);
    if (at == own.end()) return archive->read(*rows, image, parts);
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(at->second.path));
    RETURN_IF_ERROR(reader.read_profile());
    return reader.read_facts(at->second.image, parts);
  };
  return ProfileView::of(std::move(profile), read);
}

std::optional<EpochQuestion> find_epoch_of(const std::string& path,
                                           const std::vector<ContextFilter>& filters) {
  std::string database = find_database_around(path);
  if (database.empty()) return std::nullopt;
  return EpochQuestion{std::move(database), {}, base_name(path), filters};
}

Result<ProfileView> open_by_path(const std::string& path, const std::vector<ContextFilter>& filters,
                                 const SnapshotProgress& progress) {
  const std::optional<EpochQuestion> epoch = find_epoch_of(path, filters);
  return epoch ? open_epochs(*epoch, {}, progress) : ProfileView::open(path, filters);
}

}  // namespace culprit
