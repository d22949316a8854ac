#pragma once

// Names of data in files, as recordings and imports are given them: as a function, because the
// rooms that use it read no symbols.

#include "follow/data_symbols.h"
#include "snapshot/snapshot.h"

namespace culprit {

/// By the symbols of the file, or of the debug file that a stripped one has left (servers are not
/// asked); empty in the small build.
ReadDataSymbols find_data_reader(const SnapshotOptions& options);

}  // namespace culprit
