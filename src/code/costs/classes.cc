#include "code/costs/classes.h"

#include <algorithm>
#include <llvm/MC/MCInstrDesc.h>

namespace culprit {
namespace {

using Kind = InstructionClass;

/// Where an instruction may have its operands to be of the class.
enum class Place : uint8_t { anywhere, registers, loaded };

/// LLVM's names begin so (those of AVX after their V), the first that fits.
struct Rule {
  std::string_view name;
  Kind kind;
  Place place = Place::anywhere;
};

constexpr Rule kRules[] = {
    {"IMUL", Kind::integer_multiply},  // of one operand: is_wide_multiplication()
    {"MULX", Kind::integer_multiply_wide},
    {"DIV64", Kind::integer_divide_64},
    {"IDIV64", Kind::integer_divide_64},
    {"DIV32", Kind::integer_divide_32},
    {"IDIV32", Kind::integer_divide_32},
    {"DIV16", Kind::integer_divide_32},
    {"IDIV16", Kind::integer_divide_32},
    {"DIV8", Kind::integer_divide_32},
    {"IDIV8", Kind::integer_divide_32},
    {"BSF", Kind::bit_scan},
    {"BSR", Kind::bit_scan},
    {"TZCNT", Kind::bit_scan},
    {"LZCNT", Kind::bit_scan},
    {"POPCNT", Kind::popcnt},
    {"CRC32", Kind::crc32},
    {"MFENCE", Kind::memory_fence},
    {"MOVSX", Kind::load_sign_extended, Place::loaded},
    {"MOV8m", Kind::store},
    {"MOV16m", Kind::store},
    {"MOV32m", Kind::store},
    {"MOV64m", Kind::store},
    {"GATHER", Kind::gather},
    {"PGATHER", Kind::gather},
    {"MOVDI2PDI", Kind::move_to_vector, Place::registers},
    {"MOV64toPQI", Kind::move_to_vector, Place::registers},
    {"PINSR", Kind::move_to_vector, Place::registers},
    {"MOVPDI2DI", Kind::move_from_vector, Place::registers},
    {"MOVPQIto64", Kind::move_from_vector, Place::registers},
    {"PEXTR", Kind::move_from_vector, Place::registers},
    {"PMOVMSKB", Kind::move_from_vector, Place::registers},
    {"MOVMSK", Kind::move_from_vector, Place::registers},
    {"EXTRACTPS", Kind::move_from_vector, Place::registers},
    {"MOVAPS", Kind::load_vector, Place::loaded},
    {"MOVAPD", Kind::load_vector, Place::loaded},
    {"MOVUPS", Kind::load_vector, Place::loaded},
    {"MOVUPD", Kind::load_vector, Place::loaded},
    {"MOVDQ", Kind::load_vector, Place::loaded},
    {"MOVSSrm", Kind::load_vector, Place::loaded},
    {"MOVSDrm", Kind::load_vector, Place::loaded},
    {"MOVDI2PDIrm", Kind::load_vector, Place::loaded},
    {"MOVQI2PQIrm", Kind::load_vector, Place::loaded},
    {"MOVDDUP", Kind::load_vector, Place::loaded},
    {"BROADCAST", Kind::load_vector, Place::loaded},
    {"PBROADCAST", Kind::load_vector, Place::loaded},
    {"ADDS", Kind::fp_add},
    {"ADDP", Kind::fp_add},
    {"SUBS", Kind::fp_add},
    {"SUBP", Kind::fp_add},
    {"MULS", Kind::fp_multiply},
    {"MULP", Kind::fp_multiply},
    {"FMADD", Kind::fp_fma},
    {"FMSUB", Kind::fp_fma},
    {"FNMADD", Kind::fp_fma},
    {"FNMSUB", Kind::fp_fma},
    {"DIVSS", Kind::fp_divide_32},
    {"DIVPS", Kind::fp_divide_32},
    {"DIVSD", Kind::fp_divide_64},
    {"DIVPD", Kind::fp_divide_64},
    {"SQRTSS", Kind::fp_sqrt_32},
    {"SQRTPS", Kind::fp_sqrt_32},
    {"SQRTSD", Kind::fp_sqrt_64},
    {"SQRTPD", Kind::fp_sqrt_64},
    {"UCOMIS", Kind::fp_compare},
    {"COMIS", Kind::fp_compare},
    {"ROUND", Kind::fp_round},
    {"CVTSS2SD", Kind::convert_fp},
    {"CVTSD2SS", Kind::convert_fp},
    {"CVTTSD2SI", Kind::convert_fp_to_integer},
    {"CVTTSS2SI", Kind::convert_fp_to_integer},
    {"CVTSD2SI", Kind::convert_fp_to_integer},
    {"CVTSS2SI", Kind::convert_fp_to_integer},
    {"CVTSI2S", Kind::convert_integer_to_fp, Place::registers},
    {"CVTSI642S", Kind::convert_integer_to_fp, Place::registers},
    {"PADDB", Kind::vector_add},
    {"PADDW", Kind::vector_add},
    {"PADDD", Kind::vector_add},
    {"PADDQ", Kind::vector_add},
    {"PSUBB", Kind::vector_add},
    {"PSUBW", Kind::vector_add},
    {"PSUBD", Kind::vector_add},
    {"PSUBQ", Kind::vector_add},
    {"PAND", Kind::vector_add},  // PANDN, too
    {"POR", Kind::vector_add},
    {"PXOR", Kind::vector_add},
    {"ANDP", Kind::vector_add},
    {"ANDNP", Kind::vector_add},
    {"ORP", Kind::vector_add},
    {"XORP", Kind::vector_add},
    {"PCMPEQ", Kind::vector_add},
    {"PCMPGT", Kind::vector_add},
    {"PMIN", Kind::vector_add},
    {"PMAX", Kind::vector_add},
    {"PSLL", Kind::vector_shift},
    {"PSRL", Kind::vector_shift},
    {"PSRA", Kind::vector_shift},
    {"PMUL", Kind::vector_multiply},
    {"PMADD", Kind::vector_multiply},
    {"PSHUFB", Kind::shuffle_bytes},
    {"PALIGNR", Kind::shuffle_bytes},
    {"PSHUF", Kind::shuffle},
    {"SHUFP", Kind::shuffle},
    {"UNPCK", Kind::shuffle},
    {"PUNPCK", Kind::shuffle},
    {"PERMQ", Kind::shuffle_lanes},
    {"PERMD", Kind::shuffle_lanes},
    {"PERMPS", Kind::shuffle_lanes},
    {"PERMPD", Kind::shuffle_lanes},
    {"AESENC", Kind::aes},
    {"AESDEC", Kind::aes},
    {"PCLMUL", Kind::carryless_multiply},
    {"ADD_F", Kind::x87_add},
    {"SUB_F", Kind::x87_add},
    {"SUBR_F", Kind::x87_add},
    {"MUL_F", Kind::x87_multiply},
    {"DIV_F", Kind::x87_divide},
    {"DIVR_F", Kind::x87_divide},
};

/// MUL64r, IMUL32m, MULX: their product is in two registers.
bool is_wide_multiplication(std::string_view name) {
  if (!name.starts_with("MUL") && !name.starts_with("IMUL")) return false;
  name.remove_prefix(name.find("MUL") + 3);
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view rest = name.substr(digits);
  return digits != 0 && (rest == "r" || rest == "m");
}

bool is_scaled(const AddressOperand& address) {
  return address.index != kNoRegister && address.scale > 1;
}

bool has_three_parts(const AddressOperand& address) {
  return address.base != kNoRegister && address.index != kNoRegister && address.displacement != 0;
}

Kind find_lea_class(const Operands& operands) {
  if (!operands.address) return Kind::other;
  if (has_three_parts(*operands.address)) return Kind::lea_three_parts;
  return is_scaled(*operands.address) ? Kind::lea_scaled : Kind::other;
}

bool fits(const Rule& rule, std::string_view name, const llvm::MCInstrDesc& facts) {
  if (!name.starts_with(rule.name)) return false;
  const bool has_memory = facts.mayLoad() || facts.mayStore();
  switch (rule.place) {
    case Place::anywhere:
      return true;
    case Place::registers:
      return !has_memory;
    case Place::loaded:
      return facts.mayLoad() && !facts.mayStore();
  }
  return false;
}

}  // namespace

InstructionClass find_instruction_class(const DecodedInstruction& instruction,
                                        const Operands& operands) {
  std::string_view name = instruction.name;
  const llvm::MCInstrDesc& facts = *instruction.facts;
  if (operands.is_atomic) return Kind::locked;
  if (name.starts_with("LEA")) return find_lea_class(operands);
  if (is_wide_multiplication(name)) return Kind::integer_multiply_wide;
  if (name.ends_with("CL") && !name.starts_with("RC")) {
    return name.starts_with("SHLD") || name.starts_with("SHRD") ? Kind::other
                                                                : Kind::shift_by_register;
  }
  const bool is_integer_load = name == "MOV32rm" || name == "MOV64rm" || name.starts_with("MOVZX");
  if (is_integer_load && operands.loads && operands.address) {
    const AddressOperand& address = *operands.address;
    return is_scaled(address) || has_three_parts(address) ? Kind::load_complex_address
                                                          : Kind::other;
  }
  if (name.starts_with('V')) name.remove_prefix(1);
  if (name.starts_with("ADDSUB")) return Kind::other;
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules),
                                        [&](const Rule& one) { return fits(one, name, facts); });
  return rule == std::end(kRules) ? Kind::other : rule->kind;
}

bool is_wide_vector(const DecodedInstruction& instruction) {
  const std::string_view name = instruction.name;
  const bool is_256 = name.find("Yr") != name.npos || name.find("Z256") != name.npos;
  return is_256 || name.find("Zr") != name.npos;
}

}  // namespace culprit
