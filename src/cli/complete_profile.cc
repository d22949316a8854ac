#include "cli/complete_profile.h"

#include <fmt/format.h>

#include "base/heap.h"

namespace culprit {

SnapshotProgress show_symbols(ProgressLine& line, const InterruptGuard& guard, bool quiet) {
  return [&line, &guard, quiet](size_t done, size_t total) {
    if (!quiet) line.show(fmt::format("symbols of {} of {} images", done, total));
    return !guard.is_interrupted();
  };
}

Result<SymbolizeOutcome> complete_profile(const std::string& path,
                                          const std::map<ImageId, Fd>& held,
                                          const KnownFacts& known, const SnapshotOptions& options,
                                          bool quiet) {
  share_heap_among_threads();
  const InterruptGuard guard;
  ProgressLine line;
  return symbolize_file(path, held, known, options, show_symbols(line, guard, quiet));
}

}  // namespace culprit
