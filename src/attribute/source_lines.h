#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/image_facts.h"

namespace culprit {

/// The text of a line; nullopt if the profile does not have it.
std::optional<std::string_view> find_source_line(const ImageFacts& facts, StringId file,
                                                 uint32_t line);

}  // namespace culprit
