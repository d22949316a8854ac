#pragma once

// The facts of a run that every engine records: host, command line, start, CPU time.

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "model/builder.h"

namespace culprit {

/// What is observed, in words: "make -j2 in cgroup build".
std::string describe_targets(const std::vector<std::string>& command,
                             const std::vector<pid_t>& pids, const std::string& cgroup,
                             bool system_wide);

/// Where we are: the host's name; "" if it has none.
std::string read_host_name();

/// A run that begins now, of `targets` (describe_targets()), on this host.
Run describe_run(ProfileBuilder& builder, const std::string& targets);

}  // namespace culprit
