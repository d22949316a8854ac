#pragma once

// Entries of folders in /proc and the cgroup file systems, which change while they are read.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace culprit {

/// Entries whose names are numbers (processes, threads), ascending; none if it cannot be read.
std::vector<uint32_t> list_numbered_entries(const std::string& folder);

/// Paths of the folders in it, without those that are links.
std::vector<std::string> list_subfolders(const std::string& folder);

/// Processes that those started, and what these started, as far as it runs; without those and
/// ourselves. A process whose parent has ended is a child of nobody here.
std::vector<uint32_t> list_descendants(std::span<const uint32_t> processes);

/// What a process or thread calls itself; "" if there is none of that number.
std::string read_task_name(uint32_t id);

}  // namespace culprit
