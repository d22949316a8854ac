#include "snapshot/find_files.h"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "snapshot/debuginfod.h"

namespace culprit {
namespace {

constexpr const char* kSystemDebugFolder = "/usr/lib/debug";

std::string file_name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 == 0: no slash, the whole text
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// ".build-id/6d/9e85cf..." below `folder`; "" for ids too short to be real.
std::string build_id_path(const std::string& folder, const std::string& build_id) {
  if (build_id.size() < 4) return "";
  return folder + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2);
}

/// `named_by`: the rights that led here; what the file names is opened with no more than those.
Result<OpenedElf> open_mapped(int fd, const std::string& path, const ReadingRights& named_by) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return errno_error("cannot read " + in_quotes(path), errno);
  ASSIGN_OR_RETURN(MappedFile bytes, MappedFile::map(fd, path));
  Result<ElfFile> elf = ElfFile::open(bytes.bytes());
  if (!elf) return elf.error().with("cannot use " + in_quotes(path) + ": " + elf.error().message);
  return OpenedElf{path, std::move(bytes), *std::move(elf),
                   named_by.narrowed(ReadingRights::of_owner(status))};
}

/// The first of `paths` that is an ELF file for which `is_right` holds.
template <class IsRight>
std::optional<OpenedElf> find_first(const std::vector<std::string>& paths,
                                    const ReadingRights& rights, const IsRight& is_right) {
  for (const std::string& path : paths) {
    if (path.empty() || !file_exists(path)) continue;
    Result<OpenedElf> opened = open_elf(path, rights);
    if (opened && is_right(*opened)) return *std::move(opened);
  }
  return std::nullopt;
}

/// A debug file of a program that may name less than its own owner could read.
std::optional<OpenedElf> narrow(std::optional<OpenedElf> found, const ReadingRights& rights) {
  if (found) found->rights = found->rights.narrowed(rights);
  return found;
}

/// Whether the open file is what `path` leads to in our own file system.
bool is_at(int fd, const std::string& path) {
  struct stat held{};
  struct stat found{};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

/// The root of a container has the number of ours, but not its trust.
ReadingRights without_trust(const ReadingRights& owner) {
  return owner.are_ours() && ::geteuid() == 0 ? ReadingRights::of_everybody() : owner;
}

enum class Match { yes, perhaps, no };

/// Is this the file that ran? Without build-ids size and mtime speak, then the inode.
Match compare_identity(const Image& image, const ElfFile& elf, int fd) {
  if (!image.build_id.empty()) return image.build_id == elf.build_id() ? Match::yes : Match::no;
  struct stat status{};
  if (::fstat(fd, &status) != 0) return Match::perhaps;
  const int64_t mtime_ns = status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
  if (image.size_bytes != 0 && image.size_bytes != static_cast<uint64_t>(status.st_size))
    return Match::no;
  if (image.mtime_ns != 0) return image.mtime_ns == mtime_ns ? Match::yes : Match::no;
  if (image.inode != 0) return image.inode == status.st_ino ? Match::yes : Match::no;
  return Match::perhaps;
}

std::vector<std::string> list_binary_places(const std::string& folder, const std::string& path,
                                            const std::string& build_id) {
  const std::string by_id = build_id_path(folder, build_id);
  std::vector<std::string> places;
  if (path.starts_with('/')) places.push_back(place_below(folder, path));
  if (!by_id.empty()) {
    places.push_back(by_id);
    places.push_back(by_id + "/elf");  // perf's build-id cache and archive
  }
  places.push_back(folder + "/" + file_name_of(path));
  return places;
}

/// Files in a symbol folder can be compared by content only: dates and inodes are others.
std::optional<OpenedElf> find_in_folders(const Image& image, const std::string& path,
                                         const FileSearch& search) {
  for (const std::string& folder : search.symbol_folders) {
    auto found =
        find_first(list_binary_places(folder, path, image.build_id),
                   ReadingRights::of_owner(folder), [&](OpenedElf& file) {
                     if (!image.build_id.empty()) return file.elf.build_id() == image.build_id;
                     return image.size_bytes == 0 || image.size_bytes == file.bytes.bytes().size();
                   });
    if (found) return found;
  }
  return std::nullopt;
}

std::vector<std::string> list_debug_places(const std::string& folder, const std::string& path,
                                           const std::string& build_id,
                                           const std::optional<DebugLink>& link) {
  std::vector<std::string> places;
  for (const std::string& root : {folder, folder + kSystemDebugFolder}) {
    const std::string by_id = build_id_path(root, build_id);
    if (!by_id.empty()) {
      places.push_back(by_id + ".debug");
      places.push_back(by_id + "/debug");
    }
    if (!link) continue;
    places.push_back(place_below(root, folder_of(path) + "/" + link->name));
  }
  if (link) places.push_back(folder + "/" + link->name);
  places.push_back(folder + "/" + file_name_of(path) + ".debug");
  if (path.starts_with('/')) places.push_back(place_below(folder, path));  // unstripped
  places.push_back(folder + "/" + file_name_of(path));
  return places;
}

}  // namespace

std::string place_below(const std::string& folder, const std::string& path) {
  return folder + std::filesystem::path("/" + path).lexically_normal().string();
}

Result<OpenedElf> open_elf(const std::string& path, const ReadingRights& rights) {
  ASSIGN_OR_RETURN(const Fd fd, open_as(rights, path).fd);
  return open_mapped(fd.get(), path, rights);
}

FoundBinary find_binary(const Image& image, const std::string& path, int held,
                        const FileSearch& search) {
  FoundBinary found;
  if (held >= 0) {
    // The recording opened it while the process ran: it is the file, whatever its name is now.
    if (Result<OpenedElf> opened = open_mapped(held, path, search.rights);
        opened && (image.build_id.empty() || opened->elf.build_id() == image.build_id)) {
      if (!is_at(held, path)) opened->rights = without_trust(opened->rights);
      found.file = *std::move(opened);
      return found;
    }
  }
  found.file = find_in_folders(image, path, search);
  if (found.file) return found;

  Result<OpenedElf> opened = open_elf(path, search.rights);
  if (opened) {
    const Match match = compare_identity(image, opened->elf, opened->bytes.fd());
    if (match != Match::no) {
      if (match == Match::perhaps)
        found.missing = "nothing tells whether the file at " + path + " is the one that ran";
      found.file = *std::move(opened);
      return found;
    }
    found.is_replaced = true;
    found.missing = image.build_id.empty()
                        ? "the file at " + path + " has changed since (it was replaced)"
                        : "the file at " + path + " has another build-id (it was replaced)";
  } else {
    found.is_replaced = !file_exists(path) && path.starts_with('/');
    found.missing = found.is_replaced ? "there is no file at " + path + " any more (it was deleted)"
                                      : opened.error().message;
  }
  // Somebody else may still have it.
  if (search.use_debuginfod && !image.build_id.empty()) {
    if (const auto fetched =
            fetch_from_debuginfod(image.build_id, DebuginfodKind::executable, search.stop))
      found.file = find_first({*fetched}, {},
                              [&](OpenedElf& f) { return f.elf.build_id() == image.build_id; });
  }
  if (found.file) found.missing.clear();
  return found;
}

std::optional<OpenedElf> find_vmlinux(const std::string& build_id, const std::string& release,
                                      const FileSearch& search) {
  const std::string by_id = build_id_path(kSystemDebugFolder, build_id);
  if (by_id.empty()) return std::nullopt;
  const auto is_right = [&](const OpenedElf& file) { return file.elf.build_id() == build_id; };
  for (const std::string& folder : search.symbol_folders) {
    std::vector<std::string> places =
        list_binary_places(folder, "/boot/vmlinux-" + release, build_id);
    places.push_back(folder + "/vmlinux");
    if (auto found = find_first(places, ReadingRights::of_owner(folder), is_right)) return found;
  }
  return find_first({by_id + ".debug", kSystemDebugFolder + ("/boot/vmlinux-" + release),
                     kSystemDebugFolder + ("/lib/modules/" + release + "/vmlinux"),
                     "/lib/modules/" + release + "/build/vmlinux", "/boot/vmlinux-" + release},
                    search.rights, is_right);
}

std::optional<OpenedElf> find_debug_file(const OpenedElf& binary, const std::string& path,
                                         const FileSearch& search) {
  const std::string& build_id = binary.elf.build_id();
  const std::optional<DebugLink> link = binary.elf.debug_link();
  const auto is_right = [&](const OpenedElf& file) {
    if (file.elf.debug_info_bytes() == 0 && !file.elf.has_symbol_table()) return false;
    if (!build_id.empty() || !file.elf.build_id().empty()) return file.elf.build_id() == build_id;
    return link && compute_debug_link_crc(file.bytes.bytes()) == link->crc;
  };
  for (const std::string& folder : search.symbol_folders)
    if (auto found = find_first(list_debug_places(folder, path, build_id, link),
                                ReadingRights::of_owner(folder), is_right))
      return narrow(std::move(found), binary.rights);

  std::vector<std::string> places;
  if (link) {
    // The file is looked for beside where it was found, and beside where the process saw it.
    std::error_code ignored;
    const std::string real = std::filesystem::canonical(binary.path, ignored).string();
    for (const std::string& folder : {folder_of(binary.path), folder_of(real)}) {
      places.push_back(folder + "/" + link->name);
      places.push_back(folder + "/.debug/" + link->name);
      places.push_back(kSystemDebugFolder + folder + "/" + link->name);
    }
  }
  if (const std::string by_id = build_id_path(kSystemDebugFolder, build_id); !by_id.empty())
    places.push_back(by_id + ".debug");
  if (auto found = find_first(places, binary.rights, is_right))
    return narrow(std::move(found), binary.rights);

  if (search.use_debuginfod && !build_id.empty()) {
    if (const auto fetched =
            fetch_from_debuginfod(build_id, DebuginfodKind::debug_info, search.stop))
      return narrow(find_first({*fetched}, {}, is_right), binary.rights);
  }
  return std::nullopt;
}

std::optional<OpenedElf> find_alt_file(const OpenedElf& debug_file, const FileSearch& search) {
  const std::optional<AltLink> link = debug_file.elf.alt_link();
  if (!link) return std::nullopt;
  const auto is_right = [&](const OpenedElf& file) {
    return file.elf.build_id() == link->build_id;
  };
  const bool is_absolute = link->path.starts_with('/');

  for (const std::string& folder : search.symbol_folders) {
    std::vector<std::string> places;
    if (is_absolute) places.push_back(place_below(folder, link->path));
    places.push_back(folder + "/.dwz/" + file_name_of(link->path));
    places.push_back(folder + "/" + file_name_of(link->path));
    if (const std::string by_id = build_id_path(folder, link->build_id); !by_id.empty())
      places.push_back(by_id + ".debug");
    if (auto found = find_first(places, ReadingRights::of_owner(folder), is_right))
      return narrow(std::move(found), debug_file.rights);
  }
  std::vector<std::string> places;
  std::error_code ignored;
  const std::string real = std::filesystem::canonical(debug_file.path, ignored).string();
  if (is_absolute) {
    places.push_back(link->path);
  } else {
    places.push_back(folder_of(debug_file.path) + "/" + link->path);
    places.push_back(folder_of(real) + "/" + link->path);
  }
  places.push_back(std::string(kSystemDebugFolder) + "/.dwz/" + file_name_of(link->path));
  if (const std::string by_id = build_id_path(kSystemDebugFolder, link->build_id); !by_id.empty())
    places.push_back(by_id + ".debug");
  if (auto found = find_first(places, debug_file.rights, is_right))
    return narrow(std::move(found), debug_file.rights);

  if (search.use_debuginfod) {
    if (const auto fetched =
            fetch_from_debuginfod(link->build_id, DebuginfodKind::debug_info, search.stop))
      return narrow(find_first({*fetched}, {}, is_right), debug_file.rights);
  }
  return std::nullopt;
}

}  // namespace culprit
