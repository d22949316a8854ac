#pragma once

// Where answers of `culprit scan` go, and the commands that it proposes next.

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/options/scan_options.h"

namespace culprit {

/// Errors: it is there already, and may not be replaced; it cannot be written
Result<void> write_whole_file(const std::string& path, std::string_view text, bool may_replace);

/// Prints an answer, or writes it into the file that was asked for. The exit status.
int print_scan_answer(const ScanCommand& command, const Result<std::string>& text);

/// The same command for the same setup file, and the same file of the scan.
std::string with_plan(std::string words, const ScanCommand& command);

/// "culprit scan table" of the file that this command looks at.
std::string with_input(std::string words, const ScanCommand& command);

}  // namespace culprit
