#include "model/ledger.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace culprit {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// "constructs" -> "construct", "branches" -> "branch", "pairs of branch records" -> "pair of ...".
std::string unit_of_one(std::string_view unit) {
  if (unit == "reuses and evictions") return "reuse or eviction";
  const size_t of = std::min(unit.find(" of "), unit.size());
  std::string word(unit.substr(0, of));
  const bool has_long_end = word.ends_with("sses") || word.ends_with("ches");
  word.resize(word.size() - (has_long_end ? 2 : 1));
  return word + std::string(unit.substr(of));
}

/// The texts are written of many; these are the verbs in them that tell.
std::string text_of_one(std::string_view many) {
  constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
      {" are not counted", " is not counted"},
      {" are one row", " is one row"},
      {" were left by", " was left by"},
      {"their process did: their", "its process did: its"},
      {"their end: their", "its end: its"},
      {" contradict the", " contradicts the"},
      {" end in another", " ends in another"},
      {"stand for", "stands for"},
      {"before they began, and count as", "before it began, and counts as"}};
  std::string text(many);
  for (const auto& [plural, singular] : kVerbs) replace_all(text, plural, singular);
  return text;
}

std::string describe_entry(const std::string& key, uint64_t amount) {
  const LedgerKind* kind = find_ledger_kind(key);
  if (kind == nullptr) return format_thousands(amount) + " " + printable(key);
  if (kind->unit == "ns") {
    return format_duration_ns(static_cast<double>(amount)) + " " + std::string(kind->text);
  }
  if (amount == 1) return "1 " + unit_of_one(kind->unit) + " " + text_of_one(kind->text);
  return format_thousands(amount) + " " + std::string(kind->unit) + " " + std::string(kind->text);
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
