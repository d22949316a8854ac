#pragma once

// query_mapping(): one mapping of a process, by the question that kernels from 6.11 on answer about
// /proc/PID/maps. The whole text is a line for each mapping.

#include <cstdint>
#include <optional>

#include "base/address.h"
#include "base/result.h"
#include "records/proc_text.h"

namespace culprit {

/// The mapping that `address` lies in; nullopt: none does, or the process is gone.
/// Errors: this kernel has no such question.
Result<std::optional<ProcMapping>> query_mapping(uint32_t pid, RunAddress address);

}  // namespace culprit
