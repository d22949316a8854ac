#pragma once

#include <string>

#include "model/profile.h"

namespace culprit {

/// What others had of the CPUs while the program was timed, where it is enough to slow it: they use
/// its caches, its memory and, where CPUs are the threads of a core, that core. "" if not, and of
/// less than 100 ms, of which the kernel does not tell.
std::string describe_others(const Profile& profile);

}  // namespace culprit
