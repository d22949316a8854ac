// SPDX-License-Identifier: GPL-2.0-or-later

#include "simulate/qemu/callbacks.h"

#include "simulate/counting/execution.h"
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
  the_counting().access<kModel>(vcpu, place_of(word), address, shapes.find(info));
}

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

/// Most are left at once: this is all that their speed is of.
template <Model kModel>
void sampled_may_be_accessed(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                             void* word) {
  if (!the_counting().may_be_modelled(address)) [[likely]]
    return;
  sampled_accessed<kModel>(vcpu, info, address, word);
}

template <Model kModel, bool kIsStore>
void loads_or_stores(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address, void* word) {
  the_counting().access_known<kModel, kIsStore>(vcpu, place_of(word), address);
}

template <Model kModel, bool kInTurns>
Callbacks callbacks_of() {
  Callbacks callbacks{.block_runs = block_runs<kModel, kInTurns>, .count = accessed<kModel>};
  if constexpr (kModel.caches) callbacks.wider = wider_accessed<kModel>;
  if constexpr (kModel.sampled) {
    callbacks.known = sampled_may_be_accessed<kModel>;
  } else if constexpr (kModel.caches) {
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

void call_pushes(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t address, void*) {
  the_counting().call_pushes(vcpu, address);
}

Callbacks make_callbacks() {
  return with_model(the_counting(),
                    []<Model kModel, bool kInTurns>() { return callbacks_of<kModel, kInTurns>(); });
}

}  // namespace culprit
