#include "scan/register_use.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "scan/stack_slots.h"

namespace culprit::scan {
namespace {

enum Class : size_t { kGeneral, kVector, kClasses };

/// Compilers keep one or two for addresses and frames.
constexpr size_t kAllButFew = 13;  // of the sixteen of x86-64; AArch64 has more

/// Registers that one side has more of by chance: other compilers number loops otherwise.
constexpr size_t kByChance = 1;

/// Of the accesses to the stack that one side has more: compilers seldom load a spilled value that
/// they still have, but now and then they do.
constexpr double kMuchNeedless = 0.1;

bool has_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

/// A register under one name for all its widths: "esi" → "si", "r8d" → "r8", "al" → "ax".
std::string x86_general(std::string_view name) {
  if (name.size() > 1 && name[0] == 'r' && std::isdigit(static_cast<unsigned char>(name[1])) != 0) {
    const size_t end = name.find_first_not_of("0123456789", 1);
    return std::string(name.substr(0, end));
  }
  if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e')) name.remove_prefix(1);
  if (name.size() == 3 && name[2] == 'l') name.remove_suffix(1);  // sil, dil, bpl
  static constexpr std::string_view kNames[] = {"ax", "bx", "cx", "dx", "si", "di", "bp"};
  for (const std::string_view one : kNames) {
    if (name == one) return std::string(one);
    const bool is_byte = name.size() == 2 && one[1] == 'x' && name[0] == one[0];
    if (is_byte && (name[1] == 'l' || name[1] == 'h')) return std::string(one);
  }
  return "";  // the stack pointer, segments, masks
}

/// What one instruction names.
struct Named {
  std::set<std::string> registers[kClasses];
  bool is_at_stack = false;  // at a fixed place of it
};

Named read_x86(std::string_view text) {
  Named named;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (name.size() > 3 && name.substr(1, 2) == "mm") {
      named.registers[kVector].insert(std::string(name.substr(3)));
    } else if (const std::string general = x86_general(name); !general.empty()) {
      named.registers[kGeneral].insert(general);
    }
  }
  named.is_at_stack = text.find("(%rsp)") != std::string_view::npos ||
                      text.find("(%rbp)") != std::string_view::npos;
  if (text.starts_with("lea")) named.is_at_stack = false;
  return named;
}

Named read_arm(std::string_view text) {
  Named named;
  const size_t operands = text.find(' ');
  for (size_t at = operands; at < text.size();) {
    const size_t begin = text.find_first_of("bdhqsvwx", at);
    if (begin == std::string_view::npos) break;
    size_t end = begin;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    const bool begins_word = std::isalnum(static_cast<unsigned char>(text[begin - 1])) == 0;
    const std::string_view number = text.substr(begin + 1, end - begin - 1);
    if (begins_word && number.size() <= 2 && has_digits(number)) {
      const bool is_general = text[begin] == 'w' || text[begin] == 'x';
      named.registers[is_general ? kGeneral : kVector].insert(std::string(number));
    }
    at = std::max(end, begin + 1);
  }
  const size_t memory = text.find("[sp");
  named.is_at_stack =
      memory != std::string_view::npos &&
      (text.substr(memory).starts_with("[sp]") || text.substr(memory).starts_with("[sp, #"));
  return named;
}

}  // namespace

std::vector<RegisterUse> find_register_use(const std::vector<CodePair>& code, bool of_a) {
  std::vector<RegisterUse> use(kClasses);
  std::set<std::string> registers[kClasses];
  for (const CodePair& pair : code) {
    for (const CodeLine& line : of_a ? pair.a : pair.b) {
      const bool is_x86 = line.text.find('%') != std::string::npos;
      Named named = is_x86 ? read_x86(line.text) : read_arm(line.text);
      if (named.is_at_stack) {
        const Class of = named.registers[kVector].empty() ? kGeneral : kVector;
        use[of].stack_accesses += line.executions;
      }
      for (size_t i = 0; i < kClasses; ++i) registers[i].merge(named.registers[i]);
    }
  }
  for (size_t i = 0; i < kClasses; ++i) use[i].registers = registers[i].size();
  return use;
}

std::string general_register(std::string_view operand) {
  return operand.starts_with('%') ? x86_general(operand.substr(1)) : "";
}

bool lacks_registers(const std::vector<CodePair>& code, bool is_a_worse) {
  const std::vector<RegisterUse> worse = find_register_use(code, is_a_worse);
  const std::vector<RegisterUse> better = find_register_use(code, !is_a_worse);
  const auto more = [&](Class of) { return worse[of].stack_accesses - better[of].stack_accesses; };
  const Class of = more(kVector) > more(kGeneral) ? kVector : kGeneral;
  if (count_needless_loads(code, is_a_worse) >= kMuchNeedless * std::max(more(of), 1.0)) {
    return false;
  }
  return worse[of].registers >= kAllButFew ||
         better[of].registers > worse[of].registers + kByChance;
}

}  // namespace culprit::scan
