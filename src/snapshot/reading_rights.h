#pragma once

// Whose rights a file is opened with, when its name stands in somebody else's file.
//
// Debug information names source files, debug files and split units. A user who profiles nothing
// but leaves a program for root to profile must not read, by such names and the profile that root
// then shows around, what he could not read himself. So root opens
//
//     a file named by                          with the rights of
//     a program or debug file                  its owner; of everybody if there are two owners
//     a profile or perf.data (images)          its owner
//     whom somebody called with --symbols DIR  the owner of DIR
//
// and the kernel decides, for folders and links on the way, too. A file that everybody may write
// has everybody for an owner. Files of root's are believed. Who is not root opens files as
// himself, without the capabilities that his culprit may have been given.
// Why so: docs/decisions/0010-whose-rights-open-a-file.md

#include <array>
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>
#include <vector>

#include "base/file.h"

namespace culprit {

class ReadingRights {
 public:
  /// Our own.
  ReadingRights() = default;
  static ReadingRights of_everybody() { return {Whose::everybody, 0}; }
  /// The rights of whoever may have written this file (or folder).
  static ReadingRights of_owner(const struct stat& status);
  /// The rights of the owner of the file at `path`; everybody's, if it cannot be asked.
  static ReadingRights of_owner(const std::string& path);

  /// What both may do.
  [[nodiscard]] ReadingRights narrowed(const ReadingRights& other) const;
  [[nodiscard]] bool are_ours() const { return whose_ == Whose::ours; }
  friend bool operator==(const ReadingRights&, const ReadingRights&) = default;

 private:
  friend class ReadingGuard;
  enum class Whose : uint8_t { ours, a_user, everybody };
  ReadingRights(Whose whose, uid_t user) : whose_(whose), user_(user) {}
  Whose whose_ = Whose::ours;
  uid_t user_ = 0;  // of a_user
};

/// While it lives, this thread opens files with these rights only.
class ReadingGuard {
 public:
  explicit ReadingGuard(const ReadingRights& rights);
  ~ReadingGuard();
  ReadingGuard(const ReadingGuard&) = delete;
  ReadingGuard& operator=(const ReadingGuard&) = delete;

  /// False if the system would not have it (a container without CAP_SETUID): open nothing then.
  [[nodiscard]] bool is_in_force() const { return is_in_force_; }

 private:
  bool become(uid_t user, gid_t group, const std::vector<gid_t>& groups);

  bool is_in_force_ = true;
  bool changed_user_ = false;
  bool dropped_capabilities_ = false;
  uid_t user_before_ = 0;
  gid_t group_before_ = 0;
  std::array<uint32_t, 2> capabilities_before_{};
  std::vector<gid_t> groups_before_;
};

struct OpenedAs {
  Result<Fd> fd;
  bool is_refused = false;  // there is something, but these rights do not suffice
};

/// Opens a regular file, and neither devices nor the kernel's files (/proc, /sys): not even for
/// a moment.
OpenedAs open_as(const ReadingRights& rights, const std::string& path);

}  // namespace culprit
