#pragma once

// Files by build-id from the debuginfod servers of DEBUGINFOD_URLS, through elfutils'
// client and its cache.

#include <cstdint>
#include <optional>
#include <string>

namespace culprit {

enum class DebuginfodKind : uint8_t { executable, debug_info };

/// Path of the fetched (or cached) file; nullopt if no server is set up, none has it, or
/// nothing came for half a minute, or the client library (libdebuginfod1) is not installed.
std::optional<std::string> fetch_from_debuginfod(const std::string& build_id, DebuginfodKind kind);

}  // namespace culprit
