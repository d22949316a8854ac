#pragma once

// Several epochs as one profile.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "epochs/epoch_database.h"
#include "model/profile.h"
#include "model/profile_merger.h"

namespace culprit {

struct MergedEpochs {
  Profile profile;
  /// Images whose facts are in an epoch alone (code made at run time): file, and row there.
  struct Place {
    std::string path;
    ImageId image;
  };
  std::map<ImageId, Place> own_facts;
  size_t epochs = 0;  // that were read
};

/// Adds them up: each stays a run, but counts are no longer told apart by it. Epochs that cannot
/// be read are left out, and a note in the ledger says so.
/// Errors: none of them could be read.
Result<MergedEpochs> merge_epochs(const std::vector<EpochFile>& files,
                                  Projection::Processes processes = Projection::Processes::by_name);

}  // namespace culprit
