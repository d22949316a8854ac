// SPDX-License-Identifier: GPL-2.0-or-later

#include "simulate/qemu/callbacks.h"

#include "simulate/counting/rounds.h"
#include "simulate/qemu/access_shapes.h"

namespace culprit {

CountingStorage counting_storage;

namespace {

using counting::AccessCall;
using counting::BlockFacts;
using counting::Model;

AccessShapes shapes;

template <Model kModel, bool kInTurns>
void block_runs(unsigned vcpu, void* word) {
  the_counting().run_block<kModel, kInTurns>(vcpu, *static_cast<const BlockFacts*>(word));
}

template <Model kModel>
void accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* word) {
  const counting::AccessShape shape = shapes.find(info);
  if (AccessShapes::loads_too(info)) [[unlikely]]
    the_counting().access<kModel>(vcpu, place_of(word), address, {shape.bytes, false});
  the_counting().access<kModel>(vcpu, place_of(word), address, shape);
}

template <Model kModel>
void accessed_by_round(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* word) {
  the_counting().access_of_round<kModel>(vcpu, place_of(word), address, shapes.find(info));
}

template <Model kModel>
void round_runs(unsigned vcpu, const BlockFacts& round, uint64_t* registers) {
  the_counting().do_rounds<kModel>(vcpu, round, registers);
}
/// The function for the model that runs.
void (*any_round_runs)(unsigned vcpu, const BlockFacts& round, uint64_t* registers) = nullptr;

template <Model kModel>
void known_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* word) {
  the_counting().access_known<kModel>(vcpu, place_of(word), address, shapes.find(info));
}

template <Model kModel>
void wider_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* word) {
  the_counting().access_wider<kModel>(vcpu, place_of(word), address, shapes.find(info));
}

template <Model kModel>
[[gnu::noinline]] void sampled_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                        void* word) {
  known_accessed<kModel>(vcpu, info, address, word);
}

/// Most accesses are not sampled, so this test decides the speed.
template <Model kModel>
void sampled_may_be_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                             void* word) {
  if (!the_counting().may_be_modelled(address)) [[likely]]
    return;
  sampled_accessed<kModel>(vcpu, info, address, word);
}

template <Model kModel>
[[gnu::noinline]] void noticed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                               void* word) {
  the_counting().access_noticed<kModel>(vcpu, place_of(word), address, shapes.find(info));
}

template <Model kModel>
void may_be_noticed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* word) {
  if (!the_counting().notices(vcpu, place_of(word), address)) [[likely]]
    return;
  noticed<kModel>(vcpu, info, address, word);
}

template <Model kModel, bool kIsStore>
void loads_or_stores(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address, void* word) {
  the_counting().access_known<kModel, kIsStore>(vcpu, place_of(word), address);
}

template <Model kModel, bool kInTurns>
Callbacks callbacks_of() {
  Callbacks callbacks{.block_runs = block_runs<kModel, kInTurns>,
                      .count = accessed<kModel>,
                      .round = accessed_by_round<kModel>};
  any_round_runs = round_runs<kModel>;
  if constexpr (kModel.caches || kModel.objects) callbacks.wider = wider_accessed<kModel>;
  if constexpr (kModel.sampled && kModel.locality != simulate::Locality::off) {
    callbacks.known = may_be_noticed<kModel>;  // with objects, whether there is locality or not
  } else if constexpr (kModel.sampled) {
    callbacks.known = sampled_may_be_accessed<kModel>;
  } else if constexpr (kModel.caches || kModel.objects) {
    callbacks.known = known_accessed<kModel>;
    callbacks.load = loads_or_stores<kModel, false>;
    callbacks.store = loads_or_stores<kModel, true>;
  }
  return callbacks;
}

}  // namespace

qemu_plugin_vcpu_mem_cb_t Callbacks::find(AccessCall call) const {
  switch (call) {
    case AccessCall::none:
      return nullptr;
    case AccessCall::count:
      return count;
    case AccessCall::round:
      return round;
    case AccessCall::known:
      return known;
    case AccessCall::wider:
      return wider;
    case AccessCall::load:
      return load;
    case AccessCall::store:
      return store;
  }
  return nullptr;
}

// When a block begins, all registers of the program are in QEMU's state of the CPU, whose address
// generated code keeps in one register of the host, and leaves there when it calls us.
#if defined(__x86_64__)
#define CULPRIT_HAND_STATE(to) "mov %rbp, %rdx; jmp " to
#elif defined(__aarch64__)
#define CULPRIT_HAND_STATE(to) "mov x2, x19; b " to
#else
#error "which register of this host has QEMU's state of the CPU?"
#endif
#define CULPRIT_CALL_WITH_STATE(name, to)                                          \
  asm(".text; .globl " name "; .hidden " name "; .type " name ", @function; " name \
      ": " CULPRIT_HAND_STATE(to) "; .size " name ", . - " name)
CULPRIT_CALL_WITH_STATE("culprit_allocator_runs", "culprit_enter_allocator");
CULPRIT_CALL_WITH_STATE("culprit_construct_runs", "culprit_enter_construct");
CULPRIT_CALL_WITH_STATE("culprit_round_runs", "culprit_do_rounds");
CULPRIT_CALL_WITH_STATE("culprit_state_shows", "culprit_note_state");

/// The state of QEMU's CPU for x86-64 begins with the registers; that for aarch64 has sixteen of
/// 32 bits before them.
size_t register_offset = 0;

extern "C" [[gnu::used]] void culprit_enter_allocator(unsigned vcpu, void* word,
                                                      const char* state) {
  the_counting().enter_allocator(vcpu, allocator_of(word),
                                 reinterpret_cast<const uint64_t*>(state + register_offset));
}

extern "C" [[gnu::used]] void culprit_note_state(unsigned vcpu, void*, const char* state) {
  the_counting().note_registers(vcpu, reinterpret_cast<const uint64_t*>(state + register_offset));
}

extern "C" [[gnu::used]] void culprit_do_rounds(unsigned vcpu, void* word, char* state) {
  any_round_runs(vcpu, *static_cast<const BlockFacts*>(word),
                 reinterpret_cast<uint64_t*>(state + register_offset));
}

extern "C" [[gnu::used]] void culprit_enter_construct(unsigned vcpu, void* word,
                                                      const char* state) {
  the_counting().enter_construct(vcpu, *static_cast<const counting::ConstructEdge*>(word),
                                 reinterpret_cast<const uint64_t*>(state + register_offset));
}

void set_guest(std::string_view architecture) {
  register_offset = architecture == "aarch64" ? 16 * sizeof(uint32_t) : 0;
}

void call_pushes(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address, void*) {
  the_counting().call_pushes(vcpu, address);
}

Callbacks make_callbacks() {
  return with_model(the_counting(),
                    []<Model kModel, bool kInTurns>() { return callbacks_of<kModel, kInTurns>(); });
}

}  // namespace culprit
