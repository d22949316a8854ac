#pragma once

// Names of data objects that are made into longer ones: of blocks of the heap that are objects of
// their own (record --objects instance) their number among those that one place allocates, from 1
// on, "#17"; of variables of the stack their name and where they are declared, "words\tparse.c:12".

namespace culprit {

inline constexpr char kInstanceMark = '#';
inline constexpr char kBeforePlace = '\t';

}  // namespace culprit
