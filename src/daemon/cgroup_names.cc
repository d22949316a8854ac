#include "daemon/cgroup_names.h"

#include <sys/stat.h>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "recording/process_folder.h"

namespace culprit {

namespace {

std::string find_mount() {
  const std::string text = read_file("/proc/self/mounts").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() > 2 && fields[2] == "cgroup2") return std::string(fields[1]);
  }
  return "";
}

}  // namespace

CgroupNames::CgroupNames() : mount_(find_mount()) {}

void CgroupNames::walk() {
  may_walk_ = false;
  if (mount_.empty()) return;
  std::vector<std::string> folders = {mount_};
  // A tree of this size is somebody's mistake.
  constexpr size_t kMost = 1 << 16;
  for (size_t i = 0; i < folders.size() && folders.size() < kMost; ++i) {
    struct stat status{};
    if (::stat(folders[i].c_str(), &status) != 0) continue;
    const std::string inside = folders[i].substr(mount_.size());
    paths_.insert_or_assign(status.st_ino, inside.empty() ? "/" : inside);
    for (std::string& folder : list_subfolders(folders[i])) folders.push_back(std::move(folder));
  }
}

const std::string& CgroupNames::find(uint64_t id) {
  auto found = paths_.find(id);
  if (found == paths_.end() && may_walk_) {
    walk();
    found = paths_.find(id);
  }
  static const std::string kUnknown;
  return found == paths_.end() ? kUnknown : found->second;
}

void CgroupNames::forget_failures() {
  may_walk_ = true;
}

}  // namespace culprit
