#include "model/ledger.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace culprit {

namespace {

/// "{was|were} left": the first of each pair is said of one, the second of many.
std::string choose_number(std::string_view text, bool is_one) {
  std::string chosen;
  while (!text.empty()) {
    const size_t open = text.find('{');
    chosen += text.substr(0, open);
    if (open == text.npos) break;
    const size_t close = text.find('}', open);
    const size_t bar = text.find('|', open);
    chosen +=
        is_one ? text.substr(open + 1, bar - open - 1) : text.substr(bar + 1, close - bar - 1);
    text.remove_prefix(close + 1);
  }
  return chosen;
}

std::string describe_entry(const std::string& key, uint64_t amount) {
  const LedgerKind* kind = find_ledger_kind(key);
  if (kind == nullptr) return format_thousands(amount) + " " + printable(key);
  const bool is_one = amount == 1;
  const std::string number =
      kind->unit == "ns" ? format_duration_ns(static_cast<double>(amount))
                         : format_thousands(amount) + " " + choose_number(kind->unit, is_one);
  return number + " " + choose_number(kind->text, is_one);
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
