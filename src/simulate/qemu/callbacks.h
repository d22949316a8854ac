// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// What QEMU calls when a block runs and when memory is accessed, and the one Counting that these
// calls feed. QEMU hands such callbacks the number of a virtual CPU, which is a thread of the
// program, and one word of ours.

#include "simulate/counting/counting.h"
#include "simulate/qemu/qemu_api.h"

namespace culprit {

/// QEMU loads a plugin once into a process, and may call it until the process is gone: so this is
/// made once, where its address is known when this is compiled, and never destroyed.
union CountingStorage {
  constexpr CountingStorage() : nothing() {}
  ~CountingStorage() {}
  char nothing;
  counting::Counting counting;
};
extern CountingStorage counting_storage;
inline counting::Counting& the_counting() {
  return counting_storage.counting;
}

/// The callbacks that the Counting needs, by counting::AccessCall; those that it does not need are
/// nullptr.
struct Callbacks {
  qemu_plugin_vcpu_udata_cb_t block_runs = nullptr;  // the word: the block's BlockFacts
  qemu_plugin_vcpu_mem_cb_t count = nullptr;         // the word: AccessPlace
  qemu_plugin_vcpu_mem_cb_t round = nullptr;
  qemu_plugin_vcpu_mem_cb_t known = nullptr;
  qemu_plugin_vcpu_mem_cb_t wider = nullptr;
  qemu_plugin_vcpu_mem_cb_t load = nullptr;
  qemu_plugin_vcpu_mem_cb_t store = nullptr;

  [[nodiscard]] qemu_plugin_vcpu_mem_cb_t find(counting::AccessCall call) const;
};

/// Is told of the stores of instructions that call: they push the return address.
void call_pushes(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address, void*);

/// When a block runs with which a function begins that allocates (counting::Allocator, as a word).
///
/// Interface 1 has no registers. What QEMU has of them is looked at instead, where it keeps it: a
/// detail of QEMU's, seen in 7.2. So the counting believes only what agrees with the
/// calls that it has seen (CountedObjects::enter()).
extern "C" void culprit_allocator_runs(unsigned vcpu, void* word);
/// Called before a block runs that is a round of a string instruction; the word is its BlockFacts.
/// Registers are where they are for culprit_allocator_runs(), and are written there, too: what QEMU
/// does next is to read them.
extern "C" void culprit_round_runs(unsigned vcpu, void* word);
/// When a block runs with which a function begins that constructs begin or end with; the word: its
/// counting::ConstructEdge. Registers are looked at likewise.
extern "C" void culprit_construct_runs(unsigned vcpu, void* word);
/// When a block runs whose registers are to be seen (Counting::needs_registers()).
extern "C" void culprit_state_shows(unsigned vcpu, void* word);
/// The program's architecture: where its registers are.
void set_guest(std::string_view architecture);

/// Call it after the_counting() was started.
Callbacks make_callbacks();

inline void* to_word(objects::Allocator allocator) {
  return reinterpret_cast<void*>(uint64_t{__builtin_bit_cast(uint32_t, allocator)});
}
inline objects::Allocator allocator_of(void* word) {
  return __builtin_bit_cast(objects::Allocator,
                            static_cast<uint32_t>(reinterpret_cast<uint64_t>(word)));
}
inline void* to_word(counting::AccessPlace place) {
  return reinterpret_cast<void*>(__builtin_bit_cast(uint64_t, place));
}
inline counting::AccessPlace place_of(void* word) {
  return __builtin_bit_cast(counting::AccessPlace, reinterpret_cast<uint64_t>(word));
}

}  // namespace culprit
