#pragma once

#include "host/capabilities.h"

namespace culprit {

/// Whether `culprit daemon` counts in the kernel here; else what it does instead, and why.
void describe_always_on(Capability& row);

}  // namespace culprit
