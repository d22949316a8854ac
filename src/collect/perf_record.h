#pragma once

// record() by perf_event_open(2): the `timer` engine.

#include <optional>
#include <string>

#include "collect/record.h"

namespace culprit {

/// Does as record(). If the kernel does not permit it at all, `refusal` says so, the result is an
/// error, and nothing was run.
Result<Recording> record_with_perf(const RecordOptions& options, const RecordSink& sink,
                                   const ProgressSink& progress,
                                   std::optional<std::string>& refusal);

}  // namespace culprit
