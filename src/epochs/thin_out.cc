#include "epochs/thin_out.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "epochs/merge_epochs.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

/// The hour or day that an epoch is merged into; 0: it is too young, or long enough already.
int64_t stretch_of(const EpochName& name, const Keeping& keeping, int64_t now_s) {
  const int64_t age_s = now_s - name.end_s();
  if (age_s > keeping.days_after_s) return 86'400;
  if (age_s > keeping.hours_after_s) return 3'600;
  return 0;
}

std::vector<std::vector<EpochFile>> plan_merges(std::vector<EpochFile> files,
                                                const Keeping& keeping, int64_t now_s) {
  std::erase_if(files, [](const EpochFile& file) { return file.is_current; });
  std::sort(files.begin(), files.end(), [](const EpochFile& a, const EpochFile& b) {
    return std::pair(a.name.boot, a.name.first) < std::pair(b.name.boot, b.name.first);
  });
  std::vector<std::vector<EpochFile>> groups;
  int64_t stretch_s = 0;
  for (const EpochFile& file : files) {
    const int64_t its_s = stretch_of(file.name, keeping, now_s);
    const EpochName* before = groups.empty() ? nullptr : &groups.back().back().name;
    const bool joins = before != nullptr && its_s != 0 && its_s == stretch_s &&
                       before->boot == file.name.boot &&
                       before->start_s / its_s == file.name.start_s / its_s;
    if (joins) {
      groups.back().push_back(file);
    } else {
      groups.push_back({file});
    }
    stretch_s = its_s;
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

/// Bytes of the plain files in a folder, those older than `before_s` removed first.
uint64_t clean_folder(const std::string& folder, int64_t before_s) {
  uint64_t bytes = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return 0;
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string path = folder + "/" + entry->d_name;
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_mtim.tv_sec < before_s && ::unlink(path.c_str()) == 0) continue;
    bytes += static_cast<uint64_t>(status.st_size);
  }
  return bytes;
}

Result<void> write_merged(const std::string& path, const MergedEpochs& merged) {
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(path));
  for (const auto& [image, place] : merged.own_facts) {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(place.path));
    RETURN_IF_ERROR(reader.read_profile());
    ASSIGN_OR_RETURN(const auto facts, reader.read_facts(place.image));
    if (facts) RETURN_IF_ERROR(writer.write_facts(image, *facts));
  }
  return writer.close(merged.profile);
}

/// One epoch in place of its parts. A crash leaves them all, or the whole with some of its parts,
/// which their names give away.
Result<void> merge_group(const EpochDatabase& database, const std::vector<EpochFile>& group) {
  EpochName name = group.front().name;
  for (const EpochFile& file : group) {
    const int64_t end_s = std::max(name.end_s(), file.name.end_s());
    name.start_s = std::min(name.start_s, file.name.start_s);
    name.length_s = static_cast<uint64_t>(end_s - name.start_s);
    name.last = file.name.last;
  }
  ASSIGN_OR_RETURN(const MergedEpochs merged, merge_epochs(group));
  if (merged.epochs != group.size()) {
    return Error{"the epochs from '" + group.front().path +
                 "' on are not merged: one of them cannot be read"};
  }
  const std::string partial = database.folder() + "/current/" + format_epoch_name(name) + ".tmp";
  const std::string whole = database.folder() + "/epochs/" + format_epoch_name(name);
  ::unlink(partial.c_str());
  const Result<void> written = write_merged(partial, merged);
  if (!written || std::rename(partial.c_str(), whole.c_str()) != 0) {
    const int reason = errno;
    ::unlink(partial.c_str());
    return written ? errno_error("cannot rename '" + partial + "'", reason) : written;
  }
  const Fd folder(::open((database.folder() + "/epochs").c_str(), O_RDONLY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
  for (const EpochFile& file : group) ::unlink(file.path.c_str());
  return {};
}

}  // namespace

ThinningPlan plan_thinning(const std::vector<EpochFile>& files, const Keeping& keeping,
                           int64_t now_s, uint64_t other_bytes, uint64_t free_bytes) {
  ThinningPlan plan;
  uint64_t bytes = other_bytes;
  for (const EpochFile& file : files) bytes += file.size_bytes;
  std::vector<EpochFile> oldest = files;
  std::erase_if(oldest, [](const EpochFile& file) { return file.is_current; });
  std::sort(oldest.begin(), oldest.end(),
            [](const EpochFile& a, const EpochFile& b) { return a.name.end_s() < b.name.end_s(); });
  std::vector<EpochFile> kept;
  const uint64_t missing_bytes =
      keeping.least_free_bytes - std::min(free_bytes, keeping.least_free_bytes);
  uint64_t newer_bytes = 0;  // with the file itself
  for (const EpochFile& file : oldest) newer_bytes += file.size_bytes;
  for (const EpochFile& file : oldest) {
    const bool is_old =
        keeping.forget_after_s != 0 && now_s - file.name.end_s() > keeping.forget_after_s;
    const bool is_too_much = keeping.most_bytes != 0 && bytes > keeping.most_bytes;
    const bool is_for_space =
        free_bytes < keeping.least_free_bytes && newer_bytes > missing_bytes / kKeptPart;
    newer_bytes -= file.size_bytes;
    if (is_old || is_too_much || is_for_space) {
      if (!is_old && !is_too_much) plan.removals_for_space.push_back(file);
      bytes -= file.size_bytes;
      free_bytes += file.size_bytes;
      plan.removals.push_back(file);
    } else {
      kept.push_back(file);
    }
  }
  plan.merges = plan_merges(std::move(kept), keeping, now_s);
  return plan;
}

Thinned thin_out(const EpochDatabase& database, const Keeping& keeping, int64_t now_s) {
  // Facts are touched whenever an epoch needs them: those older than all epochs serve none.
  const int64_t forgotten_s = keeping.forget_after_s == 0 ? 0 : now_s - keeping.forget_after_s;
  const uint64_t facts_bytes = clean_folder(database.facts_folder(), forgotten_s);
  struct statvfs space{};
  const bool is_known = ::statvfs(database.folder().c_str(), &space) == 0;
  const uint64_t free_bytes = is_known ? uint64_t{space.f_bavail} * space.f_frsize : UINT64_MAX;
  const ThinningPlan plan = plan_thinning(database.list(), keeping, now_s, facts_bytes, free_bytes);
  Thinned done;
  for (const EpochFile& file : plan.removals) {
    const bool is_for_space = std::ranges::any_of(
        plan.removals_for_space, [&](const EpochFile& one) { return one.path == file.path; });
    if (::unlink(file.path.c_str()) != 0) {
      done.problems.push_back(errno_error("cannot remove '" + file.path + "'", errno).message);
    } else if (is_for_space) {
      ++done.removed.epochs;
      done.removed.bytes += file.size_bytes;
    }
  }
  for (const auto& group : plan.merges) {
    const Result<void> merged = merge_group(database, group);
    if (!merged) done.problems.push_back(merged.error().message);
  }
  return done;
}

}  // namespace culprit
