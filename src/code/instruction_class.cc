#include "code/instruction_class.h"

namespace culprit {
namespace {

using Kind = InstructionClass;

#define TO_REGISTERS(text) \
  text ", %r9; " text ", %r10; " text ", %r11; " text ", %r12; " text ", %r13; " text ", %r14"
#define TO_VECTORS(text)                                                                        \
  text ", %xmm9; " text ", %xmm10; " text ", %xmm11; " text ", %xmm12; " text ", %xmm13; " text \
       ", %xmm14"

// Divisions take longer the more digits the quotient has: these have about eight.
constexpr InstructionLoop kLoops[] = {
    {Kind::integer_multiply, "integer_multiply", "imul %rbx, %rbx", TO_REGISTERS("imul $3, %r8"),
     6},
    {Kind::integer_multiply_wide, "integer_multiply_wide", "mul %r8", "mov %r9, %rax; mul %r8"},
    {Kind::integer_divide_32, "integer_divide_32",
     "mov $1000000007, %eax; add %ebx, %eax; xor %edx, %edx; mov $7, %ecx; div %ecx; "
     "mov %eax, %ebx; and $7, %ebx",
     "mov $1000000007, %eax; xor %edx, %edx; mov $7, %ecx; div %ecx", 1, 2},
    {Kind::integer_divide_64, "integer_divide_64",
     "mov $1000000007, %eax; add %rbx, %rax; xor %edx, %edx; mov $7, %ecx; div %rcx; "
     "mov %rax, %rbx; and $7, %ebx",
     "mov $1000000007, %eax; xor %edx, %edx; mov $7, %ecx; div %rcx", 1, 2},
    {Kind::lea_three_parts, "lea_three_parts", "lea 1(%rbx, %r8), %rbx",
     TO_REGISTERS("lea 1(%rax, %r8)"), 6},
    {Kind::lea_scaled, "lea_scaled", "lea (%rbx, %r8, 8), %rbx", TO_REGISTERS("lea (%rax, %r8, 8)"),
     6},
    {Kind::shift_by_register, "shift_by_register", "shl %cl, %rbx", TO_REGISTERS("shl %cl"), 6},
    {Kind::bit_scan, "bit_scan", "bsf %rbx, %rbx", TO_REGISTERS("bsf %r8"), 6},
    {Kind::popcnt, "popcnt", "popcnt %rbx, %rbx", TO_REGISTERS("popcnt %r8"), 6},
    {Kind::crc32, "crc32", "crc32q %rbx, %rbx", TO_REGISTERS("crc32q %r8"), 6},
    {Kind::locked, "locked", "lock addq $1, (%rdi)",
     "lock addq $1, (%rdi); lock addq $1, 64(%rdi); lock addq $1, 128(%rdi)", 3, 0, true},
    {Kind::memory_fence, "memory_fence", nullptr, "mfence"},
    {Kind::load_complex_address, "load_complex_address", "mov (%rdi, %rbx, 8), %rbx",
     TO_REGISTERS("mov (%rdi, %rax, 8)"), 6, 0, true},
    {Kind::load_sign_extended, "load_sign_extended", "movslq (%rdi, %rbx), %rbx",
     TO_REGISTERS("movslq (%rdi)"), 6, 0, true},
    {Kind::load_vector, "load_vector", "movq (%rdi, %rbx), %xmm0; movq %xmm0, %rbx",
     TO_VECTORS("movq (%rdi)"), 6, 0, true, Kind::move_from_vector},
    {Kind::gather, "gather", nullptr,
     "vpcmpeqd %ymm9, %ymm9, %ymm9; vpxor %xmm8, %xmm8, %xmm8; "
     "vgatherdps %ymm9, (%rdi, %ymm8, 4), %ymm10"},
    {Kind::store, "store", nullptr,
     "mov %r8, (%rdi); mov %r8, 64(%rdi); mov %r8, 128(%rdi); mov %r8, 192(%rdi)", 4},
    {Kind::move_to_vector, "move_to_vector", "movq %rbx, %xmm0; movq %xmm0, %rbx",
     TO_VECTORS("movq %r8"), 6, 0, false, Kind::move_from_vector},
    {Kind::move_from_vector, "move_from_vector", "movq %xmm0, %rbx; movq %rbx, %xmm0",
     TO_REGISTERS("movq %xmm8"), 6, 0, false, Kind::move_to_vector},
    {Kind::fp_add, "fp_add", "addsd %xmm8, %xmm0", TO_VECTORS("addsd %xmm8"), 6},
    {Kind::fp_multiply, "fp_multiply", "mulsd %xmm8, %xmm0", TO_VECTORS("mulsd %xmm8"), 6},
    {Kind::fp_fma, "fp_fma", "vfmadd231sd %xmm8, %xmm8, %xmm0",
     TO_VECTORS("vfmadd231sd %xmm8, %xmm8"), 6},
    {Kind::fp_divide_32, "fp_divide_32", "divss %xmm8, %xmm0", TO_VECTORS("divss %xmm8"), 6},
    {Kind::fp_divide_64, "fp_divide_64", "divsd %xmm8, %xmm0", TO_VECTORS("divsd %xmm8"), 6},
    {Kind::fp_sqrt_32, "fp_sqrt_32", "sqrtss %xmm0, %xmm0", TO_VECTORS("sqrtss %xmm8"), 6},
    {Kind::fp_sqrt_64, "fp_sqrt_64", "sqrtsd %xmm0, %xmm0", TO_VECTORS("sqrtsd %xmm8"), 6},
    {Kind::fp_compare, "fp_compare", "ucomisd %xmm8, %xmm0; sbb %rbx, %rbx; movq %rbx, %xmm0",
     "ucomisd %xmm8, %xmm9", 1, 1, false, Kind::move_to_vector},
    {Kind::fp_round, "fp_round", "roundsd $1, %xmm0, %xmm0", TO_VECTORS("roundsd $1, %xmm8"), 6},
    {Kind::convert_fp, "convert_fp", "cvtss2sd %xmm0, %xmm0", TO_VECTORS("cvtss2sd %xmm8"), 6},
    {Kind::convert_fp_to_integer, "convert_fp_to_integer",
     "cvttsd2si %xmm0, %rbx; movq %rbx, %xmm0", TO_REGISTERS("cvttsd2si %xmm8"), 6, 0, false,
     Kind::move_to_vector},
    {Kind::convert_integer_to_fp, "convert_integer_to_fp", "cvtsi2sd %rbx, %xmm0; movq %xmm0, %rbx",
     TO_VECTORS("cvtsi2sd %r8"), 6, 0, false, Kind::move_from_vector},
    {Kind::vector_add, "vector_add", "paddd %xmm8, %xmm0", TO_VECTORS("paddd %xmm8"), 6},
    {Kind::vector_shift, "vector_shift", "pslld $1, %xmm0", TO_VECTORS("pslld $1"), 6},
    {Kind::vector_multiply, "vector_multiply", "pmuludq %xmm8, %xmm0", TO_VECTORS("pmuludq %xmm8"),
     6},
    {Kind::shuffle, "shuffle", "pshufd $1, %xmm0, %xmm0", TO_VECTORS("pshufd $1, %xmm8"), 6},
    {Kind::shuffle_bytes, "shuffle_bytes", "pshufb %xmm8, %xmm0", TO_VECTORS("pshufb %xmm8"), 6},
    {Kind::shuffle_lanes, "shuffle_lanes", "vpermq $1, %ymm0, %ymm0",
     "vpermq $1, %ymm8, %ymm9; vpermq $1, %ymm8, %ymm10", 2},
    {Kind::aes, "aes", "aesenc %xmm8, %xmm0", TO_VECTORS("aesenc %xmm8"), 6},
    {Kind::carryless_multiply, "carryless_multiply", "pclmulqdq $0, %xmm8, %xmm0",
     TO_VECTORS("pclmulqdq $0, %xmm8"), 6},
    {Kind::x87_add, "x87_add", "fadd %st(1), %st", "fld %st(0); fadd %st(2), %st; fstp %st(0)"},
    {Kind::x87_multiply, "x87_multiply", "fmul %st(1), %st",
     "fld %st(0); fmul %st(2), %st; fstp %st(0)"},
    {Kind::x87_divide, "x87_divide", "fdiv %st(1), %st",
     "fld %st(0); fdiv %st(2), %st; fstp %st(0)"},
};
#undef TO_REGISTERS
#undef TO_VECTORS

}  // namespace

std::span<const InstructionLoop> instruction_loops() {
  return kLoops;
}

}  // namespace culprit
