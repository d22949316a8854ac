#include "scan/stack_slots.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/number.h"
#include "base/text.h"
#include "scan/register_use.h"

namespace culprit::scan {
namespace {

/// "movl 0x14(%rsp),%eax" → mov; "0x14(%rsp)" and "%eax".
struct Parts {
  std::string_view name;
  std::vector<std::string_view> operands;
};

Parts split_instruction(std::string_view text) {
  Parts parts;
  const size_t blank = std::min(text.find_first_of(" \t"), text.size());
  parts.name = text.substr(0, blank);
  std::string_view rest = trim(text.substr(blank));
  size_t depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= rest.size(); ++i) {
    if (i < rest.size() && rest[i] == '(') ++depth;
    if (i < rest.size() && rest[i] == ')' && depth > 0) --depth;
    if (i < rest.size() && (rest[i] != ',' || depth > 0)) continue;
    if (i > begin) parts.operands.push_back(trim(rest.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

bool is_slot(std::string_view operand) {
  return operand.ends_with("(%rsp)") || operand.ends_with("(%rbp)");
}

/// What each slot's value is held by, as far as straight code tells.
class HeldSlots {
 public:
  /// Whether an instruction loads what a register holds already.
  bool follow(std::string_view text) {
    const Parts parts = split_instruction(text);
    if (parts.operands.empty() || ends_straight_code(parts.name)) {
      if (ends_straight_code(parts.name)) holders_.clear();
      return false;
    }
    // What neither writes its last operand nor anything else.
    if (parts.name.starts_with("cmp") || parts.name.starts_with("test") ||
        parts.name.starts_with("nop")) {
      return false;
    }
    const std::string_view last = parts.operands.back();
    const bool is_copy = parts.name.starts_with("mov") && parts.operands.size() == 2;
    const std::string_view first = parts.operands.front();
    bool is_needless = false;
    if (is_copy && is_slot(first)) is_needless = holders_.contains(std::string(first));
    if (is_slot(last)) {
      holders_.erase(std::string(last));
      if (const std::string from = general_register(first); is_copy && !from.empty()) {
        holders_[std::string(last)] = from;
      }
      return is_needless;
    }
    if (!last.starts_with('%')) {
      if (last.find('(') != last.npos) holders_.clear();  // it may be any slot
      return is_needless;
    }
    const std::string written = general_register(last);
    std::erase_if(holders_, [&](const auto& one) { return one.second == written; });
    if (is_copy && is_slot(first) && !written.empty()) holders_[std::string(first)] = written;
    return is_needless;
  }
  void clear() { holders_.clear(); }

 private:
  /// Jumps, calls, and what writes registers that it does not name.
  static bool ends_straight_code(std::string_view name) {
    static constexpr std::string_view kNames[] = {"j",    "call", "ret",  "mul",    "imul", "div",
                                                  "idiv", "rep",  "xchg", "cwt",    "clt",  "cqt",
                                                  "push", "pop",  "xadd", "cmpxchg"};
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [&](std::string_view one) { return name.starts_with(one); });
  }

  std::map<std::string, std::string, std::less<>> holders_;  // slot → register
};

}  // namespace

double count_needless_loads(const std::vector<CodePair>& code, bool of_a) {
  std::map<uint64_t, const CodeLine*> by_address;
  for (const CodePair& pair : code) {
    for (const CodeLine& line : of_a ? pair.a : pair.b) {
      if (const auto address = find_number(line.address, 16)) by_address.emplace(*address, &line);
    }
  }
  HeldSlots slots;
  double needless = 0;
  double executions = 0;
  for (const auto& [address, line] : by_address) {
    if (line->executions != executions) slots.clear();
    executions = line->executions;
    if (slots.follow(line->text)) needless += executions;
  }
  return needless;
}

}  // namespace culprit::scan
