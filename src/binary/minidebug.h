#pragma once

// .gnu_debugdata ("MiniDebugInfo"): a small ELF file with the local symbols of a
// stripped one, xz-compressed into a section.

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

namespace culprit {

/// The ELF file inside a .gnu_debugdata section. Errors: not xz, damaged, or larger
/// than any honest one (256 MB).
Result<std::vector<std::byte>> parse_minidebug(std::span<const std::byte> section);

}  // namespace culprit
