#pragma once

// What a live process has mapped where, by its own view: /proc has paths and inodes as the process
// sees them, which differ from the kernel's where file systems lie over each other.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/sample_table.h"
#include "records/proc_text.h"
#include "records/record.h"

namespace culprit {

/// Whether the process that began then still has this number.
bool is_alive(uint32_t pid, uint64_t start_ns);

/// Executable code that is mapped, as a record of its mapping.
MmapRecord to_record(uint32_t pid, const ProcMapping& entry);

/// The mappings of a process are read once for all that is asked of it until forget(): a process
/// may have tens of thousands, and as many addresses in a drain.
class ProcessMappings {
 public:
  /// In order of address; none of a process that is gone.
  const std::vector<ProcMapping>& of(uint32_t pid, uint64_t start_ns);
  /// nullptr: nothing is mapped there. Until the next call.
  const ProcMapping* find(uint32_t pid, uint64_t start_ns, RunAddress address);
  /// The mapping that the kernel told of, as its process sees it.
  std::optional<ProcMapping> find_recorded(const image_record& record);
  void forget() { known_.clear(); }

 private:
  std::map<std::pair<uint32_t, uint64_t>, std::vector<ProcMapping>> known_;  // by pid, start
};

}  // namespace culprit
