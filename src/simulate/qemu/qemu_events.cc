// SPDX-License-Identifier: GPL-2.0-or-later

#include "simulate/qemu/qemu_events.h"

#include <dlfcn.h>

namespace culprit {
namespace {

constexpr int kHidesCutInstructions = 2;
constexpr int kCopiesCode = 3;
constexpr int kPassesPointers = 7;

int interface = 1;  // of this QEMU: the newest that it has
QemuEvents events;

bool qemu_has(const char* function) {
  return ::dlsym(RTLD_DEFAULT, function) != nullptr;
}

// What QEMU calls: up to interface 6 with the plugin's number first.

void pass_core_start(qemu_plugin_id_t, unsigned vcpu) {
  events.core_starts(vcpu);
}
void pass_block(qemu_plugin_id_t, qemu_plugin_tb* block) {
  events.block_is_translated(block);
}
void pass_system_call(qemu_plugin_id_t, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
                      uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t, uint64_t) {
  events.system_call_begins(vcpu, number, {a1, a2, a3, a4, a5, a6});
}
void pass_result(qemu_plugin_id_t, unsigned vcpu, int64_t number, int64_t result) {
  events.system_call_ends(vcpu, number, result);
}
void pass_exit(qemu_plugin_id_t, void*) {
  events.program_exits();
}

// Callbacks of version 7 and later have a pointer as their last argument, which nobody needs.

void pass_core_start_7(unsigned vcpu, void*) {
  events.core_starts(vcpu);
}
void pass_block_7(qemu_plugin_tb* block, void*) {
  events.block_is_translated(block);
}
void pass_system_call_7(unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                        uint64_t a4, uint64_t a5, uint64_t a6, uint64_t, uint64_t, void*) {
  events.system_call_begins(vcpu, number, {a1, a2, a3, a4, a5, a6});
}
void pass_result_7(unsigned vcpu, int64_t number, int64_t result, void*) {
  events.system_call_ends(vcpu, number, result);
}
void pass_exit_7(void*) {
  events.program_exits();
}

// What QEMU has is of another type than qemu_api.h says, by its version.
#ifdef __clang__
#define OTHER_TYPE __attribute__((no_sanitize("function")))
#else
#define OTHER_TYPE
#endif

/// Has QEMU call it, in the form that it has.
template <class Register, class Callback, class Callback7>
OTHER_TYPE void tell(qemu_plugin_id_t id, Register* tell_qemu, Callback* callback,
                     Callback7* callback_7) {
  if (interface < kPassesPointers) return tell_qemu(id, callback);
  using Register7 = void(qemu_plugin_id_t, Callback7*, void*);
  reinterpret_cast<Register7*>(reinterpret_cast<void*>(tell_qemu))(id, callback_7, nullptr);
}

}  // namespace

int find_qemu_interface() {
  if (qemu_has("qemu_plugin_set_pc")) return kPassesPointers;
  return qemu_has("qemu_plugin_scoreboard_new") ? 2 : 1;
}

void tell_qemu_events(qemu_plugin_id_t id, const qemu_info_t& info, const QemuEvents& wanted) {
  interface = info.version.cur;
  events = wanted;
  if (wanted.core_starts != nullptr) {
    tell(id, qemu_plugin_register_vcpu_init_cb, pass_core_start, pass_core_start_7);
  }
  if (wanted.block_is_translated != nullptr) {
    tell(id, qemu_plugin_register_vcpu_tb_trans_cb, pass_block, pass_block_7);
  }
  if (wanted.system_call_begins != nullptr) {
    tell(id, qemu_plugin_register_vcpu_syscall_cb, pass_system_call, pass_system_call_7);
  }
  if (wanted.system_call_ends != nullptr) {
    tell(id, qemu_plugin_register_vcpu_syscall_ret_cb, pass_result, pass_result_7);
  }
  if (wanted.program_exits != nullptr) {
    const auto callback = interface < kPassesPointers ? reinterpret_cast<void*>(pass_exit)
                                                      : reinterpret_cast<void*>(pass_exit_7);
    qemu_plugin_register_atexit_cb(id, reinterpret_cast<qemu_plugin_udata_cb_t>(callback), nullptr);
  }
}

bool shows_cut_instructions() {
  return interface < kHidesCutInstructions;
}

OTHER_TYPE std::span<const uint8_t> read_code(const qemu_plugin_insn* instruction, CodeRoom& room) {
  if (interface < kCopiesCode) {
    return {static_cast<const uint8_t*>(qemu_plugin_insn_data(instruction)),
            qemu_plugin_insn_size(instruction)};
  }
  using Copy = size_t(const qemu_plugin_insn*, void* to, size_t bytes);
  auto* const copy = reinterpret_cast<Copy*>(reinterpret_cast<void*>(qemu_plugin_insn_data));
  return {room.data(), copy(instruction, room.data(), room.size())};
}

}  // namespace culprit
