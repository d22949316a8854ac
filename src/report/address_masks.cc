#include "report/address_masks.h"

#include <bit>

namespace culprit {
namespace {

/// Addresses [begin, end); the last address of all has no end.
struct Cover {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// The smallest block that holds all of it.
Cover smallest_around(Cover range) {
  const auto exponent = static_cast<unsigned>(std::bit_width(range.begin ^ (range.end - 1)));
  if (exponent > 63) return {0, UINT64_MAX};
  const uint64_t mask = (uint64_t{1} << exponent) - 1;
  const uint64_t last = range.begin | mask;
  return {range.begin & ~mask, last == UINT64_MAX ? last : last + 1};
}

/// The largest block that is in it.
Cover largest_within(Cover range) {
  for (auto exponent = std::bit_width(range.end - range.begin) - 1;; --exponent) {
    const uint64_t size = uint64_t{1} << exponent;
    const uint64_t first = (range.begin + size - 1) & ~(size - 1);
    const bool fits = first >= range.begin && first < range.end && range.end - first >= size;
    if (fits) return {first, first + size};
  }
}

Cover cover(Cover range, unsigned masks) {
  if (range.begin == range.end) return range;
  if (masks <= 1) return smallest_around(range);
  const Cover middle = largest_within(range);
  const uint64_t before = middle.begin - range.begin;
  const uint64_t behind = range.end - middle.end;
  const unsigned left = masks - 1;
  const unsigned of_larger = left - left / 2;
  const unsigned for_before = before > behind ? of_larger : left / 2;
  const unsigned for_behind = left - for_before;
  if ((before != 0 && for_before == 0) || (behind != 0 && for_behind == 0)) {
    return smallest_around(range);
  }
  return {cover({range.begin, middle.begin}, for_before).begin,
          cover({middle.end, range.end}, for_behind).end};
}

}  // namespace

MaskCover cover_by_masks(uint64_t address, uint64_t size_bytes, unsigned masks) {
  if (size_bytes == 0 || size_bytes > UINT64_MAX - address) return {};
  const Cover range{address, address + size_bytes};
  const Cover covered = cover(range, masks);
  return {range.begin - covered.begin, covered.end - range.end};
}

}  // namespace culprit
