#pragma once

// Code without names: how much of a profile it has, in which files, and what would name it.

#include <string>

#include "attribute/code_index.h"

namespace culprit {

/// "47.7 % of cpu-clock is code without symbols, in libgrind.so.2 (40.1 %) ...: what to do." Files
/// whose code is made at run time, and the kernel, have notes of their own.
/// Shape:  `event` is a row of the profile's events
/// Errors: "" if it is less than 5 % of the event, or the facts of functions are not there
std::string describe_nameless(CodeIndex& code, size_t event);

}  // namespace culprit
