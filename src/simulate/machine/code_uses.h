#pragma once

// CodeUses: parts of the program's code that run again and again while nothing of L1I changes.
//
// Code runs far more often than its lines come and go. A run of a part that is where it was when it
// ran last changes only when its line and its page were used, which is noted at once, and how often
// they were: that joins the line's tenure when somebody looks at it, or it ends.
//
//     part 3 runs      its line is brought in, or found, like any (access.cc);  note()
//     part 3 runs      find(): it is there;  ++runs
//     part 3 runs      ++runs
//     its line leaves  collect(): 2 runs of part 3;  forget(): part 3 is not there any more

#include <cstdint>
#include <vector>

#include "simulate/machine/cache.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/tlb.h"
#include "simulate/machine/zeroed_array.h"

namespace culprit::simulate {

/// Bytes of one line of code that are always fetched together.
struct CodePart {
  static constexpr uint32_t kMostNumbers = 1 << 24;

  uint64_t address = 0;
  Site site = 0;             // of the first instruction that begins in it, or reaches into it
  uint32_t bytes : 8 = 0;    // up to the end of its line
  uint32_t number : 24 = 0;  // its own, from 1 on, small ones first; 0: it has none
};
static_assert(sizeof(CodePart) == 16);

/// The uses of code by one core.
class CodeUses {
 public:
  static constexpr uint64_t kNoPage = 0;
  struct Use {
    uint64_t page = kNoPage;   // of it, in the ITLB; kNoPage: it is not in L1I
    uint64_t runs = 0;         // that the tenure of its line does not have
    uint32_t epoch = 0;        // in which its line is known to have been used; 0: in none
    Slot slot = 0;             // in L1I
    uint32_t translation = 0;  // its entry in the ITLB
    uint32_t next = 0;         // the number of another part that is in this slot, too; 0: none
  };

  /// There are as many `lines` as L1I has.
  explicit CodeUses(uint64_t lines) : first_in_(lines) {}

  /// What is known of a part: it is where this says if its page still has that entry of the ITLB.
  Use& find(const CodePart& part) { return uses_[part.number < uses_.size() ? part.number : 0]; }
  [[nodiscard]] uint32_t epoch() const { return epoch_; }
  /// All lines of code are a step older (LineAges): a part's next run makes its own one young
  /// again.
  void begin_epoch() { ++epoch_; }

  /// The part has run, and is there now.
  void note(const CodePart& part, const Use& now);

  /// Calls take(site, bytes, runs) for each part in the slot that has run since the last time.
  template <class Take>
  void collect(Slot slot, Take take) {
    for (uint32_t number = first_in_[slot]; number != 0; number = uses_[number].next) {
      Use& use = uses_[number];
      if (use.runs != 0) take(parts_[number].site, parts_[number].bytes, use.runs);
      use.runs = 0;
    }
  }
  /// The slot's line leaves: no part is there any more. After collect().
  void forget(Slot slot);

 private:
  struct Part {
    Site site = 0;
    uint32_t bytes = 0;
  };
  void make_room_for(uint32_t number);

  // By number; the first one is nobody's, and never there. A thread runs few of a program's parts.
  ZeroedArray<Use> uses_{1};
  ZeroedArray<Part> parts_{1};      // as told last, of what is there
  std::vector<uint32_t> first_in_;  // by slot
  uint32_t epoch_ = 1;
};

}  // namespace culprit::simulate
