#pragma once

// Which taken branches are calls. By the instruction at the source, where its code is known:
// call instructions, and jumps to the first instruction of another function (tail calls).
// What a branch is, seen without its code: a call arrives at the first instruction of another
// function.

#include "branches/function_code.h"

#include "model/profile.h"

namespace culprit {

enum class CallKind : uint8_t { other, call, indirect_call };

CallKind find_call_kind(FunctionCodes& codes, const Location& from, const Location& to);

}  // namespace culprit
