#pragma once

// What the sessions of both engines (perf_record.cc, posix_timer.cc) share.

#include <cstdint>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "collect/record.h"
#include "model/builder.h"

namespace culprit {

/// What was recorded is handed on so often.
inline constexpr uint64_t kFlushEveryNs = 1'000'000'000;

uint64_t to_ns(const timeval& time);

/// User and system time.
/// Units:  -> [ns]
uint64_t compute_cpu_ns(const rusage& usage);

/// What is observed, in words: "make -j2 in cgroup build".
std::string describe_targets(const std::vector<std::string>& command,
                             const std::vector<pid_t>& pids, const std::string& cgroup,
                             bool system_wide);

/// Where we are: the host's name; "" if it has none.
std::string read_host_name();

/// Host, command line (or what else is recorded) and start of a run that begins now.
Run describe_run(ProfileBuilder& builder, const RecordOptions& options);

/// While it lives, as many descriptors as permitted: events, rings and held images take many.
class DescriptorLimit {
 public:
  DescriptorLimit() = default;
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  /// Held images may be more than the old limit; that only bars further ones.
  ~DescriptorLimit();

  /// To be called after the command has started, which keeps the limit it was given.
  void raise();

 private:
  rlimit before_{};
  bool is_raised_ = false;
};

}  // namespace culprit
