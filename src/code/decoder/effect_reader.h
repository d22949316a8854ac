#pragma once

// A decoded instruction → what it does (code/effects.h).

#include "base/address.h"
#include "code/decoder/llvm_machinery.h"
#include "code/effects.h"

namespace culprit {

/// `address`: where the instruction begins, with its prefixes.
Effect read_effect(const DecodedInstruction& instruction, LinkAddress address,
                   const LlvmMachinery& machinery);

}  // namespace culprit
