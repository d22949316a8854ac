#pragma once

// MemberHeat: which members of a struct are accessed where the program waits for it.
//
//     loop of     in vain   price  id   note       Waits for lines of which little is used are in
//     report       95 %       1     0    0         vain. What counts is how often loops access a
//     make          5 %       1     1    1         member, beside the one that they access most,
//     heat                    1   0.05  0.05       each by the share of its waits in vain. An
//                                                  initialization uses all of its lines.
//
// Code that accesses several members by one instruction (memcpy) tells nothing of them.

#include <cstdint>
#include <map>
#include <string>

#include "attribute/code_index.h"
#include "locality/loops.h"
#include "locality/use.h"

namespace culprit {

struct MemberHeat {
  std::string hot;  // names of the members that are accessed there: "price, count"
  uint64_t hot_bytes = 0;
  uint64_t cold_bytes = 0;  // of the others, padding among them
  uint64_t padding_bytes = 0;
  std::map<uint32_t, double> cold_parts;  // by loop, as cold_part()

  /// How often a loop accesses the cold member that it accesses most, beside the hot one [0 to 1].
  /// 1, too, of code that does not tell which members it accesses.
  [[nodiscard]] double cold_part(uint32_t loop) const {
    const auto found = cold_parts.find(loop);
    return found == cold_parts.end() ? 1 : found->second;
  }
};

/// `hot` is empty where most of the waits in vain are of code that does not tell which member it
/// accesses, and where the object is no struct. Units:  modelled cycles of waiting for the object
/// -> [bytes]
MemberHeat compute_member_heat(CodeIndex& code, CodeLoops& loops, ObjectId object,
                               const UseEvents& events, uint32_t line_bytes);

}  // namespace culprit
