#pragma once

// HeldImages: the files that processes run code of. A file gets its row and is
// opened when the first sample falls into it, if possible while the process
// lives: later it may be deleted, replaced or out of reach in another mount
// namespace. Its build-id (or inode) decides whether what was opened is it.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "model/builder.h"
#include "records/address_spaces.h"
#include "records/record.h"

namespace culprit {

class HeldImages {
 public:
  HeldImages();

  /// A number for the mapped file; the same for all mappings of the same file.
  FileKey intern(const MmapRecord& map);

  /// The place of `address`, which lies in `mapping` of process `pid`; nullopt if that memory
  /// has no ELF file behind it: code made at run time.
  std::optional<Location> locate(uint32_t pid, const Mapping& mapping, RunAddress address,
                                 ProfileBuilder& builder);

  /// The file of `mapping` to read from, a descriptor of its own; nullopt: no ELF file, or out
  /// of reach.
  std::optional<Fd> open_file(uint32_t pid, const Mapping& mapping, ProfileBuilder& builder);

  [[nodiscard]] std::map<ImageId, Fd> release() { return std::move(held_); }

 private:
  enum class Kind : uint8_t { file, anonymous, vdso };
  struct HeldFile {
    Kind kind = Kind::anonymous;
    bool is_resolved = false;
    bool is_deleted = false;
    std::string path;
    std::string build_id;
    uint64_t inode = 0;
    ImageId image;
  };
  struct Opened;

  void resolve(HeldFile& file, uint32_t pid, const Mapping& mapping, ProfileBuilder& builder);
  static Opened open_candidate(const HeldFile& file, const std::string& path);
  static Opened open(const HeldFile& file, uint32_t pid, const Mapping& mapping);
  ImageId intern_image(const Image& image, ProfileBuilder& builder);

  std::vector<HeldFile> files_;
  std::unordered_map<std::string, FileKey> keys_;
  std::unordered_map<std::string, ImageId> images_;
  std::map<ImageId, Fd> held_;
};

}  // namespace culprit
