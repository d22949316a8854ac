// Credentials belong to a thread, as far as the kernel is concerned. glibc's setgroups() changes
// those of all threads, so it is called by number; setfsuid() and capset() are the thread's alone.

#include "snapshot/reading_rights.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <map>
#include <mutex>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"

namespace culprit {
namespace {

constexpr uid_t kNobody = 65534;  // the kernel's overflow uid and gid

using CapabilityData = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

CapabilityData read_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilityData data{};
  CHECK(::syscall(SYS_capget, &header, data.data()) == 0);
  return data;
}

bool set_capabilities(const CapabilityData& data) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

bool set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

struct Groups {
  gid_t primary = kNobody;
  std::vector<gid_t> others;
};

/// What the system's data base says; a user whom it does not know is in no group.
Groups look_up_groups(uid_t user) {
  Groups groups;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> text(1 << 16);
  if (::getpwuid_r(user, &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
    return groups;
  groups.primary = entry.pw_gid;
  int count = 64;
  groups.others.resize(static_cast<size_t>(count));
  while (::getgrouplist(entry.pw_name, entry.pw_gid, groups.others.data(), &count) < 0 &&
         static_cast<size_t>(count) > groups.others.size())
    groups.others.resize(static_cast<size_t>(count));
  groups.others.resize(static_cast<size_t>(std::max(count, 0)));
  return groups;
}

Groups find_groups(uid_t user) {
  static std::mutex mutex;
  static std::map<uid_t, Groups> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(user);
  return found != known.end() ? found->second
                              : known.emplace(user, look_up_groups(user)).first->second;
}

bool is_of_the_kernel(int fd) {
  struct statfs status{};
  if (::fstatfs(fd, &status) != 0) return true;
  for (const long magic : {PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC})
    if (static_cast<long>(status.f_type) == magic) return true;
  return false;
}

bool is_refusal(int error_number) {
  return error_number == EACCES || error_number == EPERM;
}

}  // namespace

ReadingRights ReadingRights::of_owner(const struct stat& status) {
  // Who is not root has no rights to lend, and opens files as himself.
  if (::geteuid() != 0) return {};
  if ((status.st_mode & S_IWOTH) != 0) return of_everybody();
  if (status.st_uid != 0) return {Whose::a_user, status.st_uid};
  const bool others_write = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0;
  return others_write ? of_everybody() : ReadingRights();
}

ReadingRights ReadingRights::of_owner(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? of_owner(status) : of_everybody();
}

ReadingRights ReadingRights::narrowed(const ReadingRights& other) const {
  if (are_ours() || *this == other) return other;
  return other.are_ours() ? *this : of_everybody();
}

ReadingGuard::ReadingGuard(const ReadingRights& rights) {
  const bool is_root = ::geteuid() == 0;
  if (is_root && rights.are_ours()) return;
  // They are given before the user changes, which takes some from the effective ones already.
  CapabilityData data = read_capabilities();
  for (size_t i = 0; i < data.size(); ++i)
    capabilities_before_[i] = std::exchange(data[i].effective, 0);
  if (is_root) {
    const bool is_user = rights.whose_ == ReadingRights::Whose::a_user;
    const Groups groups = is_user ? find_groups(rights.user_) : Groups();
    is_in_force_ = become(is_user ? rights.user_ : kNobody, groups.primary, groups.others);
  }
  // Some reach past the owner and mode of a file: into /proc of other processes, for one.
  if (capabilities_before_ == decltype(capabilities_before_){}) return;
  dropped_capabilities_ = set_capabilities(data);
  is_in_force_ = is_in_force_ && dropped_capabilities_;
}

bool ReadingGuard::become(uid_t user, gid_t group, const std::vector<gid_t>& groups) {
  const int count = ::getgroups(0, nullptr);
  CHECK(count >= 0);
  groups_before_.resize(static_cast<size_t>(count));
  CHECK(::getgroups(count, groups_before_.data()) == count);
  constexpr auto kAsk = static_cast<uid_t>(-1);  // no id: changes nothing, returns the present one
  group_before_ = static_cast<gid_t>(::setfsgid(kAsk));
  user_before_ = static_cast<uid_t>(::setfsuid(kAsk));
  if (!set_groups(groups)) return false;
  changed_user_ = true;
  ::setfsgid(group);
  ::setfsuid(user);
  return static_cast<gid_t>(::setfsgid(kAsk)) == group &&
         static_cast<uid_t>(::setfsuid(kAsk)) == user;
}

ReadingGuard::~ReadingGuard() {
  if (changed_user_) {
    ::setfsuid(user_before_);
    ::setfsgid(group_before_);
  }
  if (dropped_capabilities_) {
    CapabilityData data = read_capabilities();
    for (size_t i = 0; i < data.size(); ++i) data[i].effective = capabilities_before_[i];
    CHECK(set_capabilities(data));
  }
  if (changed_user_) CHECK(set_groups(groups_before_));
}

OpenedAs open_as(const ReadingRights& rights, const std::string& path) {
  const ReadingGuard guard(rights);
  const std::string what = "cannot open " + in_quotes(path);
  if (!guard.is_in_force())
    return {Error{what + ": the rights of its owner cannot be taken on here"}, true};
  // The place is opened without the rights to read it: opening some devices does things already.
  const Fd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (const int why = errno; !place) return {errno_error(what, why), is_refusal(why)};
  struct stat status{};
  if (::fstat(place.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return {Error{what + ": not a regular file"}, false};
  const std::string again = fmt::format("/proc/self/fd/{}", place.get());
  Fd fd(::open(again.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a lease may hold it
  if (const int why = errno; !fd) return {errno_error(what, why), is_refusal(why)};
  if (is_of_the_kernel(fd.get())) return {Error{what + ": a file of the kernel's"}, false};
  return {std::move(fd), false};
}

}  // namespace culprit
