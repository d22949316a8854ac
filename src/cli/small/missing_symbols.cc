// The daemon of a small build finishes epochs without symbols: whoever asks for a report, on a
// machine with the whole of culprit, looks them up.

#include "cli/complete_epoch.h"

namespace culprit {

void complete_epoch(const ClosedEpoch&, const SnapshotOptions&) {}

}  // namespace culprit
