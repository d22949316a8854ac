#pragma once

// What kinds of constructs are called in profiles (Region::kind, Region::name).

#include <cstdint>
#include <string_view>

#include "openmp/guest/region_kinds.h"

namespace culprit::openmp {

/// "parallel"; `kind`: a culprit_region_kind.
std::string_view kind_word(uint16_t kind);
/// "dynamic"; `detail`: a culprit_region_detail, "" for those that say nothing.
std::string_view detail_word(uint16_t detail);

/// Whether a thread that is in such a construct does nothing but wait; by its word.
bool only_waits(std::string_view kind);

}  // namespace culprit::openmp
