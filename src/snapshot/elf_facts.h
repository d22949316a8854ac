#pragma once

// ImageFacts of an ELF file: the functions that hold wanted offsets, and for these
// functions line rows, inlined calls and code. In stripped files functions come from the
// unwind tables and are called "sub_" and their address. Where a wanted offset is in no
// function (padding, hand-made code), a stretch of 64 bytes around it has lines and code.

#include <string>
#include <vector>

#include "model/image_facts.h"
#include "snapshot/find_files.h"

namespace culprit {

/// What was found for one image.
struct ElfSources {
  const ElfFile& binary;
  std::string path;                  // of the binary
  const OpenedElf* debug = nullptr;  // null: the binary is all there is
  const OpenedElf* alt = nullptr;
  std::vector<std::string> folders = {};  // where .dwp and .dwo files may be, too
  ReadingRights rights = {};              // with which these are opened
  bool names_only = false;                // SnapshotOptions::names_only
  bool all_functions = false;             // SnapshotOptions::all_functions
};

/// `offsets` ascend. `threads`: how many may read debug information at the same time; the
/// result does not depend on it. Source text is not included.
ImageFacts make_elf_facts(const ElfSources& sources, const std::vector<FileOffset>& offsets,
                          unsigned threads);

}  // namespace culprit
