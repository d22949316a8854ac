#include "server/open_profiles.h"

#include <fmt/format.h>

#include "base/text.h"
#include "session/epoch_view.h"

namespace culprit {

Result<std::string> OpenProfile::document(std::string_view name) const {
  const bool is_of_whole = name.find('/') == name.npos;
  if (!is_of_whole) return documents.make(name);
  std::shared_ptr<Kept> kept;
  {
    const std::scoped_lock guard(lock_);
    auto found = kept_.find(name);
    if (found == kept_.end()) {
      found = kept_.emplace(std::string(name), std::make_shared<Kept>()).first;
    }
    kept = found->second;
  }
  return find_or_make(name, *kept);
}

Result<std::string> OpenProfile::find_or_make(std::string_view name, Kept& kept) const {
  const std::scoped_lock making(kept.making);
  if (!kept.json.empty()) return kept.json;
  Result<std::string> json = documents.make(name);
  const std::scoped_lock guard(lock_);
  const auto found = kept_.find(name);
  const bool is_listed = found != kept_.end() && found->second.get() == &kept;
  if (!is_listed) return json;
  if (json && kept_bytes_ + json->size() <= kMostKeptBytes) {
    kept_bytes_ += json->size();
    kept.json = *json;
  } else {
    kept_.erase(found);
  }
  return json;
}

Result<void> OpenProfiles::open(const std::vector<std::string>& files,
                                const SnapshotProgress& progress) {
  files_ = files;
  slots_.resize(files.size());
  for (size_t number = 0; number < files.size(); ++number) RETURN_IF_ERROR(find(number, progress));
  return {};
}

std::string OpenProfiles::version(size_t number) const {
  struct stat status{};
  if (number >= files_.size() || ::stat(files_[number].c_str(), &status) != 0) return "";
  return fmt::format("{:x}-{:x}-{:x}-{:x}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

Result<std::shared_ptr<const OpenProfile>> OpenProfiles::find(size_t number,
                                                              const SnapshotProgress& progress) {
  if (number >= files_.size()) return Error{"there is no such profile", ErrorKind::not_found};
  const std::string now = version(number);
  const std::scoped_lock guard(lock_);
  Slot& slot = slots_[number];
  if (slot.profile && (slot.version == now || now.empty())) return slot.profile;
  Result<ProfileView> view = open_by_path(files_[number], {}, progress);
  // A recording under way changes the file at every moment: what was read before still holds.
  if (!view && slot.profile) return slot.profile;
  if (!view) return view.error();
  slot.profile = std::make_shared<const OpenProfile>(*std::move(view), files_[number]);
  slot.version = now;
  return slot.profile;
}

}  // namespace culprit
