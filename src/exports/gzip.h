#pragma once

// gzip, by zlib.

#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

/// The same bytes always give the same file: no name and no time in its header.
Result<std::string> gzip(std::string_view bytes);

}  // namespace culprit
