#pragma once

// Tells which taken branches are calls. Where the code is known, the instruction at the source says
// it: call instructions are calls, and so are jumps to the first instruction of another function
// (tail calls). Where it is not known, a call is what arrives at the first instruction of another
// function.

#include "branches/function_code.h"
#include "model/profile.h"

namespace culprit {

enum class CallKind : uint8_t { other, call, indirect_call };

CallKind find_call_kind(FunctionCodes& codes, const Location& from, const Location& to);

}  // namespace culprit
