#include "simulate/qemu/qemu_events.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

// A QEMU of any interface: it keeps what it is given, and calls it in that interface's form.

namespace culprit {
namespace {

constexpr uint8_t kCode[] = {0x48, 0x89, 0xe5};

struct FakeQemu {
  int interface = 1;
  void* starts = nullptr;
  void* translated = nullptr;
  void* call_begins = nullptr;
  void* call_ends = nullptr;
  void* exits = nullptr;
};
FakeQemu qemu;
std::vector<std::string> told;

qemu_plugin_tb* const kBlock = reinterpret_cast<qemu_plugin_tb*>(0x1000);
const qemu_plugin_insn* const kInstruction = reinterpret_cast<qemu_plugin_insn*>(0x2000);

template <class... Arguments>
void call(void* callback, Arguments... arguments) {
  reinterpret_cast<void (*)(Arguments...)>(callback)(arguments...);
}

void run_program() {
  constexpr qemu_plugin_id_t kId = 99;
  constexpr uint64_t kZero = 0;
  void* const data = nullptr;
  if (qemu.interface < 7) {
    call(qemu.starts, kId, 5U);
    call(qemu.translated, kId, kBlock);
    call(qemu.call_begins, kId, 5U, int64_t{231}, uint64_t{1}, uint64_t{2}, uint64_t{3},
         uint64_t{4}, uint64_t{5}, uint64_t{6}, kZero, kZero);
    call(qemu.call_ends, kId, 5U, int64_t{231}, int64_t{-1});
    call(qemu.exits, kId, data);
  } else {
    call(qemu.starts, 5U, data);
    call(qemu.translated, kBlock, data);
    call(qemu.call_begins, 5U, int64_t{231}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{4},
         uint64_t{5}, uint64_t{6}, kZero, kZero, data);
    call(qemu.call_ends, 5U, int64_t{231}, int64_t{-1}, data);
    call(qemu.exits, data);
  }
}

class Interface : public testing::TestWithParam<int> {
 protected:
  Interface() {
    qemu = {.interface = GetParam()};
    told.clear();
  }
  static void tell(const QemuEvents& events) {
    qemu_info_t info{};
    info.version = {.min = qemu.interface, .cur = qemu.interface};
    tell_qemu_events(99, info, events);
  }
};

TEST_P(Interface, EventsComeInOneForm) {
  tell({.core_starts = [](unsigned vcpu) { told.push_back("start " + std::to_string(vcpu)); },
        .block_is_translated =
            [](qemu_plugin_tb* block) {
              EXPECT_EQ(block, kBlock);
              told.push_back("block");
            },
        .system_call_begins =
            [](unsigned vcpu, int64_t number, const uint64_t(&arguments)[6]) {
              std::string text = "call " + std::to_string(vcpu) + " " + std::to_string(number);
              for (const uint64_t one : arguments) text += " " + std::to_string(one);
              told.push_back(text);
            },
        .system_call_ends =
            [](unsigned vcpu, int64_t number, int64_t result) {
              told.push_back("end " + std::to_string(vcpu) + " " + std::to_string(number) + " " +
                             std::to_string(result));
            },
        .program_exits = [] { told.emplace_back("exit"); }});
  run_program();
  EXPECT_EQ(told, (std::vector<std::string>{"start 5", "block", "call 5 231 1 2 3 4 5 6",
                                            "end 5 231 -1", "exit"}));
}

TEST_P(Interface, WhatIsNotWantedIsNotAskedFor) {
  tell({.block_is_translated = [](qemu_plugin_tb*) {}});
  EXPECT_NE(qemu.translated, nullptr);
  for (const void* const other : {qemu.starts, qemu.call_begins, qemu.call_ends, qemu.exits}) {
    EXPECT_EQ(other, nullptr);
  }
}

TEST_P(Interface, CodeIsReadOrCopied) {
  tell({});
  CodeRoom room{};
  const std::span<const uint8_t> code = read_code(kInstruction, room);
  EXPECT_TRUE(std::ranges::equal(code, kCode));
  EXPECT_EQ(code.data() == room.data(), GetParam() >= 3);
}

TEST_P(Interface, OnlyTheFirstShowsInstructionsThatAreCutOff) {
  tell({});
  EXPECT_EQ(shows_cut_instructions(), GetParam() == 1);
}

INSTANTIATE_TEST_SUITE_P(All, Interface, testing::Values(1, 2, 3, 5, 6, 7));

}  // namespace
}  // namespace culprit

using culprit::qemu;

extern "C" {

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_plugin_vcpu_simple_cb_t callback) {
  qemu.starts = reinterpret_cast<void*>(callback);
}
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           qemu_plugin_vcpu_tb_trans_cb_t callback) {
  qemu.translated = reinterpret_cast<void*>(callback);
}
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t,
                                          qemu_plugin_vcpu_syscall_cb_t callback) {
  qemu.call_begins = reinterpret_cast<void*>(callback);
}
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t,
                                              qemu_plugin_vcpu_syscall_ret_cb_t callback) {
  qemu.call_ends = reinterpret_cast<void*>(callback);
}
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb_t callback, void*) {
  qemu.exits = reinterpret_cast<void*>(callback);
}
size_t qemu_plugin_insn_size(const qemu_plugin_insn* instruction) {
  EXPECT_EQ(instruction, culprit::kInstruction);
  return sizeof culprit::kCode;
}

/// Up to interface 2 it has the first parameter alone, and returns where the bytes are.
uintptr_t insn_data_of_any_interface(const qemu_plugin_insn* instruction, void* to,
                                     size_t bytes) asm("qemu_plugin_insn_data");
uintptr_t insn_data_of_any_interface(const qemu_plugin_insn* instruction, void* to, size_t bytes) {
  EXPECT_EQ(instruction, culprit::kInstruction);
  if (qemu.interface < 3) return reinterpret_cast<uintptr_t>(culprit::kCode);
  const size_t fits = std::min(bytes, sizeof culprit::kCode);
  std::memcpy(to, culprit::kCode, fits);
  return fits;
}
}
