#include "simulate/counting/known_accesses.h"

#include <array>
#include <gtest/gtest.h>
#include <vector>

#include "simulate/counting/code_facts.h"

namespace culprit::counting {
namespace {

constexpr KnownAccesses kUnknown{};

KnownAccesses loads(uint8_t bytes) {
  return {.is_known = true, .load_bytes = bytes, .in_parts = bytes > 8};
}
KnownAccesses stores(uint8_t bytes) {
  return {.is_known = true, .store_bytes = bytes, .in_parts = bytes > 8};
}
/// QEMU shows a whole vector of these loads.
KnownAccesses loads_narrow(uint8_t bytes) {
  return {.is_known = true, .load_bytes = bytes, .in_parts = true, .is_shown_wider = true};
}
KnownAccesses changes(uint8_t bytes) {
  return {.is_known = true, .load_bytes = bytes, .store_bytes = bytes};
}
KnownAccesses rounds(uint8_t load_bytes, uint8_t store_bytes) {
  return {.load_bytes = load_bytes, .store_bytes = store_bytes, .repeats = true};
}
const KnownAccesses kNothing{.is_known = true};

KnownAccesses x86_accesses(std::vector<uint8_t> bytes) {
  return find_accesses(decode_x86_opcode(bytes));
}

KnownAccesses a64(uint32_t word) {
  const auto bytes = __builtin_bit_cast(std::array<uint8_t, 4>, word);
  return decode_aarch64(bytes).accesses;
}

// Bytes as GNU as 2.40 assembles them; what they access: Intel SDM volume 2. That QEMU does the
// same is tests/accesses_test.py.
TEST(KnownAccesses, OfMoves) {
  EXPECT_EQ(x86_accesses({0x8a, 0x00}), loads(1));                     // mov (%rax),%al
  EXPECT_EQ(x86_accesses({0x66, 0x8b, 0x00}), loads(2));               // mov (%rax),%ax
  EXPECT_EQ(x86_accesses({0x8b, 0x00}), loads(4));                     // mov (%rax),%eax
  EXPECT_EQ(x86_accesses({0x48, 0x8b, 0x00}), loads(8));               // mov (%rax),%rax
  EXPECT_EQ(x86_accesses({0x48, 0x8b, 0xc3}), kNothing);               // mov %rbx,%rax
  EXPECT_EQ(x86_accesses({0x88, 0x00}), stores(1));                    // mov %al,(%rax)
  EXPECT_EQ(x86_accesses({0x48, 0xc7, 0x00, 1, 0, 0, 0}), stores(8));  // movq $1,(%rax)
  EXPECT_EQ(x86_accesses({0x64, 0x89, 0x18}), stores(4));              // mov %ebx,%fs:(%rax)
  EXPECT_EQ(x86_accesses({0x0f, 0xb6, 0x00}), loads(1));               // movzbl (%rax),%eax
  EXPECT_EQ(x86_accesses({0x48, 0x0f, 0xbf, 0x00}), loads(2));         // movswq (%rax),%rax
  EXPECT_EQ(x86_accesses({0x48, 0x63, 0x00}), loads(4));               // movslq (%rax),%rax
  EXPECT_EQ(x86_accesses({0x48, 0x0f, 0x44, 0x00}), loads(8));         // cmove (%rax),%rax
  EXPECT_EQ(x86_accesses({0x48, 0x8d, 0x00}), kNothing);               // lea (%rax),%rax
  EXPECT_EQ(x86_accesses({0x0f, 0x94, 0x00}), stores(1));              // sete (%rax)
}

TEST(KnownAccesses, OfArithmetic) {
  EXPECT_EQ(x86_accesses({0x48, 0x01, 0x18}), changes(8));        // add %rbx,(%rax)
  EXPECT_EQ(x86_accesses({0x48, 0x03, 0x18}), loads(8));          // add (%rax),%rbx
  EXPECT_EQ(x86_accesses({0x30, 0x18}), changes(1));              // xor %bl,(%rax)
  EXPECT_EQ(x86_accesses({0x39, 0x18}), loads(4));                // cmp %ebx,(%rax)
  EXPECT_EQ(x86_accesses({0x83, 0x00, 0x01}), changes(4));        // addl $1,(%rax)
  EXPECT_EQ(x86_accesses({0x48, 0x83, 0x38, 0x01}), loads(8));    // cmpq $1,(%rax)
  EXPECT_EQ(x86_accesses({0x80, 0x38, 0x01}), loads(1));          // cmpb $1,(%rax)
  EXPECT_EQ(x86_accesses({0x05, 1, 0, 0, 0}), kNothing);          // add $1,%eax
  EXPECT_EQ(x86_accesses({0x84, 0x18}), loads(1));                // test %bl,(%rax)
  EXPECT_EQ(x86_accesses({0xf6, 0x00, 0x01}), loads(1));          // testb $1,(%rax)
  EXPECT_EQ(x86_accesses({0x48, 0xf7, 0x18}), changes(8));        // negq (%rax)
  EXPECT_EQ(x86_accesses({0xf7, 0x38}), loads(4));                // idivl (%rax)
  EXPECT_EQ(x86_accesses({0x66, 0xff, 0x00}), changes(2));        // incw (%rax)
  EXPECT_EQ(x86_accesses({0x48, 0xc1, 0x20, 0x04}), changes(8));  // shlq $4,(%rax)
  EXPECT_EQ(x86_accesses({0x48, 0xc1, 0xe0, 0x04}), kNothing);    // shl $4,%rax
  EXPECT_EQ(x86_accesses({0x6b, 0x00, 0x07}), loads(4));          // imul $7,(%rax),%eax
  EXPECT_EQ(x86_accesses({0xf3, 0x0f, 0xb8, 0x00}), loads(4));    // popcnt (%rax),%eax
}

TEST(KnownAccesses, OfTheStack) {
  EXPECT_EQ(x86_accesses({0x55}), stores(8));                   // push %rbp
  EXPECT_EQ(x86_accesses({0x41, 0x5c}), loads(8));              // pop %r12
  EXPECT_EQ(x86_accesses({0x6a, 0x01}), stores(8));             // push $1
  EXPECT_EQ(x86_accesses({0xff, 0x30}), changes(8));            // push (%rax)
  EXPECT_EQ(x86_accesses({0xe8, 0, 0, 0, 0}), stores(8));       // call
  EXPECT_EQ(x86_accesses({0xff, 0xd0}), stores(8));             // call *%rax
  EXPECT_EQ(x86_accesses({0x41, 0xff, 0x10}), changes(8));      // call *(%r8)
  EXPECT_EQ(x86_accesses({0xff, 0x20}), loads(8));              // jmp *(%rax)
  EXPECT_EQ(x86_accesses({0x3e, 0xff, 0xe0}), kNothing);        // notrack jmp *%rax
  EXPECT_EQ(x86_accesses({0xf3, 0xc3}), loads(8));              // repz ret
  EXPECT_EQ(x86_accesses({0xc9}), loads(8));                    // leave
  EXPECT_EQ(x86_accesses({0x74, 0x10}), kNothing);              // je
  EXPECT_EQ(x86_accesses({0xf3, 0x0f, 0x1e, 0xfa}), kNothing);  // endbr64
  EXPECT_EQ(x86_accesses({0x66, 0x0f, 0x1f, 0x00}), kNothing);  // nopw (%rax)
  EXPECT_EQ(x86_accesses({0x0f, 0x18, 0x08}), kNothing);        // prefetcht0 (%rax)
  EXPECT_EQ(x86_accesses({0x66, 0x50}), kUnknown);              // push %ax
}

TEST(KnownAccesses, OfVectors) {
  EXPECT_EQ(x86_accesses({0xf2, 0x0f, 0x58, 0x00}), loads(8));         // addsd (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0xf3, 0x0f, 0x11, 0x00}), stores(4));        // movss %xmm0,(%rax)
  EXPECT_EQ(x86_accesses({0x66, 0x0f, 0x58, 0x00}), loads(16));        // addpd (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0x0f, 0x29, 0x00}), stores(16));             // movaps %xmm0,(%rax)
  EXPECT_EQ(x86_accesses({0xf3, 0x0f, 0x6f, 0x00}), loads(16));        // movdqu (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0x66, 0x48, 0x0f, 0x6e, 0xc0}), kNothing);   // movq %rax,%xmm0
  EXPECT_EQ(x86_accesses({0xf3, 0x0f, 0x7e, 0x00}), loads(8));         // movq (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0x66, 0x0f, 0xd6, 0x00}), stores(8));        // movq %xmm0,(%rax)
  EXPECT_EQ(x86_accesses({0x66, 0x0f, 0x2f, 0x00}), loads(8));         // comisd (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0xf2, 0x48, 0x0f, 0x2a, 0x00}), loads(8));   // cvtsi2sdq (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0xc5, 0xfc, 0x28, 0x00}), loads(32));        // vmovaps (%rax),%ymm0
  EXPECT_EQ(x86_accesses({0xc5, 0xf8, 0x28, 0x00}), loads(16));        // vmovaps (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0xc5, 0xfb, 0x10, 0x00}), loads(8));         // vmovsd (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0xc4, 0xe2, 0xf5, 0xb8, 0x00}), loads(32));  // vfmadd231pd (%rax),...
  EXPECT_EQ(x86_accesses({0xc5, 0xf8, 0x77}), kNothing);               // vzeroupper
}

TEST(KnownAccesses, OfOperandsThatAreNarrowerThanTheVector) {
  EXPECT_EQ(x86_accesses({0xc4, 0xe2, 0xf1, 0xb9, 0x00}),
            loads_narrow(8));  // vfmadd231sd (%rax),...
  EXPECT_EQ(x86_accesses({0xc4, 0xe2, 0x71, 0x99, 0x00}),
            loads_narrow(4));                                           // vfmadd132ss (%rax),...
  EXPECT_EQ(x86_accesses({0xf3, 0x0f, 0xe6, 0x00}), loads_narrow(8));   // cvtdq2pd (%rax),%xmm0
  EXPECT_EQ(x86_accesses({0xc5, 0xfe, 0xe6, 0x00}), loads_narrow(16));  // vcvtdq2pd (%rax),%ymm0
  EXPECT_EQ(x86_accesses({0xc5, 0xf5, 0xd2, 0x00}), loads_narrow(16));  // vpsrld (%rax),%ymm1,%ymm0
  EXPECT_EQ(x86_accesses({0x0f, 0x60, 0x00}), loads_narrow(4));         // punpcklbw (%rax),%mm0
}

// Opcodes and prefixes: Intel SDM volume 2, "REP/REPE/REPZ/REPNE/REPNZ".
TEST(KnownAccesses, OfRoundsOfStringInstructions) {
  EXPECT_EQ(x86_accesses({0xf3, 0xa4}), rounds(1, 1));        // rep movsb
  EXPECT_EQ(x86_accesses({0xf3, 0x48, 0xa5}), rounds(8, 8));  // rep movsq
  EXPECT_EQ(x86_accesses({0xf2, 0xa5}), rounds(4, 4));        // repne movsl, which is the same
  EXPECT_EQ(x86_accesses({0x66, 0xf3, 0xa5}), rounds(2, 2));  // rep movsw
  EXPECT_EQ(x86_accesses({0xf3, 0xaa}), rounds(0, 1));        // rep stosb
  EXPECT_EQ(x86_accesses({0xf3, 0x48, 0xab}), rounds(0, 8));  // rep stosq
}

// Masks, locks, other repetitions, and what is rare: counted as it happens.
TEST(KnownAccesses, OfOthersNothingIsKnown) {
  EXPECT_EQ(x86_accesses({0xf3, 0x67, 0xa4}), kUnknown);              // rep movsb, by %ecx
  EXPECT_EQ(x86_accesses({0xf3, 0xa6}), kUnknown);                    // repe cmpsb
  EXPECT_EQ(x86_accesses({0xa4}), kUnknown);                          // movsb
  EXPECT_EQ(x86_accesses({0xf0, 0x48, 0x01, 0x18}), kUnknown);        // lock add %rbx,(%rax)
  EXPECT_EQ(x86_accesses({0x48, 0x87, 0x18}), kUnknown);              // xchg %rbx,(%rax)
  EXPECT_EQ(x86_accesses({0x0f, 0xb1, 0x18}), kUnknown);              // cmpxchg %ebx,(%rax)
  EXPECT_EQ(x86_accesses({0x0f, 0xa3, 0x18}), kUnknown);              // bt %ebx,(%rax)
  EXPECT_EQ(x86_accesses({0xdb, 0x28}), kUnknown);                    // fldt (%rax)
  EXPECT_EQ(x86_accesses({0xff, 0x18}), kUnknown);                    // far call *(%rax)
  EXPECT_EQ(x86_accesses({0x66, 0x0f, 0xf7, 0xc1}), kUnknown);        // maskmovdqu %xmm1,%xmm0
  EXPECT_EQ(x86_accesses({0xc4, 0xe2, 0x7d, 0x2c, 0x08}), kUnknown);  // vmaskmovps (%rax),...
  EXPECT_EQ(x86_accesses({0xc4, 0xe2, 0xfd, 0x92, 0x04, 0xc8}), kUnknown);  // vgatherdpd
  EXPECT_EQ(x86_accesses({0x62, 0xf1, 0x7c, 0x48, 0x28, 0x00}), kUnknown);  // vmovaps (%rax),%zmm0
  EXPECT_EQ(x86_accesses({0x0f, 0xae, 0x20}), kUnknown);                    // xsave (%rax)
  EXPECT_EQ(x86_accesses({0x9c}), kUnknown);                                // pushf
}

// Words as aarch64-linux-gnu-as 2.40 assembles them.
TEST(KnownAccesses, OfAarch64) {
  const auto pair = [](KnownAccesses accesses) {
    accesses.in_parts = true;
    return accesses;
  };
  EXPECT_EQ(a64(0xf9400000), loads(8));          // ldr x0, [x0]
  EXPECT_EQ(a64(0x39400000), loads(1));          // ldrb w0, [x0]
  EXPECT_EQ(a64(0xb9800000), loads(4));          // ldrsw x0, [x0]
  EXPECT_EQ(a64(0xb8004401), stores(4));         // str w1, [x0], #4
  EXPECT_EQ(a64(0xf8616800), loads(8));          // ldr x0, [x0, x1]
  EXPECT_EQ(a64(0x3dc00000), loads(16));         // ldr q0, [x0]
  EXPECT_EQ(a64(0xbd000000), stores(4));         // str s0, [x0]
  EXPECT_EQ(a64(0xa9bf7bfd), pair(stores(16)));  // stp x29, x30, [sp, #-16]!
  EXPECT_EQ(a64(0x29400400), pair(loads(8)));    // ldp w0, w1, [x0]
  EXPECT_EQ(a64(0x8b010000), kNothing);          // add x0, x0, x1
  EXPECT_EQ(a64(0x1e612800), kNothing);          // fadd d0, d0, d1
  EXPECT_EQ(a64(0x54000041), kNothing);          // b.ne
  EXPECT_EQ(a64(0xd65f03c0), kNothing);          // ret
  EXPECT_EQ(a64(0xd50b7420), kUnknown);          // dc zva, x0
  EXPECT_EQ(a64(0x4c407000), kUnknown);          // ld1 {v0.16b}, [x0]
  EXPECT_EQ(a64(0xc85f7c00), kUnknown);          // ldxr x0, [x0]
  EXPECT_EQ(a64(0x58000000), kUnknown);          // ldr x0, (literal)
  EXPECT_EQ(a64(0xf9800000), kUnknown);          // prfm pldl1keep, [x0]
  EXPECT_EQ(a64(0xa5404000), kUnknown);          // ld1b {z0.b}, p0/z, [x0]
}

}  // namespace
}  // namespace culprit::counting
