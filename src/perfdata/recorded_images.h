#pragma once

// RecordedImages: the files and the kernels that a perf.data file speaks of, as images
// of the profile. Nothing is opened: names, inodes and build-ids are all there is.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "follow/kernel_code.h"
#include "model/builder.h"
#include "model/image_facts.h"
#include "records/address_spaces.h"
#include "records/record.h"

namespace culprit {

class RecordedImages {
 public:
  explicit RecordedImages(ProfileBuilder& builder) : builder_(builder) {}

  /// A number for the mapped file; the same for all mappings of the same file.
  FileKey intern(const MmapRecord& map, bool is_first_of_process);
  [[nodiscard]] const std::string& path(FileKey file) const { return files_[file].path; }
  /// The place of `address`, which lies in `mapping`. Memory without a file behind it is one
  /// image, with run addresses as offsets.
  Location locate(const Mapping& mapping, RunAddress address);
  /// The image of a mapping; nullopt: it has no file.
  std::optional<ImageId> find_image(const Mapping& mapping);
  /// An address in a program of a guest, of whose mappings nothing is known.
  Location locate_in_guest(RunAddress address);
  /// An address that nothing is known of.
  Location locate_unknown(RunAddress address);

  /// Gives images without a build-id the one that the file has for their path. Guests' files
  /// have paths of their own world, so `mode` must agree.
  void set_build_id(Mode mode, std::string_view path, const std::string& build_id);

 private:
  struct MappedPath {
    std::string path;
    std::string build_id;
    uint64_t inode = 0;
    bool is_anonymous = false;
    bool is_vdso = false;
    bool is_program = false;
    ImageId image;
  };

  void make_image(MappedPath& file);
  ImageId place_holder(ImageId& image, std::string_view path);

  ProfileBuilder& builder_;
  std::vector<MappedPath> files_;
  std::unordered_map<std::string, FileKey> keys_;
  std::unordered_map<std::string, std::string> build_ids_;  // by path
  ImageId anonymous_;
  ImageId guest_;
  ImageId unknown_;
};

/// The kernel of the host, or that of a guest.
class RecordedKernel {
 public:
  /// `path`: of the kernel's image; `unknown_path`: of the one for what is not known to be in it.
  RecordedKernel(ProfileBuilder& builder, std::string_view path, std::string_view unknown_path)
      : builder_(builder), path_(path), unknown_path_(unknown_path) {}

  void map(const MmapRecord& map);
  void process(const KsymbolRecord& symbol) { code_.process(symbol); }
  /// Offsets count from _text, from a module's start, or are run addresses where neither is known.
  Location locate(RunAddress address);
  void set_build_id(std::string_view path, const std::string& build_id);
  /// What BPF programs are called.
  std::vector<std::pair<ImageId, ImageFacts>> release_facts() { return std::move(facts_); }

 private:
  ImageId make_image(ImageKind kind, const std::string& path, uint64_t size_bytes);
  void make_code_image(LoadedCode& code);

  ProfileBuilder& builder_;
  std::string path_;
  std::string unknown_path_;
  std::optional<RunAddress> text_;
  bool is_everywhere_ = false;  // offsets in it are run addresses
  ImageId kernel_;
  ImageId unknown_;
  KernelCode code_;
  std::unordered_map<std::string, std::string> build_ids_;  // by image path
  std::vector<std::pair<ImageId, ImageFacts>> facts_;
};

}  // namespace culprit
