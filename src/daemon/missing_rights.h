#pragma once

// What a daemon loses that has not all of its rights: a sentence for each capability. CAP_BPF and
// CAP_PERFMON are none of them: without these there is another collector, or none, and that says
// why.

#include <cstdint>
#include <string>
#include <vector>

namespace culprit {

/// The capabilities of this process, a bit each (<linux/capability.h>); all where that is not
/// known.
uint64_t read_own_capabilities();

/// "without CAP_SYSLOG: ..."
std::vector<std::string> explain_missing_rights(uint64_t capabilities);

}  // namespace culprit
