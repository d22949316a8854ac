#pragma once

// The machine facts of a recording.

#include "model/profile.h"

namespace culprit {

/// The machine that runs us; `clock` is left empty.
Machine describe_machine();

}  // namespace culprit
