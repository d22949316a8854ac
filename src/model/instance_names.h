#pragma once

// How blocks of the heap are named that are objects of their own (record --objects instance): by
// their number among those that one place allocates, from 1 on, "#17".

namespace culprit {

inline constexpr char kInstanceMark = '#';

}  // namespace culprit
