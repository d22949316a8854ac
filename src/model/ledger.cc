#include "model/ledger.h"

#include <algorithm>
#include <array>

namespace culprit {

void Ledger::note(std::string sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) {
    notes_.push_back(std::move(sentence));
  }
}

void Ledger::merge(const Ledger& other) {
  for (const auto& [key, amount] : other.amounts_) amounts_[key] += amount;
  for (const std::string& sentence : other.notes_) note(sentence);
}

uint64_t Ledger::amount(const LedgerKind& kind) const {
  const auto found = amounts_.find(std::string(kind.key));
  return found == amounts_.end() ? 0 : found->second;
}

const LedgerKind* find_ledger_kind(std::string_view key) {
  using namespace ledger;
  static constexpr std::array kKinds = {
      &kLostSamples,       &kLostRecords,        &kUnknownAddress,      &kThrottled,
      &kUnsampledTime,     &kKernelNotSampled,   &kMergedTicks,         &kFoldedProcesses,
      &kTruncatedStacks,   &kStacksOutsideCopy,  &kStacksWithoutTables, &kDamagedStacks,
      &kUnsupportedStacks, &kImagesWithoutFacts, &kImagesReplaced,      &kDamagedRecords,
      &kUnknownEvents,     &kAuxBytes,           &kRawFields,           &kTextPokes,
      &kLateRecords,       &kBranchCallStacks,   &kInterrupted};
  for (const LedgerKind* kind : kKinds) {
    if (kind->key == key) return kind;
  }
  return nullptr;
}

}  // namespace culprit
