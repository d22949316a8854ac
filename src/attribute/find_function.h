#pragma once

// Which function a name means: the symbol, or the inlined code, with the most counts.

#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/result.h"

namespace culprit {

/// `function`: a name or a pattern; `module` likewise, "" = any.
struct WantedFunction {
  std::string function;
  std::string module;
};

struct FoundFunction {
  ImageId image;
  std::string name;
  bool inlined = false;             // it has no symbol; `functions` hold inlined copies
  std::vector<uint32_t> functions;  // rows of the facts' functions that it is, or is in
  std::vector<std::string> others;  // "name (module)" of what else matched
};

/// An error where nothing with counts matches, with the nearest name there is.
Result<FoundFunction> find_function(CodeIndex& code, const WantedFunction& wanted);

}  // namespace culprit
