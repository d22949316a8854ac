#include "stalls/code_features.h"

#include <algorithm>
#include <array>

namespace culprit {
namespace {

template <size_t N>
bool begins_with_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

constexpr std::array<std::string_view, 9> kX86Divisions = {
    "div", "idiv", "fdiv", "fidiv", "sqrt", "fsqrt", "vdiv", "vsqrt", "rsqrt"};
constexpr std::array<std::string_view, 9> kX86Serializing = {
    "lock", "mfence", "lfence", "sfence", "cpuid", "rdtsc", "serialize", "wrmsr", "rdpmc"};
constexpr std::array<std::string_view, 8> kX86Microcoded = {
    "rep", "vpgather", "vgather", "vpscatter", "vscatter", "enter", "xsave", "xrstor"};
/// Instructions whose last operand is read only, or no memory that is accessed.
constexpr std::array<std::string_view, 7> kX86ReadsOnly = {"cmp",   "test",   "ucomis", "vucomis",
                                                           "comis", "vcomis", "bt"};
constexpr std::array<std::string_view, 6> kX86Moves = {"mov", "vmov", "set",
                                                       "fst", "fist", "vpextr"};

CodeFeatures of_x86(const Instruction& one) {
  CodeFeatures features;
  std::string_view text = one.text;
  features.serializes = begins_with_any(text, kX86Serializing);
  features.is_microcoded = begins_with_any(text, kX86Microcoded);
  if (text.starts_with("lock ")) text.remove_prefix(5);
  // sqrtsd is packed and scalar, divpd as divl: no other mnemonic begins so.
  features.divides = begins_with_any(text, kX86Divisions);
  const size_t gap = text.find(' ');
  const std::string_view mnemonic = text.substr(0, gap);
  std::string_view operands = gap == text.npos ? "" : text.substr(text.find_last_of(' ', gap));
  const size_t open = operands.rfind('(');
  const bool is_address_only = mnemonic.starts_with("lea") || mnemonic.starts_with("nop") ||
                               mnemonic.starts_with("prefetch");
  const bool is_absolute = open == operands.npos && !operands.empty() &&
                           operands.find_first_of("%$") == operands.npos &&
                           one.flow == Flow::next && operands.find("0x") != operands.npos;
  const bool is_stack = mnemonic.starts_with("push") || mnemonic.starts_with("pop") ||
                        one.flow == Flow::call || one.flow == Flow::returns ||
                        mnemonic == "leave" || mnemonic == "ret" || mnemonic == "retq";
  const bool has_memory = (open != operands.npos || is_absolute) && !is_address_only;
  if (has_memory) {
    const size_t close = operands.find(')', open);
    const bool is_last =
        is_absolute || close == operands.npos || operands.find(',', close) == operands.npos;
    const bool reads_only = begins_with_any(mnemonic, kX86ReadsOnly) || one.flow != Flow::next;
    const bool is_alone =
        operands.find(',') == operands.npos || (open != operands.npos && operands.find(',') > open);
    const bool is_move = begins_with_any(mnemonic, kX86Moves);
    features.stores = is_last && !reads_only && !(is_alone && features.divides) &&
                      !(is_alone && mnemonic.starts_with("mul")) && !mnemonic.starts_with("fld") &&
                      !mnemonic.starts_with("fild");
    features.loads = !features.stores || !is_move;
    const std::string_view base = is_absolute ? "" : operands.substr(open);
    features.is_of_stack =
        base.starts_with("(%rsp") || base.starts_with("(%rbp)") || base.starts_with("(%rip");
    if (mnemonic.starts_with("xchg")) features.serializes = true;
  }
  if (is_stack) {
    features.loads = features.loads || mnemonic.starts_with("pop") || mnemonic == "leave" ||
                     one.flow == Flow::returns;
    features.stores = features.stores || mnemonic.starts_with("push") || one.flow == Flow::call;
    features.is_of_stack = !has_memory || features.is_of_stack;
  }
  return features;
}

constexpr std::array<std::string_view, 5> kArmDivisions = {"sdiv", "udiv", "fdiv", "fsqrt",
                                                           "frsqrt"};
constexpr std::array<std::string_view, 14> kArmSerializing = {
    "ldx",   "ldax", "stx", "stlx", "ldadd", "ldset", "ldclr",
    "ldeor", "swp",  "cas", "dmb",  "dsb",   "isb",   "stadd"};

CodeFeatures of_arm(const Instruction& one) {
  CodeFeatures features;
  const std::string_view text = one.text;
  features.divides = begins_with_any(text, kArmDivisions);
  features.serializes = begins_with_any(text, kArmSerializing);
  const bool has_memory = text.find('[') != text.npos && !text.starts_with("prfm");
  features.loads = has_memory && !text.starts_with("st");
  features.stores = has_memory && (text.starts_with("st") || features.serializes);
  features.is_of_stack = text.find("[sp") != text.npos || text.find("[x29") != text.npos;
  return features;
}

}  // namespace

CodeFeatures find_features(const Instruction& instruction, std::string_view architecture) {
  CodeFeatures features;
  if (architecture == "x86_64") {
    features = of_x86(instruction);
  } else if (architecture == "aarch64") {
    features = of_arm(instruction);
  } else {
    features = {true, true, false, true, true, true, true};
  }
  features.may_mispredict =
      instruction.flow == Flow::branch || instruction.flow == Flow::indirect_jump ||
      instruction.flow == Flow::returns || (instruction.flow == Flow::call && !instruction.target);
  return features;
}

}  // namespace culprit
