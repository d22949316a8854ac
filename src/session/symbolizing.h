#pragma once

// The way from a recorded file to one that travels alone: read its counts, let
// `snapshot` make the facts of every image that has some, write them into the
// same file. `record` does it at its end, `symbolize` whenever asked. Where `progress` says to
// stop, images that are not done have no facts.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/image_facts.h"
#include "model/profile.h"
#include "snapshot/snapshot.h"
#include "store/profile_file.h"

namespace culprit {

/// Facts that the recording has already (JIT code).
using KnownFacts = std::vector<std::pair<ImageId, ImageFacts>>;

struct SymbolizeOutcome {
  size_t images = 0;         // with counts
  bool interrupted = false;  // stopped: some images have no facts
};

/// Symbolizes a file while it is made: the facts of `demand` go into `writer`, what is missing into
/// the ledger of `profile`. `known` is what the recording itself knew, which is in the file.
Result<SymbolizeOutcome> symbolize(ProfileWriter& writer, Profile& profile,
                                   std::vector<ImageDemand> demand, const KnownFacts& known,
                                   const SnapshotOptions& options,
                                   const SnapshotProgress& progress);

/// `held`: files that the recording kept open.
Result<SymbolizeOutcome> symbolize_file(const std::string& path, const std::map<ImageId, Fd>& held,
                                        const KnownFacts& known, const SnapshotOptions& options,
                                        const SnapshotProgress& progress);

}  // namespace culprit
