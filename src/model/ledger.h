#pragma once

// The Ledger: what makes the numbers of a profile weaker. It travels with every
// result and is printed under it. An entry is a named amount; its names are listed
// once, in ledger_kinds.def, so that every collector and every report means the same.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// One kind of weakness. `key` is what JSON and the file use.
struct LedgerKind {
  std::string_view key;
  std::string_view unit;  // "sample{|s}" (of one, of many), "ns", ...
  std::string_view text;  // completes "<amount> ..." in a report; "{was|were} lost"
};

namespace ledger {
#define LEDGER_KIND(name, ...) inline constexpr LedgerKind name{__VA_ARGS__};
#include "model/ledger_kinds.def"
#undef LEDGER_KIND
}  // namespace ledger

class Ledger {
 public:
  void add(const LedgerKind& kind, uint64_t amount = 1) {
    amounts_[std::string(kind.key)] += amount;
  }
  void set(std::string key, uint64_t amount) { amounts_[std::move(key)] = amount; }
  void erase(const LedgerKind& kind) { amounts_.erase(std::string(kind.key)); }
  /// A sentence that no amount can express: "kernel symbols hidden (kptr_restrict)".
  void note(std::string sentence);
  void merge(const Ledger& other);

  [[nodiscard]] uint64_t amount(const LedgerKind& kind) const;
  [[nodiscard]] const std::map<std::string, uint64_t>& amounts() const { return amounts_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  friend bool operator==(const Ledger&, const Ledger&) = default;

 private:
  std::map<std::string, uint64_t> amounts_;
  std::vector<std::string> notes_;
};

/// The kind with this key, for printing; nullptr for keys of newer versions.
const LedgerKind* find_ledger_kind(std::string_view key);

/// A sentence per entry and note, for people; the first says so if no sample was lost.
std::vector<std::string> describe_ledger(const Ledger& ledger);

}  // namespace culprit
