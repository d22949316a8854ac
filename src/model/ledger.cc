#include "model/ledger.h"

#include <algorithm>

#include "base/text.h"

namespace culprit {

namespace {

std::string describe_entry(const std::string& key, uint64_t amount) {
  const LedgerKind* kind = find_ledger_kind(key);
  if (kind == nullptr) return format_thousands(amount) + " " + printable(key);
  const std::string number = kind->unit == "ns"
                                 ? format_duration_ns(static_cast<double>(amount))
                                 : format_thousands(amount) + " " + std::string(kind->unit);
  return number + " " + std::string(kind->text);
}

}  // namespace

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
  static constexpr LedgerKind kKinds[] = {
#define LEDGER_KIND(name, ...) ledger::name,
#include "model/ledger_kinds.def"
#undef LEDGER_KIND
  };
  for (const LedgerKind& kind : kKinds) {
    if (kind.key == key) return &kind;
  }
  return nullptr;
}

std::vector<std::string> describe_ledger(const Ledger& ledger) {
  std::vector<std::string> entries;
  if (ledger.amount(ledger::kLostSamples) == 0) entries.emplace_back("0 samples lost");
  for (const auto& [key, amount] : ledger.amounts()) {
    if (amount != 0) entries.push_back(describe_entry(key, amount));
  }
  for (const std::string& note : ledger.notes()) entries.push_back(printable(note));
  return entries;
}

}  // namespace culprit
