#pragma once

// A TopTable as lines of text, for a terminal of some size or for a file:
//
//     culprit top  whole system  last 10 s  19,980 samples  199.8 % of 2 CPUs
//        CPU %          95 %    share  samples  process
//         83.1   80.6 - 85.7   41.6 %    8,310  cc1plus (4711)

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "top/top_table.h"
#include "top/top_view.h"

namespace culprit {

/// What a screen says besides its table.
struct TopHeader {
  std::string of;       // "whole system", "process 4711", "./a.out 3"
  size_t cpus = 0;      // that are watched
  uint64_t lost = 0;    // samples
  bool is_all = false;  // everything since the beginning
  bool has_ended = false;
};

struct ScreenLine {
  enum class Kind : uint8_t { title, heading, row, remark };
  Kind kind = Kind::row;
  std::string text;
  bool is_selected = false;
};

/// Lines above and below the rows.
inline constexpr size_t kTopOtherLines = 4;

/// `height` lines of at most `width` columns, the last one says which keys there are.
std::vector<ScreenLine> make_top_screen(const TopTable& table, const TopHeader& header,
                                        const TopView& view, size_t width, size_t height);

/// The first `rows` rows for a file or a pipe, where nobody presses keys.
std::string print_top_batch(const TopTable& table, const TopHeader& header, size_t width,
                            size_t rows);

}  // namespace culprit
