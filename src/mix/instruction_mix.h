#pragma once

// Events of a profile that say which kinds of instructions were executed.

#include "attribute/attribution.h"
#include "model/profile.h"

namespace culprit {

/// Adds an event for each kind (kMixEvents), counted at each instruction whose code the facts have.
/// The others have none: what is unknown is not 0, and their executions come back.
/// Units:  executions [count] x what one execution counts -> [count]
/// Errors: those of the event `instructions`; nothing is added where there is none
uint64_t add_instruction_mix(Profile& profile, const FactsLookup& facts);

}  // namespace culprit
