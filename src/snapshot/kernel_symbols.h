#pragma once

// Kernel and module symbols of the running kernel, from /proc/kallsyms:
//
//   ffffffff81000000 T _text
//   ffffffffc03a1000 t ext4_sync_fs	[ext4]
//
// Offsets count from _text for the kernel and from its load address for a module.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/result.h"

namespace culprit {

struct KernelFunction {
  FileOffset begin;  // from _text, or from the module's load address
  FileOffset end;
  std::string_view name;
};

struct KernelSymbols {
  bool is_hidden = false;              // all addresses are 0 (kptr_restrict)
  std::vector<KernelFunction> kernel;  // by begin, no overlaps
  std::map<std::string, std::vector<KernelFunction>> modules;
  uint64_t kernel_address = 0;                       // what offsets count from: _text,
  std::map<std::string, uint64_t> module_addresses;  // and where each module was loaded
  std::shared_ptr<const std::string> text;           // that the names lie in, if read here
};

/// `modules` is the text of /proc/modules: it has the load addresses. `kallsyms` must outlive
/// the result.
KernelSymbols parse_kernel_symbols(std::string_view kallsyms, std::string_view modules);

/// Reads the symbols of the running kernel.
Result<KernelSymbols> read_kernel_symbols();

/// "ext4" for "[ext4]", "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz", "snd-hda.ko" -> "snd_hda".
std::string module_name(std::string_view path);

}  // namespace culprit
