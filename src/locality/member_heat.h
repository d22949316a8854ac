#pragma once

// MemberHeat: which members of a struct are accessed where the program waits for it.
//
//     loop of     waits   price  id   note         An initialization may access each member once,
//     report      95 %      1     0    0           and nobody waits there: what counts is how often
//     make         5 %      1     1    1           loops access a member, beside the one that they
//     heat                  1   0.05  0.05         access most, each by the share of its waits
//
// Code that accesses several members by one instruction (memcpy) tells nothing of them.

#include <cstdint>
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
};

/// `hot` is empty where most of the waits are of code that does not tell which member it accesses,
/// and where the object is no struct.
/// Units:  modelled cycles of waiting for the object -> [bytes]
MemberHeat compute_member_heat(CodeIndex& code, CodeLoops& loops, ObjectId object,
                               const UseEvents& events);

}  // namespace culprit
