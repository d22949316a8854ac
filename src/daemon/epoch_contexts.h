#pragma once

// EpochContexts: who ran, as the kernel's tables say it, → contexts of the epoch that grows.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "daemon/cgroup_names.h"
#include "daemon/sample_table.h"
#include "model/builder.h"

namespace culprit {

class EpochContexts {
 public:
  /// `epoch` must outlive it. `by_process`: whether processes of one command are told apart.
  EpochContexts(ProfileBuilder& epoch, bool by_process) : epoch_(epoch), by_process_(by_process) {}

  /// The epoch is another, without rows.
  void begin_epoch();
  /// All that is counted until the next epoch has this label; "": none.
  void set_label(std::string_view label) { label_ = label; }
  ContextId find(who_key who, Mode mode);
  /// Cgroups that had no name may have got one.
  void forget_failures() { cgroups_.forget_failures(); }

 private:
  struct Hash {
    size_t operator()(const std::pair<who_key, Mode>& who) const noexcept;
  };
  struct Equal {
    bool operator()(const std::pair<who_key, Mode>& a,
                    const std::pair<who_key, Mode>& b) const noexcept;
  };
  ContextId make_context(const who_key& who, Mode mode);
  bool has_process_row(const who_key& who);
  ProcessId process_row(const who_key& who);

  ProfileBuilder& epoch_;
  bool by_process_;
  std::string label_;
  CgroupNames cgroups_;
  std::unordered_map<std::pair<who_key, Mode>, ContextId, Hash, Equal> known_;
  std::map<std::pair<uint32_t, std::string>, ProcessId> processes_;
  bool are_processes_full_ = false;
};

}  // namespace culprit
