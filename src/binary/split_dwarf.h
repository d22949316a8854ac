#pragma once

// Internal to `binary`: functions and inlined calls of units whose description was
// split off into .dwo files or a .dwp package (-gsplit-dwarf). LLVM's reader is
// used for these alone: elfutils 0.188 knows no .dwp. LLVM opens the files itself:
//
//   package   FOLDER/PATH.dwp, FOLDER/NAME.dwp, PATH.dwp, each also without a ".debug"
//   else      each unit's .dwo where the compiler wrote it (and no other if there is one),
//             then the same path, and the name alone, in each FOLDER
//
// The identity of each unit decides whether a file is the right one.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "binary/range_collector.h"

namespace culprit {

class SplitDwarf {
 public:
  /// `path`: where the debug file is; `folders`: where else split parts may be.
  static Result<SplitDwarf> open(std::span<const std::byte> debug_file, const std::string& path,
                                 std::vector<std::string> folders);
  SplitDwarf(SplitDwarf&&) noexcept;
  SplitDwarf& operator=(SplitDwarf&&) noexcept;
  ~SplitDwarf();

  /// Adds what the split part of the skeleton unit at this offset of .debug_info knows;
  /// `file_name` interns the file with an index of the unit's line table. False if the
  /// split part was not found.
  bool read_unit(uint64_t skeleton_offset, RangeCollector& collector,
                 const std::function<uint32_t(uint64_t index)>& file_name);

 private:
  struct State;
  explicit SplitDwarf(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace culprit
