#pragma once

// How often a function's loop goes round each time that it is entered. What a core waits for in a
// loop tells nothing of whether it need run so often: long probes of a hash table that is too full,
// a list searched from its start, all elements moved for one that is inserted at the front.
//
//     find   one loop, 90 % of its instructions: entered 300 k times, 450 M rounds
//            → 1,500 rounds each time

#include <optional>
#include <string>

#include "flow/function_flow.h"

namespace culprit {

struct LoopRounds {
  std::string line;   // "probe.c:6", where it begins; "" if unknown
  double rounds = 0;  // of one entry, on average
  double entries = 0;
  bool is_search = false;  // it was left in several ways: what it looked for was found, or was not
};

/// Loops of the functions of a profile, by counted executions.
class LoopFinder {
 public:
  LoopFinder(const Profile& profile, const FactsLookup& facts);

  /// The loop that has most of the instructions which a function, or the variant of it that was
  /// counted, executed.
  /// Units:  executions of blocks and edges [count] -> rounds per entry, entries [count]
  /// Errors: none where executions were not counted, or no innermost loop has half of them
  std::optional<LoopRounds> find(const std::string& function);

 private:
  std::optional<LoopRounds> find(ImageId image, const FunctionFlow& flow);

  CodeIndex code_;
  CodeFlow code_flow_;
  FlowFinder flows_;
};

}  // namespace culprit
