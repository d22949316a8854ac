#pragma once

// Where is the file that really ran, and where is its debug information?
//
// The binary:      held open by the recording → DIR of --symbols (as a sysroot, a flat
//                  folder, a .build-id tree, perf's archive) → its own path
// The debug file:  the binary itself → DIR → .gnu_debuglink (beside the binary, .debug/,
//                  /usr/lib/debug) → /usr/lib/debug/.build-id → debuginfod
// The alt file:    .gnu_debugaltlink, by the same rules
//
// The build-id decides whether a file is the right one. A binary without one is known by
// size, mtime and inode, a debug file without one by the CRC of .gnu_debuglink.

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "binary/elf_file.h"
#include "model/profile.h"
#include "snapshot/reading_rights.h"

namespace culprit {

/// An ELF file, mapped; `elf` points into `bytes`.
struct OpenedElf {
  std::string path;
  MappedFile bytes;
  ElfFile elf;
  ReadingRights rights;  // with which to open the files that it names
};

Result<OpenedElf> open_elf(const std::string& path, const ReadingRights& rights);

struct FileSearch {
  std::vector<std::string> symbol_folders;  // --symbols
  bool use_debuginfod = true;
  ReadingRights rights;                     // with which to open the images that a profile names
  const std::atomic<bool>* stop = nullptr;  // true: servers are waited for no longer
};

/// The place of `path` in a folder of --symbols: never above it, wherever ".." would lead.
std::string place_below(const std::string& folder, const std::string& path);

struct FoundBinary {
  std::optional<OpenedElf> file;
  std::string missing;       // why there is no file, or what is doubtful about it
  bool is_replaced = false;  // another file is at its path now, or none
};

/// `path` is the image's; `held` is a file the recording kept open, or -1.
FoundBinary find_binary(const Image& image, const std::string& path, int held,
                        const FileSearch& search);

/// The uncompressed kernel of that build-id, where debug packages and kernel builds leave it.
std::optional<OpenedElf> find_vmlinux(const std::string& build_id, const std::string& release,
                                      const FileSearch& search);

/// The file with the debug information that `binary` lacks; nullopt if there is none.
std::optional<OpenedElf> find_debug_file(const OpenedElf& binary, const std::string& path,
                                         const FileSearch& search);

/// The file that .gnu_debugaltlink of `debug_file` names; nullopt if it has none or it
/// cannot be found.
std::optional<OpenedElf> find_alt_file(const OpenedElf& debug_file, const FileSearch& search);

}  // namespace culprit
