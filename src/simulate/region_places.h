#pragma once

// --roi and --region: from the name of a function to its places in the program's file.

#include <string>
#include <vector>

#include "base/result.h"
#include "binary/debug_facts.h"
#include "binary/symbols.h"
#include "simulate/counting/region.h"

namespace culprit {

/// A path as /proc/PID/maps has it.
std::string whole_path(const std::string& path);
/// The code of all functions, ascending.
std::vector<AddressRange> ranges_of(const Symbols& symbols);

/// `text`: SYMBOL of the program (or of a script's interpreter), or FILE:SYMBOL. A symbol is a
/// function's name as it is linked, as it is written, or that without parameters: then all that
/// have it.
/// Errors: no such program or file; no such function (the nearest names are told)
Result<counting::RegionPlaces> find_region(const std::string& text, const std::string& program);

}  // namespace culprit
