#include "model/ledger.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

std::string sentence_of(const LedgerKind& kind, uint64_t amount) {
  Ledger ledger;
  ledger.add(kind, amount);
  return describe_ledger(ledger).back();
}

TEST(Ledger, OneIsSaidInTheSingular) {
  EXPECT_EQ(sentence_of(ledger::kRegionsDropped, 1),
            "1 construct of OpenMP was left by something else than its end: its time is missing");
  EXPECT_EQ(sentence_of(ledger::kRegionsOpen, 1),
            "1 construct of OpenMP had not ended when its process did: its time is missing");
  EXPECT_EQ(sentence_of(ledger::kRegionsTooDeep, 1),
            "1 construct of OpenMP inside too many others is not counted");
  EXPECT_EQ(sentence_of(ledger::kFoldedProcesses, 1), "1 process folded into one row per name");
  EXPECT_EQ(sentence_of(ledger::kOtherTargets, 1),
            "1 taken branch went to places that were not told apart: not among the branches and "
            "calls");
  EXPECT_EQ(sentence_of(ledger::kBranchesApart, 1),
            "1 pair of branch records with no code between them that can have run straight on: "
            "something is missing there");
  EXPECT_EQ(sentence_of(ledger::kMergedTicks, 1),
            "1 sample stands for several periods each (coarse timer)");
}

TEST(Ledger, ManyAreNot) {
  EXPECT_EQ(sentence_of(ledger::kRegionsDropped, 1200),
            "1,200 constructs of OpenMP were left by something else than their end: their time is "
            "missing");
  EXPECT_EQ(sentence_of(ledger::kSystemCallTime, 1), "1.00 ns in system calls, waiting included");
}

}  // namespace
}  // namespace culprit
