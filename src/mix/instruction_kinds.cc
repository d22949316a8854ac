#include "mix/instruction_kinds.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace culprit {

const std::array<std::string_view, kMixKinds> kMixEvents = {"flops",
                                                            "packed-flops",
                                                            "fp-scalar",
                                                            "fp-packed-128",
                                                            "fp-packed-256",
                                                            "fp-packed-512",
                                                            "fp-multiplies",
                                                            "fp-divisions",
                                                            "fused-multiply-adds",
                                                            "simd-integer",
                                                            "shuffles",
                                                            "conversions",
                                                            "integer-multiplies",
                                                            "integer-divisions",
                                                            "moves",
                                                            "stack-accesses",
                                                            "nops",
                                                            "conditional-branches",
                                                            "loop-branches",
                                                            "jumps",
                                                            "returns"};

namespace {

class Counter {
 public:
  void add(MixKind kind, unsigned amount = 1) {
    counts[static_cast<size_t>(kind)] = static_cast<uint8_t>(amount);
  }
  MixCounts counts{};
};

struct Words {
  std::string_view mnemonic;
  std::string_view operands;
};

Words split_text(std::string_view text) {
  const size_t end = text.find_first_of(" \t");
  if (end == std::string_view::npos) return {text, ""};
  return {text.substr(0, end), trim(text.substr(end))};
}

template <size_t N>
bool begins_with_any(std::string_view word, const char* const (&beginnings)[N]) {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](const char* one) { return word.starts_with(one); });
}

template <size_t N>
bool is_any(std::string_view word, const char* const (&words)[N]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](const char* one) { return word == one; });
}

void count_fp(Counter& counter, bool is_scalar, unsigned vector_bits, unsigned lane_bits,
              unsigned operations) {
  counter.add(MixKind::flops, (is_scalar ? 1 : vector_bits / lane_bits) * operations);
  if (is_scalar) {
    counter.add(MixKind::fp_scalar);
  } else {
    counter.add(MixKind::packed_flops, vector_bits / lane_bits * operations);
    counter.add(vector_bits == 512   ? MixKind::fp_packed_512
                : vector_bits == 256 ? MixKind::fp_packed_256
                                     : MixKind::fp_packed_128);
  }
}

// ---- x86 ----

/// "addsd", "mulps", "fmadd231pd": arithmetic on floating-point vectors; without the "v" of AVX.
bool count_x86_fp(Counter& counter, std::string_view mnemonic, unsigned bits) {
  if (mnemonic.size() < 5 && mnemonic != "dpps" && mnemonic != "dppd") return false;
  const std::string_view suffix = mnemonic.substr(mnemonic.size() - 2);
  static constexpr const char* kSuffixes[] = {"ss", "sd", "ps", "pd"};
  if (!is_any(suffix, kSuffixes)) return false;
  const std::string_view base = mnemonic.substr(0, mnemonic.size() - 2);
  static constexpr const char* kFused[] = {"fmadd", "fmsub", "fnmadd", "fnmsub"};
  static constexpr const char* kPlain[] = {"add", "sub",   "mul",    "div",  "sqrt", "min", "max",
                                           "rcp", "rsqrt", "addsub", "hadd", "hsub", "dp"};
  const bool is_fused = begins_with_any(base, kFused);
  if (!is_fused && !is_any(base, kPlain)) return false;
  count_fp(counter, suffix[0] == 's', bits, suffix[1] == 's' ? 32 : 64, is_fused ? 2 : 1);
  if (is_fused || base == "mul") counter.add(MixKind::fp_multiplies);
  if (is_fused) counter.add(MixKind::fused_multiply_adds);
  if (base == "div" || base == "sqrt") counter.add(MixKind::fp_divisions);
  return true;
}

bool count_x87(Counter& counter, std::string_view mnemonic) {
  static constexpr const char* kArithmetic[] = {"fadd",  "fsub",  "fmul",  "fdiv", "fsqrt",
                                                "fiadd", "fisub", "fimul", "fidiv"};
  if (!begins_with_any(mnemonic, kArithmetic)) return false;
  count_fp(counter, true, 128, 64, 1);
  if (mnemonic.find("mul") == 1 || mnemonic.find("mul") == 2) counter.add(MixKind::fp_multiplies);
  if (mnemonic.find("div") != std::string_view::npos || mnemonic == "fsqrt") {
    counter.add(MixKind::fp_divisions);
  }
  return true;
}

void count_x86_vector(Counter& counter, std::string_view mnemonic, std::string_view operands) {
  const unsigned bits = operands.find("%zmm") != std::string_view::npos   ? 512
                        : operands.find("%ymm") != std::string_view::npos ? 256
                                                                          : 128;
  if (mnemonic.starts_with('v')) mnemonic.remove_prefix(1);
  static constexpr const char* kMoves[] = {"mova", "movu", "movdq", "movss", "movsd", "movd",
                                           "movq", "movh", "movl",  "movnt", "lddqu"};
  static constexpr const char* kShuffles[] = {
      "shuf",     "unpck",    "perm",  "insert", "extract", "blend",      "broadcast", "palign",
      "pshuf",    "punpck",   "pinsr", "pextr",  "pblend",  "pbroadcast", "movdup",    "movddup",
      "movsldup", "movshdup", "align", "pack",   "packs",   "packus",     "compress",  "expand"};
  if (count_x86_fp(counter, mnemonic, bits)) return;
  if (begins_with_any(mnemonic, kShuffles)) {
    counter.add(MixKind::shuffles);
  } else if (mnemonic.starts_with("cvt") || mnemonic.starts_with("pmovz") ||
             mnemonic.starts_with("pmovs")) {
    counter.add(MixKind::conversions);
  } else if (begins_with_any(mnemonic, kMoves)) {
    counter.add(MixKind::moves);
  } else if (mnemonic.starts_with('p') || mnemonic.starts_with("and") ||
             mnemonic.starts_with("or") || mnemonic.starts_with("xor")) {
    counter.add(MixKind::simd_integer);
  }
}

void count_x86(Counter& counter, std::string_view mnemonic, std::string_view operands) {
  // The memory operand's registers are in parentheses.
  const size_t memory = operands.find('(');
  const bool computes_address = mnemonic.starts_with("lea");
  const bool is_nop = mnemonic.starts_with("nop") || mnemonic == "endbr64";
  if (memory != std::string_view::npos && !computes_address && !is_nop) {
    const std::string_view base = operands.substr(memory + 1);
    if (base.starts_with("%rsp") || base.starts_with("%rbp")) counter.add(MixKind::stack_accesses);
  }
  if (is_nop) {
    counter.add(MixKind::nops);
    return;
  }
  static constexpr const char* kVectorRegisters[] = {"%xmm", "%ymm", "%zmm"};
  for (const char* one : kVectorRegisters) {
    if (operands.find(one) == std::string_view::npos) continue;
    count_x86_vector(counter, mnemonic, operands);
    return;
  }
  if (count_x87(counter, mnemonic)) return;
  static constexpr const char* kMultiplies[] = {"imul", "mul"};
  static constexpr const char* kDivisions[] = {"idiv", "div"};
  if (begins_with_any(mnemonic, kMultiplies)) {
    counter.add(MixKind::integer_multiplies);
  } else if (begins_with_any(mnemonic, kDivisions)) {
    counter.add(MixKind::integer_divisions);
  } else if (mnemonic.starts_with("mov") && !operands.empty()) {
    counter.add(MixKind::moves);
  }
}

// ---- AArch64 ----

void count_arm_fp(Counter& counter, std::string_view mnemonic, std::string_view operands) {
  static constexpr const char* kFused[] = {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls"};
  static constexpr const char* kPlain[] = {"fadd",  "fsub", "fmul", "fnmul", "fdiv",
                                           "fsqrt", "fmin", "fmax", "faddp"};
  const bool is_fused = begins_with_any(mnemonic, kFused);
  if (!is_fused && !begins_with_any(mnemonic, kPlain)) return;
  const std::string_view first = operands.substr(0, operands.find(','));
  const size_t dot = first.find('.');
  const bool is_vector = dot != std::string_view::npos;
  const char lane = is_vector ? first.back() : first.empty() ? 'd' : first.front();
  const unsigned lane_bits = lane == 's' ? 32 : lane == 'h' ? 16 : 64;
  unsigned bits = 128;
  if (is_vector && dot + 1 < first.size() && first[dot + 1] >= '1' && first[dot + 1] <= '8') {
    bits = static_cast<unsigned>(first[dot + 1] - '0') * lane_bits;  // ".2s": half a register
  }
  count_fp(counter, !is_vector, bits, lane_bits, is_fused ? 2 : 1);
  if (is_fused || mnemonic.find("mul") != std::string_view::npos) {
    counter.add(MixKind::fp_multiplies);
  }
  if (is_fused) counter.add(MixKind::fused_multiply_adds);
  if (mnemonic == "fdiv" || mnemonic == "fsqrt") counter.add(MixKind::fp_divisions);
}

void count_arm(Counter& counter, std::string_view mnemonic, std::string_view operands) {
  static constexpr const char* kMultiplies[] = {"mul",   "madd",  "msub",   "smull", "umull",
                                                "smulh", "umulh", "smaddl", "umaddl"};
  static constexpr const char* kShuffles[] = {"zip", "uzp", "trn", "ext", "dup", "ins", "tbl"};
  static constexpr const char* kMoves[] = {"mov", "fmov", "movz", "movk", "movn"};
  const bool is_vector = operands.starts_with('v');
  if (operands.find("[sp") != std::string_view::npos ||
      operands.find("[x29") != std::string_view::npos) {
    counter.add(MixKind::stack_accesses);
  }
  if (mnemonic == "nop") {
    counter.add(MixKind::nops);
  } else if (mnemonic == "sdiv" || mnemonic == "udiv") {
    counter.add(MixKind::integer_divisions);
  } else if (is_any(mnemonic, kMoves)) {
    counter.add(MixKind::moves);
  } else if (mnemonic.starts_with("fcvt") || mnemonic.starts_with("scvtf") ||
             mnemonic.starts_with("ucvtf")) {
    counter.add(MixKind::conversions);
  } else if (mnemonic.starts_with('f')) {
    count_arm_fp(counter, mnemonic, operands);
  } else if (is_vector && begins_with_any(mnemonic, kShuffles)) {
    counter.add(MixKind::shuffles);
  } else if (is_vector && !mnemonic.starts_with("ld") && !mnemonic.starts_with("st")) {
    counter.add(MixKind::simd_integer);
  } else if (is_any(mnemonic, kMultiplies)) {
    counter.add(MixKind::integer_multiplies);
  }
}

void count_flow(Counter& counter, Flow flow) {
  switch (flow) {
    case Flow::branch:
      counter.add(MixKind::conditional_branches);
      break;
    case Flow::jump:
    case Flow::indirect_jump:
      counter.add(MixKind::jumps);
      break;
    case Flow::returns:
      counter.add(MixKind::returns);
      break;
    case Flow::next:
    case Flow::call:
    case Flow::trap:
      break;
  }
}

}  // namespace

MixCounts count_kinds(const Instruction& instruction, std::string_view architecture) {
  Counter counter;
  if (instruction.bad) return counter.counts;
  count_flow(counter, instruction.flow);
  if (instruction.flow == Flow::branch && instruction.target &&
      *instruction.target <= instruction.address) {
    counter.add(MixKind::loop_branches);
  }
  if (instruction.flow != Flow::next) return counter.counts;
  Words words = split_text(instruction.text);
  static constexpr const char* kPrefixes[] = {"lock", "rep", "repne", "repe", "data16", "notrack"};
  while (is_any(words.mnemonic, kPrefixes) && !words.operands.empty()) {
    words = split_text(words.operands);
  }
  if (architecture == "x86_64") count_x86(counter, words.mnemonic, words.operands);
  if (architecture == "aarch64") count_arm(counter, words.mnemonic, words.operands);
  return counter.counts;
}

}  // namespace culprit
