#pragma once

// Whose code a frame of a call stack is: the kernel's, a system library's, or the program's own;
// and which stacks a part of the program is on.

#include <string_view>
#include <vector>

#include "attribute/code_index.h"
#include "report/report.h"

namespace culprit {

enum class CodeOwner : uint8_t { kernel, library, program };

/// `library`: the C and C++ libraries, the dynamic linker, the vDSO; and code that nothing is known
/// of. Other libraries count as the program's own.
CodeOwner find_code_owner(const CodeIndex& code, ImageId image);

/// Whether all filters are of functions and modules.
bool are_of_code(const std::vector<Filter>& filters);

/// Whether such filters mean the frame of a function (may be "") of an image.
bool means_frame(const std::vector<Filter>& filters, const CodeIndex& code, ImageId image,
                 std::string_view function);

/// Whether a frame of the program or its libraries is meant.
bool is_on_stack(const std::vector<Filter>& filters, CodeIndex& code,
                 const std::vector<Location>& stack);

}  // namespace culprit
