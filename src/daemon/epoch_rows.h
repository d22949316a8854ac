#pragma once

// Rows of an epoch that several sources of its samples share.

#include <string_view>

#include "model/builder.h"

namespace culprit {

/// The processes of that name: the always-on daemon tells no others apart.
ProcessId intern_process(ProfileBuilder& epoch, std::string_view name);

/// The row that equals `image`, whose path is `path`, or a new one.
ImageId intern_image(ProfileBuilder& epoch, Image image, std::string_view path);

}  // namespace culprit
