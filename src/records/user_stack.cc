#include "records/user_stack.h"

namespace culprit {

const LedgerKind* find_stop_kind(UnwindStop stop) {
  switch (stop) {
    case UnwindStop::end_of_stack:
    case UnwindStop::no_registers:
      return nullptr;
    case UnwindStop::depth_limit:
      return &ledger::kTruncatedStacks;
    case UnwindStop::outside_copy:
      return &ledger::kStacksOutsideCopy;
    case UnwindStop::no_unwind_information:
      return &ledger::kStacksWithoutTables;
    case UnwindStop::damaged:
      return &ledger::kDamagedStacks;
    case UnwindStop::unsupported:
      return &ledger::kUnsupportedStacks;
  }
  return nullptr;
}

}  // namespace culprit
