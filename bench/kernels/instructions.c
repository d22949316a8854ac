// Kernels of one class of instructions each: chains, in which each needs the one before, and
// instructions that need nothing of each other.

#include "kernels.h"

/// `rounds` of the instructions in `body`, once `prepare` has set up what they need; %rdi is the
/// address of `memory`.
#define KERNEL(name, prepare, body)                                                          \
  static NOINLINE uint64_t name(uint64_t rounds) {                                           \
    void* address = memory;                                                                  \
    __asm__ volatile(                                                                        \
        "push %%rbp\n xor %%eax, %%eax\n xor %%ebx, %%ebx\n mov $1, %%r8d\n"                 \
        "cvtsi2sd %%r8d, %%xmm8\n movapd %%xmm8, %%xmm0\n" prepare "\n.p2align 6\n1:\n" body \
        "\ndec %0\n jnz 1b\n pop %%rbp\n"                                                    \
        : "+r"(rounds), "+D"(address)                                                        \
        :                                                                                    \
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "xmm0", \
          "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm8", "xmm9", "cc", "memory");           \
    return 0;                                                                                \
  }
#define CHAIN(name, text) KERNEL(name, "", FOUR(text "\n"))
/// Of one that ends in its result, a general register or a vector.
#define INDEPENDENT(name, text) \
  KERNEL(name, "", text ", %%r9\n" text ", %%r10\n" text ", %%r11\n" text ", %%r12\n")
#define INDEPENDENT_VECTORS(name, text) \
  KERNEL(name, "", text ", %%xmm1\n" text ", %%xmm2\n" text ", %%xmm3\n" text ", %%xmm4\n")

// Integers.
CHAIN(lea_three_parts, "lea 1(%%rax, %%r8), %%rax")
CHAIN(lea_scaled, "lea (%%rax, %%r8, 8), %%rax")
CHAIN(compare_and_move, "cmp %%r8, %%rax\n cmovl %%r8, %%rax")
CHAIN(popcnt_chain, "popcnt %%rax, %%rax")
CHAIN(crc32_chain, "crc32q %%rax, %%rax")
CHAIN(multiply_wide, "mul %%r8")
CHAIN(bit_scan_chain, "bsf %%r8, %%rax\n add %%rax, %%r8")
CHAIN(shift_by_register, "shl %%cl, %%rax")
CHAIN(adc_chain, "add %%rax, %%rax\n adc $0, %%rax")
CHAIN(set_chain, "cmp %%r8, %%rax\n setc %%al\n movzbl %%al, %%eax")
CHAIN(subtract_with_borrow_chain, "cmp %%r8, %%rax\n sbb %%rax, %%rax")
CHAIN(byte_registers, "addb $1, %%al\n movb %%al, %%bl\n addb %%bl, %%al")
CHAIN(word_registers, "addw $1, %%ax\n xorw %%ax, %%bx\n addw %%bx, %%ax")
CHAIN(extended_bytes, "movzbl %%al, %%eax\n movsbq %%al, %%rax")
CHAIN(nothing_but_endbr, "endbr64")
KERNEL(constants, "", FOUR("mov $1, %%r9d\n mov $2, %%r10d\n movabs $0x123456789a, %%r11\n"))
KERNEL(
    divide_32, "mov $7, %%ecx",
    "mov $1000000007, %%eax\n add %%ebx, %%eax\n xor %%edx, %%edx\n div %%ecx\n mov %%eax, %%ebx\n"
    "and $7, %%ebx\n")
KERNEL(divide_64_small, "mov $7, %%ecx",
       "mov $100, %%eax\n add %%rbx, %%rax\n xor %%edx, %%edx\n div %%rcx\n mov %%rax, %%rbx\n"
       "and $7, %%ebx\n")
KERNEL(divide_64_large, "mov $7, %%ecx\n mov $1, %%r9d\n shl $62, %%r9",
       "mov %%r9, %%rax\n add %%rbx, %%rax\n xor %%edx, %%edx\n div %%rcx\n mov %%rax, %%rbx\n"
       "and $7, %%ebx\n")
KERNEL(divide_64_independent, "mov $7, %%ecx",
       "mov $1000000, %%eax\n xor %%edx, %%edx\n div %%rcx\n")
INDEPENDENT(popcnt_independent, "popcnt %%r8")
INDEPENDENT(crc32_independent, "crc32q %%r8")
INDEPENDENT(lea_independent, "lea 1(%%rax, %%r8, 2)")

// Floating point and vectors.
CHAIN(fp_multiply_chain, "mulsd %%xmm8, %%xmm0")
CHAIN(fma_chain, "vfmadd231sd %%xmm8, %%xmm8, %%xmm0")
CHAIN(fp_divide_chain, "divsd %%xmm8, %%xmm0")
CHAIN(fp_divide_float_chain, "divss %%xmm8, %%xmm0")
CHAIN(fp_round_chain, "roundsd $1, %%xmm0, %%xmm0")
CHAIN(horner, "mulsd %%xmm8, %%xmm0\n addsd %%xmm8, %%xmm0")
CHAIN(fp_compare_chain, "ucomisd %%xmm8, %%xmm0\n sbb %%rax, %%rax\n movq %%rax, %%xmm0")
CHAIN(convert_chain, "cvttsd2si %%xmm0, %%rax\n cvtsi2sd %%rax, %%xmm0")
CHAIN(convert_floats, "cvtsd2ss %%xmm0, %%xmm0\n cvtss2sd %%xmm0, %%xmm0")
CHAIN(moves_between_files, "movq %%rax, %%xmm0\n movq %%xmm0, %%rax")
CHAIN(vector_add_chain, "paddd %%xmm8, %%xmm0")
CHAIN(vector_multiply_chain, "pmuludq %%xmm8, %%xmm0")
CHAIN(shuffle_bytes_chain, "pshufb %%xmm8, %%xmm0")
CHAIN(shuffle_lanes_chain, "vpermq $1, %%ymm0, %%ymm0")
INDEPENDENT_VECTORS(fma_independent, "vfmadd231sd %%xmm8, %%xmm8")
INDEPENDENT_VECTORS(fp_divide_independent, "vdivsd %%xmm8, %%xmm8")
INDEPENDENT_VECTORS(fp_sqrt_independent, "vsqrtsd %%xmm8, %%xmm8")
INDEPENDENT_VECTORS(convert_independent, "pxor %%xmm5, %%xmm5\n vcvtsi2sd %%r8, %%xmm5")
KERNEL(x87_chain, "fninit\n fld1\n fld1", FOUR("fadd %%st(1), %%st\n fmul %%st(1), %%st\n"))
KERNEL(x87_sum, "fninit\n fld1", FOUR("fldl (%%rdi)\n fmull 8(%%rdi)\n faddp\n"))

// Memory, in L1D.
CHAIN(indexed_load_chain, "mov (%%rdi, %%rax, 8), %%rax")
CHAIN(sign_extended_load_chain, "movslq (%%rdi, %%rax), %%rax")
CHAIN(vector_load_chain, "movq (%%rdi, %%rax), %%xmm0\n movq %%xmm0, %%rax")
CHAIN(load_and_add, "add (%%rdi), %%rax")
CHAIN(load_and_add_fp, "addsd (%%rdi), %%xmm0")
CHAIN(fma_of_memory, "vfmadd231sd (%%rdi), %%xmm8, %%xmm0\n vmovsd %%xmm0, 8(%%rdi)")
CHAIN(lock_add, "lock addq $1, (%%rdi)")
CHAIN(store_and_load, "mov %%rax, (%%rdi)\n mov (%%rdi), %%rax")
CHAIN(store_and_load_fp, "movsd %%xmm0, (%%rdi)\n movsd (%%rdi), %%xmm0")
CHAIN(add_to_memory, "addq $1, (%%rdi)")
CHAIN(push_and_pop, "push %%rax\n pop %%rax")
CHAIN(byte_loads, "movb (%%rdi), %%r9b\n movb 1(%%rdi), %%r10b\n movw 2(%%rdi), %%r11w")
CHAIN(byte_stores, "movb %%al, (%%rdi)\n movb $1, 1(%%rdi)")
KERNEL(store_and_load_by_others, "mov %%rdi, %%r9",
       FOUR("mov %%rax, (%%rdi)\n mov (%%r9), %%rax\n"))
KERNEL(lock_add_beside, "",
       "lock addq $1, (%%rdi)\n" FOUR("add %%rax, %%rax\n add %%rbx, %%rbx\n add %%rcx, %%rcx\n"))
KERNEL(gathers, "vpxor %%xmm9, %%xmm9, %%xmm9",
       "vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n vgatherdps %%ymm1, (%%rdi, %%ymm9, 4), %%ymm2\n")

static void zeros(void) {
  allocate(4096);
  for (int i = 0; i < 4096; ++i) ((char*)memory)[i] = 0;
}

const struct Kernel kInstructions[] = {
    {"lea-three-parts", nothing, lea_three_parts},
    {"lea-scaled", nothing, lea_scaled},
    {"lea-independent", nothing, lea_independent},
    {"compare-and-move", nothing, compare_and_move},
    {"popcnt-chain", nothing, popcnt_chain},
    {"popcnt-independent", nothing, popcnt_independent},
    {"crc32-chain", nothing, crc32_chain},
    {"crc32-independent", nothing, crc32_independent},
    {"multiply-wide", nothing, multiply_wide},
    {"bit-scan-chain", nothing, bit_scan_chain},
    {"shift-by-register", nothing, shift_by_register},
    {"adc-chain", nothing, adc_chain},
    {"set-chain", nothing, set_chain},
    {"sbb-chain", nothing, subtract_with_borrow_chain},
    {"byte-registers", nothing, byte_registers},
    {"word-registers", nothing, word_registers},
    {"extended-bytes", nothing, extended_bytes},
    {"endbr64", nothing, nothing_but_endbr},
    {"constants", nothing, constants},
    {"divide-32", nothing, divide_32},
    {"divide-64-small", nothing, divide_64_small},
    {"divide-64-large", nothing, divide_64_large},
    {"divide-64-independent", nothing, divide_64_independent},
    {"fp-multiply-chain", nothing, fp_multiply_chain},
    {"fma-chain", nothing, fma_chain},
    {"fma-independent", nothing, fma_independent},
    {"fp-divide-chain", nothing, fp_divide_chain},
    {"fp-divide-float-chain", nothing, fp_divide_float_chain},
    {"fp-divide-independent", nothing, fp_divide_independent},
    {"fp-sqrt-independent", nothing, fp_sqrt_independent},
    {"fp-round-chain", nothing, fp_round_chain},
    {"horner", nothing, horner},
    {"fp-compare-chain", nothing, fp_compare_chain},
    {"convert-chain", nothing, convert_chain},
    {"convert-independent", nothing, convert_independent},
    {"convert-floats", nothing, convert_floats},
    {"moves-between-files", nothing, moves_between_files},
    {"vector-add-chain", nothing, vector_add_chain},
    {"vector-multiply-chain", nothing, vector_multiply_chain},
    {"shuffle-bytes-chain", nothing, shuffle_bytes_chain},
    {"shuffle-lanes-chain", nothing, shuffle_lanes_chain},
    {"x87-chain", nothing, x87_chain},
    {"x87-sum", zeros, x87_sum},
    {"indexed-load-chain", zeros, indexed_load_chain},
    {"sign-extended-load-chain", zeros, sign_extended_load_chain},
    {"vector-load-chain", zeros, vector_load_chain},
    {"load-and-add", zeros, load_and_add},
    {"load-and-add-fp", zeros, load_and_add_fp},
    {"fma-of-memory", zeros, fma_of_memory},
    {"lock-add", zeros, lock_add},
    {"lock-add-beside", zeros, lock_add_beside},
    {"store-and-load", zeros, store_and_load},
    {"store-and-load-by-others", zeros, store_and_load_by_others},
    {"store-and-load-fp", zeros, store_and_load_fp},
    {"add-to-memory", zeros, add_to_memory},
    {"push-and-pop", nothing, push_and_pop},
    {"byte-loads", zeros, byte_loads},
    {"byte-stores", zeros, byte_stores},
    {"gathers", zeros, gathers},
    {0},
};
