#pragma once

// What the kernel says in words: the lines of /proc/PID/maps and /proc/modules.
// Lines that do not parse are left out.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"

namespace culprit {

/// "55d0c000-55d0e000 r-xp 00002000 fd:01 1234  /usr/bin/true"
struct ProcMapping {
  RunAddress start;
  RunAddress end;
  bool executable = false;
  uint64_t file_offset = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  std::string path;  // "" for anonymous memory; \012 and the like are undone
};

std::vector<ProcMapping> parse_proc_maps(std::string_view text);

/// "nf_tables 294912 1 nft_chain, Live 0xffffffffc0a00000"; address 0: hidden.
struct ProcModule {
  std::string name;
  uint64_t size_bytes = 0;
  RunAddress start;
};

std::vector<ProcModule> parse_proc_modules(std::string_view text);

}  // namespace culprit
