#pragma once

// The unwinder as recordings and imports are given it: as a function, because the rooms
// that use it do without elfutils.

#include <string>

#include "records/user_stack.h"

namespace culprit {

UnwindStack make_unwinder(const std::string& architecture, OpenMappedFile open);

/// Walks stacks of recordings on this machine; empty in the small build.
MakeUnwindStack find_unwinder();

}  // namespace culprit
