#include "epochs/merge_epochs.h"

#include <fmt/format.h>
#include <optional>
#include <tuple>
#include <utility>

#include "model/idle_time.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

/// An epoch that has just been finished has moved.
std::string find_file(const EpochFile& file) {
  if (!file.is_current || file_exists(file.path)) return file.path;
  const size_t name = file.path.rfind('/');
  const std::string folder = file.path.substr(0, file.path.rfind('/', name - 1));
  const Result<EpochDatabase> database = EpochDatabase::open(folder);
  if (!database) return file.path;
  for (const EpochFile& other : database->list()) {
    if (other.name.boot == file.name.boot && other.name.first == file.name.first) return other.path;
  }
  return file.path;
}

Result<Profile> read_epoch(const std::string& path) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  return reader.read_profile();
}

/// What differs from epoch to epoch without telling them apart: periods of events, the measured
/// clock. They are taken off before epochs are added, and put back where all agree.
class Variations {
 public:
  void take_off(Profile& profile) {
    for (Event& event : profile.events) {
      const Kind kind{profile.strings.text(event.name), event.unit, event.provenance};
      const auto [at, is_new] = periods_.try_emplace(kind, event.period);
      if (!is_new && at->second != event.period) at->second = 0;  // it varies
      event.period = 0;
    }
    if (!clock_) clock_ = profile.machine.clock;
    profile.machine.clock.reset();
  }

  void put_back(Profile& profile) const {
    for (Event& event : profile.events) {
      const auto at =
          periods_.find({profile.strings.text(event.name), event.unit, event.provenance});
      if (at != periods_.end()) event.period = at->second;
    }
    profile.machine.clock = clock_;
  }

 private:
  using Kind = std::tuple<std::string, Unit, Provenance>;
  std::map<Kind, uint64_t> periods_;
  std::optional<ClockCalibration> clock_;
};

}  // namespace

Result<MergedEpochs> merge_epochs(const std::vector<EpochFile>& files,
                                  Projection::Processes processes) {
  MergedEpochs merged;
  std::vector<std::string> problems;
  IdleTime idle;
  Variations variations;
  ProfileMerger merger({.runs = false, .processes = processes});
  for (const EpochFile& file : files) {
    const std::string path = find_file(file);
    Result<Profile> profile = read_epoch(path);
    if (!profile) {
      problems.push_back(profile.error().message);
      continue;
    }
    if (file.is_current) profile->ledger.erase(ledger::kInterrupted);  // it goes on
    const IdleTime its = find_idle_time(*profile).value_or(IdleTime{});
    idle.idle_ns += its.idle_ns;
    idle.capacity_ns += its.capacity_ns;
    erase_idle_time(*profile);
    variations.take_off(*profile);
    const std::vector<ImageId> images = merger.add(*profile);
    for (size_t i = 0; i < profile->images.size(); ++i) {
      if (profile->images[i].kind != ImageKind::jit) continue;
      merged.own_facts.try_emplace(images[i], MergedEpochs::Place{path, ImageId(i)});
    }
    ++merged.epochs;
  }
  if (merged.epochs == 0) {
    return Error{problems.empty() ? "there is no epoch to read"
                                  : "no epoch could be read: " + problems.front()};
  }
  merged.profile = merger.take();
  variations.put_back(merged.profile);
  if (idle.capacity_ns > 0) add_idle_time(merged.profile, idle);
  for (const std::string& problem : problems) {
    merged.profile.ledger.note("an epoch is missing: " + problem);
  }
  return merged;
}

}  // namespace culprit
