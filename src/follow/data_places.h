#pragma once

// DataPlaces: data addresses of samples → data objects of the profile, while the mappings that tell
// are there. Addresses themselves are not kept.
//
//     in_bss          a variable of a mapped file, its .bss included, by the file's symbols
//     [.got of a.out] a section, where no symbol has the address
//     [data of a.out] the file cannot be read, or none of its sections has the address
//     [code of a.out] likewise, in its code: also pages of code that fault
//     [mapped /a/b]   a file that is mapped and not run
//     [heap] [stack] [anonymous] [kernel]
//     [unknown]       no mapping has the address; or no mappings of data were recorded
//
// Mappings of data are kept apart from those of code, so that code is found as ever.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "follow/data_symbols.h"
#include "follow/image_source.h"
#include "model/builder.h"
#include "records/address_spaces.h"
#include "records/record.h"
#include "records/user_stack.h"

namespace culprit {

/// What a recording knows of the files in which data lies. Empty functions: nothing.
struct DataReader {
  OpenMappedFile open;
  ReadDataSymbols read;
};

class DataPlaces {
 public:
  /// All must outlive it. `code`: the mappings of code, as the ImageSource numbers their files.
  /// The profile's machine tells whose registers samples have.
  DataPlaces(ProfileBuilder& builder, ImageSource& images, const AddressSpaces& code,
             DataReader reader)
      : builder_(builder), images_(images), code_(code), reader_(std::move(reader)) {}

  /// Any mapping of a process, whether of code or not.
  void map(const MmapRecord& map);
  void fork(uint32_t parent_pid, uint32_t pid) { spaces_.fork(parent_pid, pid); }
  void forget(uint32_t pid) { spaces_.clear(pid); }

  /// The object that the sampled access was to. What could not be named is counted in the ledger.
  ObjectId find(uint32_t pid, const SampleRecord& sample);

 private:
  struct File {
    std::string path;
    bool is_file = false;  // else anonymous memory, or what the kernel calls "[heap]"
  };
  /// Code of a file, mapped, and what is known of the file.
  struct MappedImage {
    ImageId image;
    const Mapping* code = nullptr;
    const DataSymbols* symbols = nullptr;  // null: it cannot be read
  };
  using Space = std::vector<Mapping>;

  using At = Space::const_iterator;

  DataObject place(uint32_t pid, RunAddress address, std::optional<RunAddress> stack_pointer);
  DataObject place_in_file(uint32_t pid, const Mapping& held, RunAddress address);
  DataObject place_in_anonymous(uint32_t pid, At held, RunAddress address,
                                std::optional<RunAddress> stack_pointer);
  DataObject place_unmapped(uint32_t pid, At after, RunAddress address,
                            std::optional<RunAddress> stack_pointer);
  std::optional<DataObject> place_in_image(const MappedImage& image, RunAddress address);
  std::optional<MappedImage> find_image(uint32_t pid, const Mapping& code);
  std::optional<MappedImage> find_image_of(uint32_t pid, const Mapping& held);
  const DataSymbols* find_symbols(ImageId image, uint32_t pid, const Mapping& code);
  [[nodiscard]] bool is_heap(uint32_t pid, At held);
  ObjectId intern(const DataObject& object);
  DataObject make_data_of(const Mapping& mapping);
  DataObject make_object(ObjectKind kind, std::string_view name) {
    DataObject object;
    object.kind = kind;
    object.name = builder_.intern(name);
    return object;
  }
  [[nodiscard]] const File& file_of(const Mapping& mapping) const {
    return files_[mapping.file / 2];
  }
  [[nodiscard]] static bool is_code(const Mapping& mapping) { return mapping.file % 2 != 0; }

  ProfileBuilder& builder_;
  ImageSource& images_;
  const AddressSpaces& code_;
  DataReader reader_;
  AddressSpaces spaces_;  // file: twice the index in files_, and one more for code
  std::vector<File> files_;
  std::unordered_map<std::string, FileKey> keys_;  // by path
  std::map<ImageId, std::optional<DataSymbols>> symbols_;
  std::map<DataObject, ObjectId> objects_;
  bool has_data_maps_ = false;
};

}  // namespace culprit
