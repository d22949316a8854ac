#pragma once

// RecordingInput: what is to be imported, opened, with its first bytes read: they tell
// what it is, and a pipe cannot be read twice.

#include <cstdint>
#include <string>

#include "base/file.h"

namespace culprit {

struct RecordingInput {
  Fd fd;
  std::string name;  // for messages
  std::string head;  // 16 bytes, less if there are not more
  bool is_file = false;
  uint64_t size_bytes = 0;  // 0: a pipe
};

/// `path`: "-" is standard input.
Result<RecordingInput> open_recording(const std::string& path);

/// Whether these bytes begin a perf.data file of any kind.
bool is_perf_data(const std::string& head);
/// One of perf before Linux 2.6.34, which no tool of today reads.
bool is_of_old_perf(const std::string& head);

}  // namespace culprit
