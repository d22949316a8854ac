#pragma once

// Files by build-id from the debuginfod servers of DEBUGINFOD_URLS, through elfutils'
// client and its cache.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace culprit {

enum class DebuginfodKind : uint8_t { executable, debug_info };

/// Path of the fetched (or cached) file; nullopt if no server is set up, none has it, the client
/// library (libdebuginfod1) is not installed, or the servers have been waited for long enough: half
/// a minute, of all files together, beside what the data would have taken at kUsefulBytesPerSecond.
/// Then none is asked any more. `stop`, once it is true, ends it within a second; may be null.
std::optional<std::string> fetch_from_debuginfod(const std::string& build_id, DebuginfodKind kind,
                                                 const std::atomic<bool>* stop);

/// A server that is slower than that is waited for; a download at this speed takes its time.
inline constexpr double kUsefulBytesPerSecond = 64 * 1024;

/// Whether that happened.
bool has_given_up_debuginfod();

/// Tests set it: servers are asked for no longer than that from now on, and again.
void set_debuginfod_patience(std::chrono::milliseconds patience);

}  // namespace culprit
