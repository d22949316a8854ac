#pragma once

// What a child that was forked must not hold open of its parent's: outputs, terminals, locks,
// sockets whose end somebody waits for.

#include <vector>

namespace culprit {

/// Closes all descriptors from `first` on but those in `kept`, of which negative ones are none.
void close_descriptors(int first, std::vector<int> kept = {});

}  // namespace culprit
