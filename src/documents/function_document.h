#pragma once

// The code of a function for the page: instructions, blocks and source lines by column.

#include <string>

#include "annotate/annotation.h"

namespace culprit {

/// Shape:  schema/web_function.schema.json
std::string function_document(const Profile& profile, const Annotation& annotation);

}  // namespace culprit
