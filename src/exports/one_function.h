#pragma once

// The one function that a name means.

#include <string>

#include "attribute/code_index.h"
#include "base/result.h"

namespace culprit {

struct OneFunction {
  ImageId image;
  uint32_t row = 0;  // of the facts' functions
  std::string name;
};

/// Looks among the functions with counts or branch records, in images that match `image`
/// ("": all): by full or linkage name, then without parameters, then as people say it,
/// then as a pattern; the first step that finds something decides.
/// Errors: none (with the nearest name), or several (they are listed).
Result<OneFunction> find_one_function(CodeIndex& code, const std::string& name,
                                      const std::string& image);

}  // namespace culprit
