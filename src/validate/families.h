#pragma once

// Families of kernels: what each does in a round, counted by hand from its instructions
// (validate/kernels), as quantities (templates/quantities.h). What a family does not name it must
// not cause.
//
//     random-branches   nine instructions of xorshift, test, a branch on one bit around a nop, dec,
//                       jnz: 13.5 instructions, 2 branches, 1.5 of them taken, half of a miss; no
//                       loads
//
// A round's counts are exact for instructions, branches, loads and stores. Of caches, TLBs and
// predictors they are what every design has: a walk over many times a level's size misses it, and
// one over half of it does not.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// How often something happens in a round.
struct Expectation {
  std::string quantity;  // of kQuantities, or an event of the software PMU's cycles ("sim:...")
  double least = 0;
  double most = 0;
};

struct Family {
  std::string name;
  std::string kernel;  // of culprit_kernels
  uint64_t rounds = 0;
  uint64_t bytes = 0;
  std::string what;  // what a round does, for people
  std::vector<Expectation> causes;
  std::vector<std::string> open{};  // quantities of which nothing is said: prefetchers, chance
  // What one of an event costs is the difference to a family without it:
  std::string costs{};      // the quantity; "": none
  std::string reference{};  // the family
};

/// The caches of the machine that kernels run on. 0: not known; a usual size is taken then.
struct CacheSizes {
  uint64_t l1d_bytes = 0;
  uint64_t l2_bytes = 0;
  uint64_t l3_bytes = 0;  // 0 where L2 is the last level, too
  uint64_t tlb_entries = 0;
};

/// Families for programs of the architecture that this culprit is built for.
/// Units:  causes per round
std::vector<Family> list_families(const CacheSizes& sizes);

}  // namespace culprit
