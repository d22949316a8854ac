#pragma once

// gzip, by zlib.

#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

/// Compresses `bytes`; the same bytes always give the same file: its header has no name and no
/// time, but `comment`, which readers skip.
Result<std::string> gzip(std::string_view bytes, std::string_view comment);

}  // namespace culprit
