#pragma once

#include "daemon/daemon.h"
#include "snapshot/snapshot.h"

namespace culprit {

/// Facts of what has counts in a finished epoch, into the archive beside it.
void complete_epoch(const ClosedEpoch& epoch, const SnapshotOptions& options);

}  // namespace culprit
