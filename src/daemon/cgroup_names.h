#pragma once

// CgroupNames: ids of cgroups (version 2), as BPF has them, → paths below the mount. An id is the
// inode number of the cgroup's folder.

#include <cstdint>
#include <string>
#include <unordered_map>

namespace culprit {

class CgroupNames {
 public:
  CgroupNames();

  /// "/system.slice/ssh.service"; "/" is the root, "" not known (any more). Names of cgroups that
  /// are gone stay.
  const std::string& find(uint64_t id);
  /// What was not found may be looked for again.
  void forget_failures();

 private:
  void walk();

  std::string mount_;
  std::unordered_map<uint64_t, std::string> paths_;
  bool may_walk_ = true;
};

}  // namespace culprit
