#pragma once

// ScriptTasks: which process a thread belongs to, and what it is called, where the text of
// perf script has no records of it but prints tid and comm on each line.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "perfdata/script_line.h"
#include "records/record.h"

namespace culprit {

class ScriptTasks {
 public:
  ScriptTasks();

  /// Learns from a record.
  void add(const RecordBody& record);
  /// The process of a line: as printed, else of the thread by records, else named as the thread.
  uint32_t find_process(const ScriptHead& head);
  /// What the line's comm tells: a record, if it is another than the one known.
  std::optional<CommRecord> learn_name(const ScriptHead& head);
  /// Threads that were taken for processes of their own.
  [[nodiscard]] uint64_t guessed() const { return guessed_; }

 private:
  struct Task {
    uint32_t pid = 0;
    std::string comm;
  };

  std::unordered_map<uint32_t, Task> tasks_;  // by tid
  uint64_t guessed_ = 0;
};

}  // namespace culprit
