#pragma once

// Commands of a setup file: words in braces filled in, words split as a shell splits them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scan/names.h"

namespace culprit::scan {

/// Text with {name} replaced. `what` names the text in messages.
/// Errors: a name that no variable has; a brace that is not closed ("{{" stands for "{")
Result<std::string> fill_in(std::string_view text, const Variables& variables,
                            const std::string& what);

/// Fills in each word, with the loop count for {runs}.
Result<std::vector<std::string>> fill_words(const std::vector<std::string>& words,
                                            const std::string& runs);

/// The words of a command as a shell would split it: blanks, quotes and backslashes; nothing
/// else is special. Braces stay.
Result<std::vector<std::string>> split_words(std::string_view command);

/// A loop count as an argument, as wide as the largest of them: counting the digits of a number
/// costs instructions. 1, 300 → "001".
std::string write_runs(uint64_t runs, uint64_t most);

}  // namespace culprit::scan
