#pragma once

// KernelImages: addresses in the kernel → the kernel itself (offsets from _text),
// a module (from its start), or a BPF program (a JIT object). Where kernel
// addresses are hidden, all of the kernel is one location.

#include <utility>
#include <vector>

#include "follow/kernel_code.h"
#include "model/builder.h"
#include "model/image_facts.h"
#include "records/record.h"

namespace culprit {

class KernelImages {
 public:
  void process(const KsymbolRecord& symbol) { code_.process(symbol); }

  /// The place of a kernel address; makes the image's row when needed.
  Location locate(RunAddress address, ProfileBuilder& builder);

  [[nodiscard]] std::vector<std::pair<ImageId, ImageFacts>> release_facts() {
    return std::move(facts_);
  }

 private:
  void load(ProfileBuilder& builder);
  void load_modules();
  void load_programs();
  void make_image(LoadedCode& code, ProfileBuilder& builder);

  bool is_loaded_ = false;
  uint32_t reloads_ = 0;
  RunAddress text_;  // 0: hidden
  ImageId kernel_;
  KernelCode code_;
  std::vector<std::pair<ImageId, ImageFacts>> facts_;
};

}  // namespace culprit
