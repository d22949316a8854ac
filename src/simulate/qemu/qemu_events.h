// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// What QEMU tells a plugin, in one form for all versions of its plugin interface:
//
//     1        QEMU 7.2 to 8.2
//     2 to 6   QEMU 9.0 to 11.0: instructions that are cut off a block are not shown, counting
//              functions are others (we use none of them); from 3 on code is copied
//     7        QEMU 11.1: callbacks of events get a pointer of ours instead of the plugin's number
//
// Tried with 1 (7.2), 4 (10.0) and 7 (11.1). 6 may have what 7 is known by: then such a QEMU
// refuses the plugin, and says why.
//
// The callbacks of a block that runs and of an access are the same in all (qemu_api.h).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "simulate/qemu/qemu_api.h"

namespace culprit {

/// The version that a plugin must say it was made for, for this QEMU to load it: known by what
/// this QEMU has for plugins to call.
int find_qemu_interface();

/// Called by QEMU in the thread of the CPU; nullptr: not wanted.
struct QemuEvents {
  /// A virtual CPU is there. Up to interface 1 the thread that starts the CPU's thread calls, and
  /// one at a time; from 2 on the new thread, before its first block.
  void (*core_starts)(unsigned vcpu) = nullptr;
  void (*block_is_translated)(qemu_plugin_tb* block) = nullptr;
  void (*system_call_begins)(unsigned vcpu, int64_t number,
                             const uint64_t (&arguments)[6]) = nullptr;
  void (*system_call_ends)(unsigned vcpu, int64_t number, int64_t result) = nullptr;
  void (*program_exits)() = nullptr;  // by itself: not of a signal, nor in an exec
};

/// Passes events on from now on. It is called once, while the plugin is installed and before
/// read_code().
void tell_qemu_events(qemu_plugin_id_t id, const qemu_info_t& info, const QemuEvents& events);

/// Whether a block's last instruction may be one that QEMU has taken out of it again, or the part
/// of it that had been read: if it is not the first, and reaches into the next page (x86).
bool shows_cut_instructions();

inline constexpr size_t kLongestInstruction = 15;  // in bytes, of any guest
using CodeRoom = std::array<uint8_t, kLongestInstruction>;

/// The bytes of an instruction that is being translated, which may have been put into `room`.
/// Empty: QEMU cannot read them.
std::span<const uint8_t> read_code(const qemu_plugin_insn* instruction, CodeRoom& room);

}  // namespace culprit
