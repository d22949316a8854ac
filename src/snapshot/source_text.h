#pragma once

// Source text for the lines that facts mention: around each a little context, of a
// function's own file everything between its first and last line.

#include <string>
#include <vector>

#include "model/image_facts.h"
#include "snapshot/reading_rights.h"

namespace culprit {

struct SourceOutcome {
  std::string remark;    // for ImageFacts::missing, or ""
  uint64_t refused = 0;  // files that are there, but not for these rights
};

/// Fills facts.sources from the lines, inlines and functions in `facts`. Files are looked
/// for below each of `symbol_folders`, then at their own path, with `rights`; what is not there
/// is left out. Files newer than `binary_mtime_ns` (0: unknown) are used, and named in the remark.
SourceOutcome add_source_text(ImageFacts& facts, const std::vector<std::string>& symbol_folders,
                              const ReadingRights& rights, int64_t binary_mtime_ns);

}  // namespace culprit
