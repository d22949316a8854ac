// Walks through tables, registers and stacks made by hand; every expected frame is
// calculated beside it. Real programs: tests/unwind_test.py.

#include "unwind/unwinder.h"

#include <gtest/gtest.h>
#include <random>

#include "unwind/made_elf.h"

namespace culprit {
namespace {

constexpr uint32_t kPid = 42;
constexpr uint64_t kBase = 0x7000'0000'0000;     // where the file is mapped
constexpr uint64_t kStack = 0x7ffc'0000'0000;    // what the stack pointer is
constexpr uint64_t kX86Mask = 0xff01ff;          // AX BX CX DX SI DI BP SP IP, R8 ... R15
constexpr uint64_t kArmMask = (1ULL << 33) - 1;  // X0 ... X29 LR SP PC
constexpr uint64_t code(uint64_t at) {
  return kBase + MadeElf::kCode + at;
}

// DW_CFA_def_cfa register offset; DW_CFA_offset register n: at CFA - 8n; DW_CFA_undefined
const std::string kX86Initial("\x0c\7\x08\x90\1", 5);  // CFA = rsp + 8, rip at CFA - 8
const std::string kX86Outermost("\7\x10", 2);

class UnwinderTest : public ::testing::Test {
 protected:
  void load(const MadeElf& elf, const char* architecture) {
    bytes_ = elf.bytes();
    unwinder_.emplace(architecture, [this](uint32_t, const Mapping&) {
      ++opened_;
      return MadeElf::open(bytes_);
    });
    spaces_.map(kPid, {RunAddress(kBase), RunAddress(kBase + MadeElf::kSize), 0, 1});
  }
  /// An x86-64 file: a leaf in [0, 0x100), a caller with 24-byte frames and a saved rbx in
  /// [0x100, 0x200), one with a frame pointer in [0x200, 0x300), the outermost in [0x300, 0x400).
  void load_x86() {
    MadeElf elf(EM_X86_64, 16, kX86Initial);
    elf.add_function(0, 0x100, "");
    elf.add_function(0x100, 0x200, std::string("\x0e\x18\x83\2", 4));    // CFA rsp+24, rbx CFA-16
    elf.add_function(0x200, 0x300, std::string("\x0c\6\x10\x86\2", 5));  // CFA rbp+16, rbp CFA-16
    elf.add_function(0x300, 0x400, kX86Outermost);
    load(elf, "x86_64");
  }
  static RegisterDump x86(uint64_t pc, uint64_t bp = 0) {
    RegisterDump dump{PERF_SAMPLE_REGS_ABI_64, kX86Mask, std::vector<uint64_t>(17)};
    dump.values[6] = bp;
    dump.values[7] = kStack;
    dump.values[8] = pc;
    return dump;
  }
  UnwoundStack unwind(const RegisterDump& dump, const std::vector<uint64_t>& stack) {
    return unwinder_->unwind(kPid, spaces_, dump, std::as_bytes(std::span(stack)));
  }
  static std::vector<uint64_t> addresses(const UnwoundStack& stack) {
    std::vector<uint64_t> list;
    for (const CallFrame& frame : stack.frames)
      list.push_back(frame.address.value - kBase - 0x1000);
    return list;
  }

  std::string bytes_;
  int opened_ = 0;
  AddressSpaces spaces_;
  std::optional<Unwinder> unwinder_;
};

using List = std::vector<uint64_t>;

TEST_F(UnwinderTest, WalksFromTheLeafToTheOutermostFrame) {
  load_x86();
  const std::vector<uint64_t> words = {
      code(0x150),                     // of the leaf: CFA kStack + 8
      0,           0xb, code(0x250),   // of the 24-byte frame: CFA kStack + 32
      0,           0x1, code(0x310)};  // rbp = kStack + 40: CFA kStack + 56
  const UnwoundStack stack = unwind(x86(code(0x10), kStack + 40), words);
  EXPECT_EQ(addresses(stack), (List{0x10, 0x14f, 0x24f, 0x30f}));
  EXPECT_EQ(stack.stop, UnwindStop::end_of_stack);
  EXPECT_EQ(find_stop_kind(stack.stop), nullptr);
}

TEST_F(UnwinderTest, ReadsEachFileOnce) {
  load_x86();
  for (int i = 0; i < 3; ++i) unwind(x86(code(0x10)), {code(0x310)});
  spaces_.fork(kPid, kPid + 1);
  unwinder_->unwind(kPid + 1, spaces_, x86(code(0x10)), {});
  EXPECT_EQ(opened_, 1);
}

TEST_F(UnwinderTest, ForgetsTheFilesUsedLeastRecently) {
  load_x86();
  for (uint32_t key = 1; key <= 300; ++key) {
    spaces_.map(kPid, {RunAddress(kBase), RunAddress(kBase + MadeElf::kSize), 0, key});
    EXPECT_EQ(addresses(unwind(x86(code(0x10)), {code(0x310)})), (List{0x10, 0x30f}));
  }
  EXPECT_EQ(opened_, 300);
  unwind(x86(code(0x10)), {});  // key 300 is still there
  EXPECT_EQ(opened_, 300);
  spaces_.map(kPid, {RunAddress(kBase), RunAddress(kBase + MadeElf::kSize), 0, 1});
  unwind(x86(code(0x10)), {});
  EXPECT_EQ(opened_, 301);
}

TEST_F(UnwinderTest, ARegisterThatWasPoppedIsNotSoughtBelowTheStackPointer) {
  MadeElf elf(EM_X86_64, 16, kX86Initial);
  // gcc ends a function so: rbp is back, CFA = rsp + 8, but the rule "rbp at CFA - 16" stays.
  elf.add_function(0, 0x100, std::string("\x86\2", 2));
  elf.add_function(0x200, 0x300, std::string("\x0c\6\x10", 3));  // CFA rbp+16
  elf.add_function(0x300, 0x400, kX86Outermost);
  load(elf, "x86_64");
  const UnwoundStack stack = unwind(x86(code(0x10), kStack + 16), {code(0x210), 0, 0, code(0x310)});
  EXPECT_EQ(addresses(stack), (List{0x10, 0x20f, 0x30f}));
}

TEST_F(UnwinderTest, InterruptedCodeIsLookedUpWhereItWas) {
  MadeElf elf(EM_X86_64, 16, kX86Initial, "zRS");  // a signal frame: all functions here
  elf.add_function(0x50, 0x60, "");
  elf.add_function(0x300, 0x400, kX86Outermost);
  load(elf, "x86_64");
  // 0x300 is the first byte of its function: one less would be in none.
  const UnwoundStack stack = unwind(x86(code(0x50)), {code(0x300)});
  EXPECT_EQ(addresses(stack), (List{0x50, 0x300}));
  EXPECT_EQ(stack.stop, UnwindStop::end_of_stack);
}

TEST_F(UnwinderTest, SaysWhyItStopped) {
  load_x86();
  EXPECT_EQ(unwind(x86(code(0x150)), {0, 0}).stop, UnwindStop::outside_copy);
  EXPECT_EQ(unwind(x86(code(0x500)), {}).stop, UnwindStop::no_unwind_information);
  EXPECT_EQ(addresses(unwind(x86(code(0x500)), {})), List{0x500});
  EXPECT_EQ(unwind(x86(code(0x10)), {code(0x10) - kBase}).stop, UnwindStop::damaged);  // nowhere
  EXPECT_EQ(addresses(unwind(x86(code(0x10)), {1234})), List{0x10});
  RegisterDump dump = x86(code(0x10));
  dump.abi = PERF_SAMPLE_REGS_ABI_32;
  EXPECT_EQ(unwind(dump, {}).stop, UnwindStop::unsupported);
  dump.abi = PERF_SAMPLE_REGS_ABI_NONE;
  EXPECT_EQ(unwind(dump, {}).stop, UnwindStop::no_registers);
  dump = x86(code(0x10));
  dump.values.pop_back();  // fewer than the mask says
  EXPECT_EQ(unwind(dump, {}).stop, UnwindStop::damaged);
  load(MadeElf(EM_AARCH64, 30, kX86Initial), "x86_64");
  EXPECT_EQ(unwind(x86(code(0x10)), {}).stop, UnwindStop::no_unwind_information);
  load(MadeElf(EM_RISCV, 1, ""), "riscv64");
  EXPECT_EQ(unwind(x86(code(0x10)), {}).stop, UnwindStop::unsupported);
}

TEST_F(UnwinderTest, EndsWhateverTheStackHolds) {
  load_x86();
  // A function that returns into itself, for the whole stack.
  const std::vector<uint64_t> deep(8000, code(0x10));
  const UnwoundStack stack = unwind(x86(code(0x10)), deep);
  EXPECT_EQ(stack.frames.size(), kMostUnwoundFrames);
  EXPECT_EQ(stack.stop, UnwindStop::depth_limit);
  // A frame pointer that points to its own frame: the CFA does not grow.
  const UnwoundStack loop = unwind(x86(code(0x250), kStack),
                                   {kStack, code(0x250), kStack, code(0x250), kStack, code(0x250)});
  EXPECT_EQ(loop.stop, UnwindStop::damaged);
  EXPECT_EQ(loop.frames.size(), 2u);
}

TEST_F(UnwinderTest, RandomRegistersAndStacksDoNoHarm) {
  load_x86();
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    RegisterDump dump = x86(code(random() % 0x400), kStack + random() % 256);
    std::vector<uint64_t> stack(random() % 32);
    for (uint64_t& word : stack) {
      word = random() % 3 == 0 ? random() : random() % 2 == 0 ? code(random() % 0x400) : kStack;
    }
    EXPECT_LE(unwind(dump, stack).frames.size(), 33u);  // a word of stack for each caller
  }
}

TEST_F(UnwinderTest, WalksAarch64) {
  // The initial rule: CFA = sp, and the return address is in x30.
  MadeElf elf(EM_AARCH64, 30, std::string("\x0c\x1f\0", 3));
  elf.add_function(0, 0x100, "");
  // CFA = x29 + 32, x29 at CFA - 32, x30 at CFA - 24.
  elf.add_function(0x100, 0x200, std::string("\x0c\x1d\x20\x9d\4\x9e\3", 7));
  elf.add_function(0x200, 0x300, std::string("\7\x1e", 2));
  load(elf, "aarch64");
  RegisterDump dump{PERF_SAMPLE_REGS_ABI_64, kArmMask, std::vector<uint64_t>(33)};
  dump.values[29] = kStack;
  dump.values[30] = code(0x150);
  dump.values[31] = kStack;
  dump.values[32] = code(0x10);
  // The frame record of the second function: its caller's x29, then a signed return address.
  constexpr uint64_t kSignature = 0x002f'0000'0000'0000;
  const UnwoundStack stack = unwind(dump, {0, code(0x210) | kSignature, 0, 0});
  EXPECT_EQ(addresses(stack), (List{0x10, 0x14f, 0x20f}));
  EXPECT_EQ(stack.stop, UnwindStop::end_of_stack);
}

}  // namespace
}  // namespace culprit
