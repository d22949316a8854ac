#pragma once

// RecordedPlaces: the files and kernels that a recording speaks of, as a RecordFollower asks
// for them. Nothing is opened.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "follow/image_source.h"
#include "perfdata/features.h"
#include "perfdata/recorded_images.h"

namespace culprit {

class RecordedPlaces final : public ImageSource {
 public:
  explicit RecordedPlaces(ProfileBuilder& builder)
      : builder_(builder),
        images_(builder),
        kernel_(builder, "[kernel]", "[kernel, unknown]"),
        guest_kernel_(builder, kGuestKernelPath, kGuestKernelPath) {}

  FileKey intern(const MmapRecord& map, bool is_first) override {
    return images_.intern(map, is_first);
  }
  void map_kernel(const MmapRecord& map) override;
  void process(const KsymbolRecord& symbol) override { kernel_.process(symbol); }
  std::optional<ImageId> find_image(uint32_t, const Mapping& mapping) override {
    return images_.find_image(mapping);
  }
  Location locate(uint32_t pid, const CallFrame& frame, const Mapping* mapping) override;
  [[nodiscard]] bool is_unknown(ImageId image) const override;

  /// Sees every place that the mappings gave, and may give another.
  using Refine = std::function<Location(RunAddress, const Location&)>;
  void refine_with(Refine refine) { refine_ = std::move(refine); }

  [[nodiscard]] const std::string& path(const Mapping& mapping) const {
    return images_.path(mapping.file);
  }
  void set_build_id(const RecordedBuildId& found);
  /// What BPF programs are called.
  std::vector<std::pair<ImageId, ImageFacts>> release_facts() { return kernel_.release_facts(); }

 private:
  Location locate_by_mappings(const CallFrame& frame, const Mapping* mapping);

  ProfileBuilder& builder_;
  RecordedImages images_;
  RecordedKernel kernel_;
  RecordedKernel guest_kernel_;
  Refine refine_;
};

}  // namespace culprit
