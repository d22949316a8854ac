#pragma once

// gzip, by zlib.

#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

/// The same bytes always give the same file: no name and no time in its header, but `comment`,
/// which readers skip.
Result<std::string> gzip(std::string_view bytes, std::string_view comment);

}  // namespace culprit
