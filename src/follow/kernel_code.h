#pragma once

// KernelCode: what a kernel has loaded beside itself, by address: modules, and BPF programs, which
// come and go while samples are taken.

#include <map>
#include <string>

#include "model/image_facts.h"
#include "records/record.h"

namespace culprit {

struct LoadedCode {
  RunAddress start;
  uint64_t size_bytes = 0;
  ImageKind kind = ImageKind::module;  // jit: a BPF program, whose name ends with its hash
  std::string name;
  ImageId image;  // the caller makes it when a sample falls into the code
};

class KernelCode {
 public:
  /// Replaces what began there.
  void replace(LoadedCode code) { by_start_[code.start] = std::move(code); }
  /// Adds it unless something begins there.
  void add(LoadedCode code) { by_start_.try_emplace(code.start, std::move(code)); }
  void process(const KsymbolRecord& symbol);

  /// What holds `address`; null: nothing does. Valid until its code is replaced or unloaded.
  [[nodiscard]] LoadedCode* find(RunAddress address);

 private:
  std::map<RunAddress, LoadedCode> by_start_;
};

}  // namespace culprit
