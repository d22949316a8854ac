#pragma once

// The facts of one image, by its kind: an ELF file, the vdso, the kernel, a module.

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "model/image_facts.h"
#include "model/profile.h"
#include "snapshot/find_files.h"
#include "snapshot/kernel_code.h"
#include "snapshot/kernel_symbols.h"
#include "snapshot/snapshot.h"

namespace culprit {

struct MadeFacts {
  ImageFacts facts;
  bool is_replaced = false;      // the file is not the one that ran, or is gone
  uint64_t sources_refused = 0;  // source files that may not be read
};

/// Safe to use from several threads.
class ImageFactsMaker {
 public:
  ImageFactsMaker(const Profile& profile, const SnapshotOptions& options);

  /// nullopt for images whose facts come from the recording (JIT code) or nowhere.
  /// `held`: -1 if the recording kept no file open.
  std::optional<MadeFacts> make(const ImageDemand& demand, int held, unsigned threads);

  /// Nobody waits for the facts any more: servers are not waited for either.
  void stop() { stop_ = true; }

 private:
  MadeFacts make_from_file(const Image& image, const ImageDemand& demand, int held,
                           unsigned threads);
  MadeFacts make_vdso(const Image& image, const ImageDemand& demand);
  MadeFacts make_kernel(const Image& image, const ImageDemand& demand);
  void add_kernel_code(const Image& image, uint64_t address, ImageFacts& facts);
  const Result<KernelSymbols>& kernel_symbols();
  const Result<KernelMemory>& kernel_memory();

  const Profile& profile_;
  const SnapshotOptions& options_;
  std::atomic<bool> stop_ = false;
  FileSearch search_;
  std::once_flag kernel_once_;
  std::optional<Result<KernelSymbols>> kernel_;
  std::once_flag memory_once_;
  std::optional<Result<KernelMemory>> memory_;
};

}  // namespace culprit
