#pragma once

// Names of data objects that are made into longer ones: of blocks of the heap that are objects of
// their own (record --objects instance) their number among those that one place allocates, from 1
// on, "#17"; of variables of the stack their name and where they are declared, "words\tparse.c:12".
// Where several variables share a place, it is that of the first, "left or right\tparse.c:12", or
// if only their types differ, "words or another\tparse.c:12".

#include <string_view>

namespace culprit {

inline constexpr char kInstanceMark = '#';
inline constexpr char kBeforePlace = '\t';
inline constexpr std::string_view kBetweenVariables = " or ";

}  // namespace culprit
