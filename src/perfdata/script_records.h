#pragma once

// Records that perf script prints as "PERF_RECORD_...": mappings and tasks
// (--show-mmap-events, --show-task-events), and losses.

#include <optional>
#include <string_view>

#include "records/record.h"

namespace culprit {

/// `text` begins with "PERF_RECORD_". UnknownRecord: a kind that is not needed.
/// nullopt: damaged.
std::optional<RecordBody> parse_script_record(std::string_view text);

}  // namespace culprit
