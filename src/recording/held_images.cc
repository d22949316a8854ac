#include "recording/held_images.h"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <span>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vdso.h"
#include "records/elf_identity.h"
#include "records/mapped_path.h"

namespace culprit {

namespace {

/// The vdso, which has no file, as one.
std::optional<Fd> copy_vdso() {
  const Result<std::string> bytes = read_own_vdso();
  if (!bytes) return std::nullopt;
  Result<Fd> memory = copy_to_memory(*bytes);
  if (!memory) return std::nullopt;
  return *std::move(memory);
}

/// A window of a file that follows what is asked for. A file is not mapped for three small pieces:
/// the kernel would make its pages known one by one, and forget them.
class FileWindow {
 public:
  explicit FileWindow(int fd) : fd_(fd) {}

  std::span<const std::byte> read(uint64_t offset, uint64_t size_bytes) {
    constexpr size_t kLeastBytes = 4096;
    if (offset < start_ || offset - start_ > bytes_.size() ||
        size_bytes > bytes_.size() - (offset - start_)) {
      start_ = offset;
      bytes_.resize(std::max<size_t>(size_bytes, kLeastBytes));
      const ssize_t got = ::pread(fd_, bytes_.data(), bytes_.size(), static_cast<off_t>(offset));
      bytes_.resize(got < 0 ? 0 : static_cast<size_t>(got));
    }
    const std::span<const std::byte> rest = std::span(bytes_).subspan(offset - start_);
    return rest.first(std::min<size_t>(size_bytes, rest.size()));
  }

 private:
  int fd_;
  uint64_t start_ = 0;
  std::vector<std::byte> bytes_;
};

Result<ElfIdentity> read_elf_identity(int fd) {
  FileWindow window(fd);
  return parse_elf_identity(
      [&window](uint64_t offset, uint64_t size_bytes) { return window.read(offset, size_bytes); });
}

}  // namespace

/// A file that was opened and is the one that was mapped.
struct HeldImages::Opened {
  Fd fd;
  struct stat status{};
  std::optional<ElfIdentity> elf;  // nullopt: not an ELF file
};

HeldImages::HeldImages() {
  files_.emplace_back();  // key 0: anonymous memory
}

FileKey HeldImages::intern(const MmapRecord& map) {
  const bool is_vdso = is_vdso_path(map.path);
  if (!is_vdso && is_anonymous_path(map.path)) return 0;
  const auto [at, is_new] =
      keys_.try_emplace(fmt::format("{}\n{}\n{}:{}:{}", map.path, map.build_id, map.device_major,
                                    map.device_minor, map.inode),
                        static_cast<FileKey>(files_.size()));
  if (!is_new) return at->second;
  HeldFile file;
  file.kind = is_vdso ? Kind::vdso : Kind::file;
  file.path = strip_deleted(map.path);
  file.is_deleted = file.path.size() != map.path.size();
  file.build_id = map.build_id;
  file.inode = map.inode;
  files_.push_back(std::move(file));
  return at->second;
}

std::optional<Location> HeldImages::locate(uint32_t pid, const Mapping& mapping, RunAddress address,
                                           ProfileBuilder& builder) {
  CHECK(mapping.file < files_.size());
  HeldFile& file = files_[mapping.file];
  if (!file.is_resolved) resolve(file, pid, mapping, builder);
  if (file.kind == Kind::anonymous) return std::nullopt;
  return Location{file.image, FileOffset(mapping.file_offset + (address - mapping.start))};
}

std::optional<Fd> HeldImages::open_file(uint32_t pid, const Mapping& mapping,
                                        ProfileBuilder& builder) {
  CHECK(mapping.file < files_.size());
  HeldFile& file = files_[mapping.file];
  if (!file.is_resolved) resolve(file, pid, mapping, builder);
  if (file.kind == Kind::vdso) return copy_vdso();
  const auto held = held_.find(file.image);
  if (held == held_.end()) return std::nullopt;
  Fd copy(::fcntl(held->second.get(), F_DUPFD_CLOEXEC, 0));
  return copy ? std::optional(std::move(copy)) : std::nullopt;
}

HeldImages::Opened HeldImages::open_candidate(const HeldFile& file, const std::string& path) {
  Opened opened;
  Result<Fd> fd = open_readable(path);
  if (!fd || ::fstat(fd->get(), &opened.status) != 0) return {};
  if (file.build_id.empty() && file.inode != 0 && file.inode != opened.status.st_ino) return {};
  if (Result<ElfIdentity> elf = read_elf_identity(fd->get())) opened.elf = *std::move(elf);
  if (!file.build_id.empty() && (!opened.elf || opened.elf->build_id != file.build_id)) return {};
  opened.fd = *std::move(fd);
  return opened;
}

HeldImages::Opened HeldImages::open(const HeldFile& file, uint32_t pid, const Mapping& mapping) {
  const std::string process = fmt::format("/proc/{}", pid);
  const std::string candidates[] = {
      process + "/root" + file.path,
      fmt::format("{}/map_files/{:x}-{:x}", process, mapping.start.value, mapping.end.value),
      process + "/exe",
      file.path,
  };
  for (const std::string& candidate : candidates) {
    if (Opened opened = open_candidate(file, candidate); opened.fd) return opened;
  }
  return {};
}

void HeldImages::resolve(HeldFile& file, uint32_t pid, const Mapping& mapping,
                         ProfileBuilder& builder) {
  file.is_resolved = true;
  if (file.kind == Kind::anonymous) return;
  Image image;
  image.path = builder.intern(file.path);
  image.build_id = file.build_id;
  image.inode = file.inode;
  image.kind = file.kind == Kind::vdso ? ImageKind::vdso : ImageKind::library;
  if (file.kind == Kind::vdso) {
    file.image = intern_image(image, builder);
    return;
  }
  Opened opened = open(file, pid, mapping);
  if (opened.fd && !opened.elf) {
    file.kind = Kind::anonymous;  // a compiler's code cache, kept in a file
    return;
  }
  if (opened.fd) {
    image.kind = opened.elf->is_program ? ImageKind::program : ImageKind::library;
    image.build_id = opened.elf->build_id;
    image.inode = opened.status.st_ino;
    image.size_bytes = static_cast<uint64_t>(opened.status.st_size);
    image.mtime_ns = opened.status.st_mtim.tv_sec * 1'000'000'000 + opened.status.st_mtim.tv_nsec;
  } else if (file.is_deleted && file.build_id.empty()) {
    // Nothing proves that it was code from a file: JIT compilers map deleted files, too.
    file.kind = Kind::anonymous;
    return;
  }
  file.image = intern_image(image, builder);
  if (opened.fd) held_.try_emplace(file.image, std::move(opened.fd));
}

ImageId HeldImages::intern_image(const Image& image, ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  const std::string identity = image.build_id.empty()
                                   ? fmt::format("{} {} {} {}", image.path.value, image.inode,
                                                 image.size_bytes, image.mtime_ns)
                                   : fmt::format("{} {}", image.path.value, image.build_id);
  const auto [at, is_new] = images_.try_emplace(identity, ImageId(profile.images.size()));
  if (is_new) profile.images.push_back(image);
  return at->second;
}

}  // namespace culprit
