#pragma once

// Whose code a frame of a call stack is: the kernel's, a system library's, or the program's own;
// and which stacks a part of the program is on.

#include <string>
#include <string_view>
#include <vector>

#include "attribute/code_index.h"
#include "report/report.h"

namespace culprit {

enum class CodeOwner : uint8_t { kernel, library, program };

/// `library`: the C and C++ libraries, the dynamic linker, the vDSO; and code that nothing is known
/// of. Other libraries count as the program's own.
CodeOwner find_code_owner(const CodeIndex& code, ImageId image);

/// A function of the program's own, and its line: "file.c:9"; "" of what is not known.
struct OwnPlace {
  std::string function;
  std::string line;
};

/// "file.c:9"; "" if the line is not known.
std::string name_line(std::string_view file, uint32_t line);

/// Where the program's own code asks for what is at the top of a stack: the innermost frame of its
/// own sources. Code of system headers is in the program's file, but nobody changes it; a stack
/// that has nothing else of the program has the innermost function that was compiled of them.
/// Shape:  stack innermost first
OwnPlace find_own_place(CodeIndex& code, const std::vector<Location>& stack);

/// Whether all filters are of functions and modules.
bool are_of_code(const std::vector<Filter>& filters);

/// Whether such filters mean the frame of a function (may be "") of an image.
bool means_frame(const std::vector<Filter>& filters, const CodeIndex& code, ImageId image,
                 std::string_view function);

/// Whether a frame of the program or its libraries is meant.
bool is_on_stack(const std::vector<Filter>& filters, CodeIndex& code,
                 const std::vector<Location>& stack);

}  // namespace culprit
