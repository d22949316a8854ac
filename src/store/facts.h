#pragma once

// ImageFacts ⇄ the tables `image_facts` (a row for each image) and `facts` (its vectors,
// each a packed part of its own, so that a report loads only what it needs).

#include <optional>

#include "model/image_facts.h"
#include "store/database.h"
#include "store/profile_file.h"

namespace culprit {

/// Adds or replaces the facts of one image. Inside a transaction of the caller.
/// Gives the number of bytes that went into the file.
Result<uint64_t> replace_facts(const Database& database, ImageId image, const ImageFacts& facts);

/// nullopt: the file has none. Ids are in range and rows in order, whatever the file says.
Result<std::optional<ImageFacts>> read_image_facts(const Database& database, ImageId image,
                                                   FactParts parts);

}  // namespace culprit
