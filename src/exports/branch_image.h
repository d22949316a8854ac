#pragma once

// The image that a format of branch records is about.

#include <string>

#include "attribute/code_index.h"
#include "base/result.h"

namespace culprit {

/// The image with most taken branches of those whose path or file name matches `pattern`
/// ("": all). Errors: no branch records, with how to get them; no match, with what there is.
Result<ImageId> choose_branch_image(CodeIndex& code, const std::string& pattern);

/// Whether the image's path or file name is `pattern`, or matches it; "" matches all.
bool image_matches(const CodeIndex& code, ImageId image, const std::string& pattern);

}  // namespace culprit
