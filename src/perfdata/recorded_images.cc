#include "perfdata/recorded_images.h"

#include <fmt/format.h>

#include "records/mapped_path.h"

namespace culprit {

namespace {

ImageId add_image(Image image, std::string_view path, ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  image.path = builder.intern(path);
  profile.images.push_back(std::move(image));
  return ImageId(profile.images.size() - 1);
}

}  // namespace

FileKey RecordedImages::intern(const MmapRecord& map, bool is_first_of_process) {
  const auto [at, is_new] =
      keys_.try_emplace(fmt::format("{}\n{}\n{}:{}:{}", map.path, map.build_id, map.device_major,
                                    map.device_minor, map.inode),
                        static_cast<FileKey>(files_.size()));
  if (!is_new) return at->second;
  MappedPath file;
  file.path = strip_deleted(map.path);
  file.build_id = map.build_id;
  file.inode = map.inode;
  file.is_vdso = is_vdso_path(map.path);
  file.is_anonymous = !file.is_vdso && is_anonymous_path(map.path);
  file.is_program = is_first_of_process;
  files_.push_back(std::move(file));
  return at->second;
}

void RecordedImages::make_image(MappedPath& file) {
  Image image;
  image.kind = file.is_vdso      ? ImageKind::vdso
               : file.is_program ? ImageKind::program
                                 : ImageKind::library;
  image.inode = file.inode;
  image.build_id = file.build_id;
  if (const auto known = build_ids_.find(file.path);
      image.build_id.empty() && known != build_ids_.end()) {
    image.build_id = known->second;
  }
  file.image = add_image(std::move(image), file.path, builder_);
}

Location RecordedImages::locate(const Mapping& mapping, RunAddress address) {
  MappedPath& file = files_.at(mapping.file);
  if (file.is_anonymous) {
    return {place_holder(anonymous_, kAnonymousPath), FileOffset(address.value)};
  }
  if (file.image.is_all()) make_image(file);
  return {file.image, FileOffset(mapping.file_offset + (address - mapping.start))};
}

std::optional<ImageId> RecordedImages::find_image(const Mapping& mapping) {
  MappedPath& file = files_.at(mapping.file);
  if (file.is_anonymous) return std::nullopt;
  if (file.image.is_all()) make_image(file);
  return file.image;
}

Location RecordedImages::locate_in_guest(RunAddress address) {
  return {place_holder(guest_, kGuestUserPath), FileOffset(address.value)};
}

Location RecordedImages::locate_unknown(RunAddress address) {
  return {place_holder(unknown_, "[unknown]"), FileOffset(address.value)};
}

ImageId RecordedImages::place_holder(ImageId& image, std::string_view path) {
  if (image.is_all()) image = add_image({}, path, builder_);
  return image;
}

void RecordedImages::set_build_id(Mode mode, std::string_view path, const std::string& build_id) {
  if (mode != Mode::user) return;
  build_ids_[std::string(path)] = build_id;
  for (const MappedPath& file : files_) {
    if (file.path != path || file.image.is_all()) continue;
    Image& image = builder_.profile().images[file.image.value];
    if (image.build_id.empty()) image.build_id = build_id;
  }
}

namespace {

constexpr uint64_t kKernelSizeLimit = uint64_t{1} << 28;  // modules begin not far after it

/// "[kernel.kallsyms]_text", "[guest.kernel.kallsyms.123]", "/boot/vmlinux-5.4",
/// "[kernel.vmlinux]".
bool is_kernel_path(std::string_view path) {
  return path.starts_with("[kernel") || path.starts_with("[guest.kernel") ||
         path.find("vmlinux") != path.npos;
}

/// "[ext4]" for "[ext4]" and "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz".
std::string module_path(std::string_view path) {
  if (path.starts_with('[')) return std::string(path);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  std::string name(file.substr(0, file.find(".ko")));
  for (char& letter : name) {
    if (letter == '-') letter = '_';
  }
  return "[" + name + "]";
}

}  // namespace

ImageId RecordedKernel::make_image(ImageKind kind, const std::string& path, uint64_t size_bytes) {
  Image image;
  image.kind = kind;
  image.size_bytes = size_bytes;
  if (const auto known = build_ids_.find(path); known != build_ids_.end()) {
    image.build_id = known->second;
  }
  return add_image(std::move(image), path, builder_);
}

void RecordedKernel::map(const MmapRecord& map) {
  if (is_kernel_path(map.path)) {
    // simpleperf maps it from 0 to the end, which does not tell where it begins.
    is_everywhere_ = map.start.value == 0 && map.file_offset == 0;
    // The offset is the address of the symbol that the name ends with, _text or _stext.
    text_ = RunAddress(map.file_offset != 0 ? map.file_offset : map.start.value);
    return;
  }
  code_.replace({map.start, map.length, ImageKind::module, module_path(map.path), {}});
}

void RecordedKernel::make_code_image(LoadedCode& code) {
  const bool is_program = code.kind == ImageKind::jit;
  code.image =
      make_image(code.kind, is_program ? "[bpf] " + code.name : code.name, code.size_bytes);
  if (!is_program) return;
  // A BPF program's name ends with the hash of its code.
  builder_.profile().images[code.image.value].content_hash = code.name;
  facts_.emplace_back(code.image, make_code_object_facts(builder_.profile().machine.architecture,
                                                         code.name, code.size_bytes));
}

Location RecordedKernel::locate(RunAddress address) {
  if (LoadedCode* const code = code_.find(address)) {
    if (code->image.is_all()) make_code_image(*code);
    return {code->image, FileOffset(address - code->start)};
  }
  const bool is_kernel = text_ && address >= *text_ && address - *text_ < kKernelSizeLimit;
  if (is_kernel || is_everywhere_) {
    if (kernel_.is_all()) kernel_ = make_image(ImageKind::kernel, path_, 0);
    return {kernel_, FileOffset(address - *text_)};
  }
  if (unknown_.is_all()) {
    unknown_ = make_image(ImageKind::unknown, unknown_path_, 0);
  }
  return {unknown_, FileOffset(address.value)};
}

void RecordedKernel::set_build_id(std::string_view path, const std::string& build_id) {
  const std::string name = is_kernel_path(path) ? path_ : module_path(path);
  build_ids_[name] = build_id;
  for (Image& image : builder_.profile().images) {
    const bool is_kernel = image.kind == ImageKind::kernel || image.kind == ImageKind::module;
    if (is_kernel && image.build_id.empty() &&
        builder_.profile().strings.text(image.path) == name) {
      image.build_id = build_id;
    }
  }
}

}  // namespace culprit
