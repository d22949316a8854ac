#pragma once

// DebugInfo: functions, line rows and inlined calls of wanted code ranges, from
// DWARF 2 to 5.
//
//   wanted ranges ─→ the units that hold them ─→ walk each unit once ─→ RangeFacts
//
// A unit's tree is walked past its types (DW_AT_sibling) and into functions only
// where something is wanted in them; nested functions are looked for when a first,
// shallow walk has left wanted code without one. Line rows are kept only inside
// wanted ranges. So the work follows what is asked, not the size of the file.
//
// Built on libdw; units whose code description was split off (.dwo, .dwp) are
// read through split_dwarf.h.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "binary/debug_facts.h"
#include "binary/elf_file.h"

namespace culprit {

/// Every `count`th unit, from `index` on: two threads can share the work, each with a
/// DebugInfo of its own.
struct UnitShare {
  uint32_t index = 0;
  uint32_t count = 1;
};

class DebugInfo {
 public:
  /// `image` has the code, `debug_file` the DWARF (it may be the same), `alt_file` what dwz
  /// moved out of it (or null). All must outlive the DebugInfo. `path` is where `debug_file`
  /// was found: split units are looked for from there, and in `folders`. Not for use by two
  /// threads, nor may two be opened at the same time on one ElfFile.
  static Result<DebugInfo> open(const ElfFile& image, const ElfFile& debug_file,
                                const ElfFile* alt_file, std::string path,
                                std::vector<std::string> folders = {});
  DebugInfo(DebugInfo&&) noexcept;
  DebugInfo& operator=(DebugInfo&&) noexcept;
  ~DebugInfo();

  /// What is known about `wanted` (ascending, disjoint) from this share of the units.
  DebugFacts read(std::vector<AddressRange> wanted, UnitShare share = {});

 private:
  struct State;
  explicit DebugInfo(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Joins what shares of the units gave for the same wanted ranges; the order of `parts`
/// does not matter.
DebugFacts merge_debug_facts(std::vector<DebugFacts> parts);

}  // namespace culprit
