// Effects by the names that LLVM's tables give the forms of instructions: "MOVSX64rm32" loads,
// "LDRBBroW" does. Forms that are not listed are `other`, which is always true of them.

#include "code/decoder/effect_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "code/decoder/operand_reader.h"

namespace culprit {
namespace {

/// One instruction on its way to an Effect.
struct FormOperands {
  const RegisterTable& registers;
  const llvm::MCInst& inst;
  LinkAddress address;  // of the instruction, and behind it:
  LinkAddress end;

  [[nodiscard]] unsigned count() const { return inst.getNumOperands(); }
  [[nodiscard]] RegisterPart part(unsigned i) const {
    if (i >= count() || !inst.getOperand(i).isReg()) return {};
    return registers[inst.getOperand(i).getReg()];
  }
  [[nodiscard]] uint64_t immediate(unsigned i) const {
    if (i >= count() || !inst.getOperand(i).isImm()) return 0;
    return static_cast<uint64_t>(inst.getOperand(i).getImm());
  }
};

/// `bits` of a register operand as a term; false where it is none that is followed.
bool to_term(const RegisterPart& part, uint8_t bits, bool is_signed, uint8_t shift,
             EffectTerm& term) {
  if (part.is_zero) {
    term = {};
    return true;
  }
  if (part.bits == 0 || part.is_high_byte) return false;
  term = {part.reg, bits, is_signed, shift};
  return true;
}

bool write(const RegisterPart& part, Effect& effect) {
  if (part.reg == kNoRegister || part.bits < 32) return false;
  effect.written = part.reg;
  effect.written_bits = part.bits;
  return true;
}

// --- x86-64 -----------------------------------------------------------------------------

uint8_t log2_of(uint64_t scale) {
  return static_cast<uint8_t>(scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0);
}

/// The memory operand at operands [at, at + 5).
EffectSum x86_address(const FormOperands& of, unsigned at) {
  EffectSum sum;
  const std::optional<X86Address> address = read_x86_address(of.inst, at);
  if (!address || address->segment != 0) sum.is_known = false;
  if (!address) return sum;
  sum.constant = static_cast<uint64_t>(address->displacement);
  const RegisterPart& base = of.registers[address->base];
  if (base.is_counter) {
    sum.constant += of.end.value;
  } else if (address->base != 0 && !to_term(base, base.bits, false, 0, sum.first)) {
    sum.is_known = false;
  }
  const RegisterPart& index = of.registers[address->index];
  if (address->index != 0 &&
      !to_term(index, index.bits, false, log2_of(address->scale), sum.second)) {
    sum.is_known = false;
  }
  return sum;
}

bool starts(std::string_view text, std::string_view with) {
  return text.starts_with(with);
}

uint8_t width_of(std::string_view digits) {
  if (starts(digits, "64")) return 64;
  if (starts(digits, "32")) return 32;
  if (starts(digits, "16")) return 16;
  return 8;
}

/// What stands behind the mnemonic: "rr", "ri8", "rm", "i32", ...
std::string_view form_of(std::string_view name, size_t mnemonic) {
  const size_t width = name.substr(mnemonic).starts_with("8") ? 1 : 2;
  return name.substr(std::min(name.size(), mnemonic + width));
}

bool x86_move(std::string_view name, const FormOperands& of, Effect& effect) {
  const bool zero = starts(name, "MOVZX");
  const bool sign = starts(name, "MOVSX");
  if (zero || sign) {
    const std::string_view form = form_of(name, 5);
    if (form.size() < 3 || !write(of.part(0), effect)) return false;
    const uint8_t bits = width_of(form.substr(2));
    if (starts(form, "rm")) {
      effect.kind = EffectKind::load;
      effect.sum = x86_address(of, 1);
      effect.bytes = bits / 8;
      effect.is_signed = sign;
      return true;
    }
    effect.kind = EffectKind::sum;
    return starts(form, "rr") && to_term(of.part(1), bits, sign, 0, effect.sum.first);
  }
  const std::string_view form = form_of(name, 3);
  const uint8_t bits = width_of(name.substr(3));
  if (starts(form, "rr")) {
    effect.kind = EffectKind::sum;
    return write(of.part(0), effect) && to_term(of.part(1), bits, false, 0, effect.sum.first);
  }
  if (starts(form, "ri")) {
    effect.kind = EffectKind::sum;
    effect.sum.constant = of.immediate(1);
    return write(of.part(0), effect);
  }
  if (form == "rm") {
    effect.kind = EffectKind::load;
    effect.sum = x86_address(of, 1);
    effect.bytes = bits / 8;
    return write(of.part(0), effect);
  }
  if (form == "mr") {
    effect.kind = EffectKind::store;
    effect.sum = x86_address(of, 0);
    effect.bytes = bits / 8;
    return to_term(of.part(5), bits, false, 0, effect.source);
  }
  return false;
}

/// ADD, SUB, AND, SHL, CMP.
bool x86_arithmetic(std::string_view name, const FormOperands& of, Effect& effect) {
  const std::string_view what = name.substr(0, 3);
  const std::string_view form = form_of(name, 3);
  const uint8_t bits = width_of(name.substr(3));
  const RegisterPart accumulator{0, bits};
  const bool is_short = starts(form, "i");  // the accumulator is not written out
  const bool has_immediate = is_short || starts(form, "ri");
  const RegisterPart left = is_short ? accumulator : of.part(what == "CMP" ? 0 : 1);
  EffectTerm term;
  if (what == "CMP" || (what == "SUB" && has_immediate)) {
    const unsigned behind = is_short ? 0 : what == "CMP" ? 1 : 2;
    if (has_immediate && to_term(left, bits, false, 0, term)) {
      effect.compares = true;
      effect.compared = term;
      effect.immediate = of.immediate(behind);
    } else if (what == "CMP" && starts(form, "mi")) {
      effect.compares = true;
      effect.sum = x86_address(of, 0);
      effect.bytes = bits / 8;
      effect.immediate = of.immediate(5);
    }
    if (bits < 64) effect.immediate &= (uint64_t{1} << bits) - 1;
    if (what == "CMP") return true;
  }
  const RegisterPart to = is_short ? accumulator : of.part(0);
  if (!write(to, effect) || !to_term(left, bits, false, 0, effect.sum.first)) return false;
  effect.kind = EffectKind::sum;
  if (what == "SHL") {
    effect.sum.first.shift = static_cast<uint8_t>(of.immediate(2) & 63);
    return starts(form, "ri");
  }
  if (has_immediate) {
    const uint64_t value = of.immediate(is_short ? 0 : 2);
    if (what == "AND") {
      effect.kind = EffectKind::mask;
      effect.immediate = bits < 64 ? value & ((uint64_t{1} << bits) - 1) : value;
      return true;
    }
    effect.sum.constant = what == "SUB" ? 0 - value : value;
    return true;
  }
  return what == "ADD" && starts(form, "rr") &&
         to_term(of.part(2), bits, false, 0, effect.sum.second);
}

EffectCondition x86_condition(uint64_t code) {
  switch (code) {
    case 2:
      return EffectCondition::below;
    case 3:
      return EffectCondition::above_or_equal;
    case 6:
      return EffectCondition::below_or_equal;
    case 7:
      return EffectCondition::above;
    default:
      return EffectCondition::other;
  }
}

bool read_x86(std::string_view name, const FormOperands& of, Effect& effect) {
  if (starts(name, "LEA64")) {
    effect.kind = EffectKind::sum;
    effect.sum = x86_address(of, 1);
    return write(of.part(0), effect);
  }
  if (starts(name, "JMP64r") || starts(name, "JMP64m")) {
    effect.kind = EffectKind::jump;
    if (name[5] == 'r') return to_term(of.part(0), 64, false, 0, effect.sum.first);
    effect.sum = x86_address(of, 0);
    effect.bytes = 8;
    return true;
  }
  if (starts(name, "JCC_")) {
    effect.condition = x86_condition(of.immediate(1));
    return true;
  }
  if (name == "CDQE") {
    effect.kind = EffectKind::sum;
    effect.written = 0;
    effect.sum.first = {0, 32, true, 0};
    return true;
  }
  if (name == "PUSH64r") {
    effect.kind = EffectKind::sum;
    effect.written = 4;
    effect.sum = {{4}, {}, uint64_t{0} - 8};
    return true;
  }
  if (name.size() < 5) return false;
  if (starts(name, "MOVZX") || starts(name, "MOVSX")) return x86_move(name, of, effect);
  if (name[3] < '0' || name[3] > '9') return false;
  if (starts(name, "MOV")) return x86_move(name, of, effect);
  if (starts(name, "INC") || starts(name, "DEC")) {
    effect.kind = EffectKind::sum;
    effect.sum.constant = starts(name, "INC") ? 1 : ~uint64_t{0};
    return form_of(name, 3) == "r" && write(of.part(0), effect) &&
           to_term(of.part(1), effect.written_bits, false, 0, effect.sum.first);
  }
  constexpr std::array<std::string_view, 5> kArithmetic = {"ADD", "SUB", "AND", "SHL", "CMP"};
  return std::find(kArithmetic.begin(), kArithmetic.end(), name.substr(0, 3)) !=
             kArithmetic.end() &&
         x86_arithmetic(name, of, effect);
}

// --- aarch64 ----------------------------------------------------------------------------

struct ArmLoad {
  std::string_view name;
  uint8_t bytes;
  bool is_signed;
};
constexpr std::array<ArmLoad, 8> kArmLoads = {{{"LDRBB", 1, false},
                                               {"LDRHH", 2, false},
                                               {"LDRW", 4, false},
                                               {"LDRX", 8, false},
                                               {"LDRSBX", 1, true},
                                               {"LDRSHX", 2, true},
                                               {"LDRSW", 4, true},
                                               {"LDURSW", 4, true}}};
constexpr std::array<ArmLoad, 4> kArmUnscaled = {
    {{"LDURBBi", 1, false}, {"LDURHHi", 2, false}, {"LDURWi", 4, false}, {"LDURXi", 8, false}}};

bool arm_base(const FormOperands& of, unsigned base, uint64_t offset, Effect& effect) {
  effect.sum.constant = offset;
  return to_term(of.part(base), 64, false, 0, effect.sum.first);
}

bool arm_load(std::string_view name, const FormOperands& of, Effect& effect) {
  effect.kind = EffectKind::load;
  for (const ArmLoad& load : kArmUnscaled) {
    if (name != load.name) continue;
    effect.bytes = load.bytes;
    return write(of.part(0), effect) && arm_base(of, 1, of.immediate(2), effect);
  }
  for (const ArmLoad& load : kArmLoads) {
    if (!starts(name, load.name)) continue;
    const std::string_view form = name.substr(load.name.size());
    effect.bytes = load.bytes;
    effect.is_signed = load.is_signed;
    if (form == "ui") {
      return write(of.part(0), effect) && arm_base(of, 1, of.immediate(2) * load.bytes, effect);
    }
    if (form == "post") return write(of.part(1), effect) && arm_base(of, 2, 0, effect);
    if (form != "roW" && form != "roX") return false;
    const bool is_narrow = form == "roW";
    const uint8_t shift = of.immediate(4) != 0 ? log2_of(load.bytes) : uint8_t{0};
    return write(of.part(0), effect) && arm_base(of, 1, 0, effect) &&
           to_term(of.part(2), is_narrow ? 32 : 64, is_narrow && of.immediate(3) != 0, shift,
                   effect.sum.second);
  }
  return false;
}

bool arm_store(std::string_view name, const FormOperands& of, Effect& effect) {
  const bool is_scaled = name == "STRXui" || name == "STRWui";
  if (!is_scaled && name != "STURXi" && name != "STURWi") return false;
  const uint8_t bits = name.find('X') != name.npos ? 64 : 32;
  effect.kind = EffectKind::store;
  effect.bytes = bits / 8;
  return to_term(of.part(0), bits, false, 0, effect.source) &&
         arm_base(of, 1, of.immediate(2) * (is_scaled ? effect.bytes : 1), effect);
}

/// ADD, SUB, SUBS of an immediate, a shifted or an extended register.
bool arm_sum(std::string_view name, const FormOperands& of, Effect& effect) {
  const bool is_sub = starts(name, "SUB");
  const bool with_flags = name[3] == 'S';
  const std::string_view rest = name.substr(with_flags ? 4 : 3);
  if (rest.size() < 3) return false;
  const uint8_t bits = rest[0] == 'X' ? 64 : 32;
  const std::string_view form = rest.substr(1);
  EffectTerm left;
  if (!to_term(of.part(1), bits, false, 0, left)) return false;
  effect.kind = EffectKind::sum;
  effect.sum.first = left;
  const bool is_written = write(of.part(0), effect);
  if (form == "ri") {
    const uint64_t value = of.immediate(2) << (of.immediate(3) & 63);
    effect.sum.constant = is_sub ? 0 - value : value;
    if (with_flags && is_sub) {
      effect.compares = true;
      effect.compared = left;
      effect.immediate = value;
    }
    if (!is_written) effect.kind = EffectKind::other;  // cmp
    return is_written || with_flags;
  }
  if (is_sub || !is_written) return false;
  const auto how = static_cast<uint32_t>(of.immediate(3));
  if (form == "rs") {
    return how < 64 &&
           to_term(of.part(2), bits, false, static_cast<uint8_t>(how), effect.sum.second);
  }
  if (form != "rx" && form != "rx64") return false;
  const uint8_t extended = static_cast<uint8_t>(8U << ((how >> 3) & 3));  // uxtb to sxtx
  return to_term(of.part(2), extended, (how >> 5) != 0, static_cast<uint8_t>(how & 7),
                 effect.sum.second);
}

/// UBFM and SBFM: shifts to the left, and the low bits of a register.
bool arm_bits(std::string_view name, const FormOperands& of, Effect& effect) {
  const uint8_t bits = name[4] == 'X' ? 64 : 32;
  const uint64_t rotate = of.immediate(2);
  const uint64_t last = of.immediate(3);
  effect.kind = EffectKind::sum;
  if (!write(of.part(0), effect)) return false;
  if (rotate == 0 && (last == 7 || last == 15 || last == 31)) {
    return to_term(of.part(1), static_cast<uint8_t>(last + 1), name[0] == 'S', 0, effect.sum.first);
  }
  if (name[0] == 'U' && last + 1 == rotate) {
    return to_term(of.part(1), bits, false, static_cast<uint8_t>(bits - rotate), effect.sum.first);
  }
  return false;
}

EffectCondition arm_condition(uint64_t code) {
  switch (code) {
    case 2:
      return EffectCondition::above_or_equal;
    case 3:
      return EffectCondition::below;
    case 8:
      return EffectCondition::above;
    case 9:
      return EffectCondition::below_or_equal;
    default:
      return EffectCondition::other;
  }
}

bool read_arm(std::string_view name, const FormOperands& of, Effect& effect) {
  if (name == "ADRP" || name == "ADR") {
    effect.kind = EffectKind::sum;
    effect.sum.constant = name == "ADRP"
                              ? (of.address.value & ~uint64_t{0xfff}) + (of.immediate(1) << 12)
                              : of.address.value + of.immediate(1);
    return write(of.part(0), effect);
  }
  if (name == "BR") {
    effect.kind = EffectKind::jump;
    return to_term(of.part(0), 64, false, 0, effect.sum.first);
  }
  if (name == "Bcc") {
    effect.condition = arm_condition(of.immediate(0));
    return true;
  }
  if (name == "MOVZWi" || name == "MOVZXi") {
    effect.kind = EffectKind::sum;
    effect.sum.constant = of.immediate(1) << (of.immediate(2) & 63);
    return write(of.part(0), effect);
  }
  if (name == "ORRWrs" || name == "ORRXrs") {
    effect.kind = EffectKind::sum;
    return of.part(1).is_zero && of.immediate(3) == 0 && write(of.part(0), effect) &&
           to_term(of.part(2), name[3] == 'X' ? 64 : 32, false, 0, effect.sum.first);
  }
  if (name == "ANDWri" || name == "ANDXri") {
    // The low ones only: "N immr imms" with a rotation of 0 (one pattern over the whole register).
    const uint64_t code = of.immediate(2);
    const uint64_t ones = (code & 63) + 1;
    const bool is_whole = name[3] == 'X' ? (code >> 12) == 1 : (code & 32) == 0;
    effect.kind = EffectKind::mask;
    effect.immediate = ones < 64 ? (uint64_t{1} << ones) - 1 : ~uint64_t{0};
    return is_whole && ((code >> 6) & 63) == 0 && write(of.part(0), effect) &&
           to_term(of.part(1), name[3] == 'X' ? 64 : 32, false, 0, effect.sum.first);
  }
  if (name.size() >= 6 && (starts(name, "UBFM") || starts(name, "SBFM"))) {
    return arm_bits(name, of, effect);
  }
  if (starts(name, "LD")) return arm_load(name, of, effect);
  if (starts(name, "ST")) return arm_store(name, of, effect);
  if (name.size() >= 6 && (starts(name, "ADD") || starts(name, "SUB"))) {
    return arm_sum(name, of, effect);
  }
  return false;
}

}  // namespace

Effect read_effect(const DecodedInstruction& instruction, LinkAddress address,
                   const LlvmMachinery& machinery) {
  const std::string_view name = instruction.name;
  const FormOperands of{machinery.register_table, instruction.inst, address,
                        address + instruction.size};
  Effect effect;
  const bool is_read =
      machinery.code_target->is_x86 ? read_x86(name, of, effect) : read_arm(name, of, effect);
  if (!is_read) {
    Effect unknown;
    unknown.compares = effect.compares && effect.bytes == 0;
    unknown.compared = effect.compared;
    unknown.immediate = effect.immediate;
    effect = unknown;
  }
  const auto lose = [&](const RegisterPart& part) {
    const bool is_general = part.reg != kNoRegister && part.bits != 0;
    if (is_general && part.reg != effect.written) effect.lost |= 1U << part.reg;
    if (part.is_flags) effect.sets_flags = true;
  };
  for (unsigned i = 0; i < instruction.facts->getNumDefs(); ++i) lose(of.part(i));
  for (const auto id : instruction.facts->implicit_defs()) lose(machinery.register_table[id]);
  effect.may_store =
      instruction.facts->mayStore() && effect.kind != EffectKind::store && name != "PUSH64r";
  return effect;
}

}  // namespace culprit
