#pragma once

// snapshot: finds the binaries and debug files of the images that have counts
// and makes their ImageFacts, so that the profile travels alone.
//
//   image identity ─→ file (held open by the recording, its path, --symbols DIR)
//        build-id decides whether it is the right one
//   file ─→ debug file: own sections, .gnu_debuglink, /usr/lib/debug/.build-id,
//        --symbols DIR, debuginfod; .gnu_debugaltlink beside it
//   both ─→ functions, lines, inlined calls, code bytes, source text
//        of the functions that have counts

#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/image_facts.h"
#include "model/profile.h"
#include "snapshot/kernel_symbols.h"
#include "snapshot/reading_rights.h"
#include "snapshot/type_facts.h"

namespace culprit {

struct SnapshotOptions {
  std::vector<std::string> symbol_folders;  // --symbols: sysroots or flat folders, searched first
  bool with_source = true;                  // --no-source: leave source text out
  bool use_debuginfod = true;               // only if DEBUGINFOD_URLS is set, too
  /// Names of functions by symbol tables, and nothing else: no lines, inlined calls or code.
  bool names_only = false;
  bool all_functions = false;  // --facts all: names of those without counts, too
  ReadingRights rights;        // of the owner of the file that names the images
  /// read_kernel_symbols() of somebody who had the time for it before; empty: as they are needed.
  std::shared_future<Result<KernelSymbols>> kernel_symbols;
};

/// Offsets of one image that have counts (samples, stack frames, branches, regions), ascending.
struct ImageDemand {
  ImageId image;
  std::vector<FileOffset> offsets;
  WantedData data{};
};

/// Every image with counts in histograms or stacks of `profile`.
std::vector<ImageDemand> collect_demand(const Profile& profile);

/// Adds what another part of the same profile has counts of. Both ascend by image.
void merge_demand(const std::vector<ImageDemand>& more, std::vector<ImageDemand>& demand);

/// Called for each image when its facts are ready, from one thread at a time.
using FactsSink = std::function<Result<void>(ImageId, const ImageFacts&)>;
/// Called now and then with images done and in all; false stops (Ctrl-C): what is done stays.
using SnapshotProgress = std::function<bool(size_t done, size_t total)>;

/// Makes facts for every image in `demand`. Files that cannot be found or read are not
/// errors: their facts say why (ImageFacts::missing), and `ledger` counts them.
/// `held`: files that the recording kept open, by image (they may have been deleted since).
Result<void> make_facts(const Profile& profile, const std::vector<ImageDemand>& demand,
                        const std::map<ImageId, Fd>& held, const SnapshotOptions& options,
                        const FactsSink& sink, const SnapshotProgress& progress, Ledger& ledger);

}  // namespace culprit
