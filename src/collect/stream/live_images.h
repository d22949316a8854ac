#pragma once

// LiveImages: what living processes and the kernel have mapped. Files are opened while they
// can be found (HeldImages); code without a file may get its names later, from its compiler
// (JitCode): until then its places have no image, and the samples wait.

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "collect/stream/process_kernel.h"
#include "follow/image_source.h"
#include "model/builder.h"
#include "recording/held_images.h"
#include "recording/jit_code.h"

namespace culprit {

class LiveImages final : public ImageSource {
 public:
  /// `end_names`: called when no more names will come for what a process had mapped.
  LiveImages(ProfileBuilder& builder, std::function<void(uint32_t pid)> end_names)
      : builder_(builder), end_names_(std::move(end_names)) {}

  FileKey intern(const MmapRecord& map, bool is_first) override;
  void process(const KsymbolRecord& symbol) override { kernel_.process(symbol); }
  std::optional<ImageId> find_image(uint32_t pid, const Mapping& mapping) override;
  Location locate(uint32_t pid, const CallFrame& frame, const Mapping* mapping) override;
  /// Where names of JIT code would come later, they are not waited for.
  Location locate_now(uint32_t pid, const CallFrame& frame, const Mapping* mapping) override;
  [[nodiscard]] bool is_unknown(ImageId image) const override { return image == unknown_; }
  void fork(uint32_t parent_pid, uint32_t pid) override { jit_.fork(parent_pid, pid); }
  void forget(uint32_t pid) override;

  /// The image of code that no file is behind and no JIT compiler has named.
  ImageId image_of_unnamed(bool is_mapped);
  /// The file of a mapping, for who walks stacks.
  std::optional<Fd> open_file(uint32_t pid, const Mapping& mapping) {
    return files_.open_file(pid, mapping, builder_);
  }
  JitCode& jit() { return jit_; }

  std::map<ImageId, Fd> release_files() { return files_.release(); }
  std::vector<std::pair<ImageId, ImageFacts>> release_facts();

 private:
  ImageId place_holder(ImageId& image, std::string_view path);

  ProfileBuilder& builder_;
  std::function<void(uint32_t pid)> end_names_;
  HeldImages files_;
  KernelImages kernel_;
  JitCode jit_;
  ImageId anonymous_;
  ImageId unknown_;
  ImageId guest_kernel_;
  ImageId guest_user_;
};

}  // namespace culprit
