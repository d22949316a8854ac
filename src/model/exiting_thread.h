#pragma once

#include <string_view>

namespace culprit {

/// The name of what stands for the threads of a process that were sampled while they ended: by then
/// the kernel has taken their numbers away. It is none of the process's threads by itself.
inline constexpr std::string_view kExitingThread = "[exiting]";

}  // namespace culprit
