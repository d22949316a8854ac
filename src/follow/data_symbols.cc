#include "follow/data_symbols.h"

#include <algorithm>

namespace culprit {

std::optional<LinkAddress> DataSymbols::find_link_address(const Mapping& code,
                                                          RunAddress address) const {
  const uint64_t file_end = code.file_offset + (code.end - code.start);
  const auto mapped = std::ranges::find_if(loads, [&](const Load& load) {
    return load.is_code && code.file_offset < load.offset.value + load.file_bytes &&
           load.offset.value < file_end;
  });
  if (mapped == loads.end()) return std::nullopt;
  const uint64_t bias =
      code.start.value - code.file_offset + mapped->offset.value - mapped->address.value;
  const LinkAddress link(address.value - bias);
  const bool is_loaded = std::ranges::any_of(loads, [&](const Load& load) {
    return link >= load.address && link - load.address < load.memory_bytes;
  });
  return is_loaded ? std::optional(link) : std::nullopt;
}

FileOffset DataSymbols::to_offset(LinkAddress address) const {
  for (const Load& load : loads) {
    if (address >= load.address && address - load.address < load.memory_bytes) {
      return load.offset + (address - load.address);
    }
  }
  return FileOffset(address.value);
}

const DataSymbols::Part* DataSymbols::find(const std::vector<Part>& parts, LinkAddress address) {
  // Variables lie in others where symbols mark parts of a table. What holds the address begins not
  // far before it in the list.
  constexpr ptrdiff_t kMostBegunSince = 64;
  auto at = std::ranges::upper_bound(parts, address, {}, &Part::begin);
  for (ptrdiff_t i = 0; i < kMostBegunSince && at != parts.begin(); ++i) {
    --at;
    if (address - at->begin < at->size_bytes) return &*at;
  }
  return nullptr;
}

}  // namespace culprit
