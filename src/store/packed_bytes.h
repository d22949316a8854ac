#pragma once

// Compressed bytes with limits: one zstd frame that must hold exactly the number of
// bytes that its row of the file declares, and never more than kMaxRawBytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

inline constexpr uint64_t kMaxRawBytes = uint64_t{64} << 20;

/// Deterministic: the same bytes give the same result.
Result<std::string> compress(std::string_view raw);

Result<std::string> decompress(std::string_view packed, uint64_t raw_bytes);

}  // namespace culprit
