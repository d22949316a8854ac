#pragma once

// What happens each time a block runs and each time it accesses memory. These are the only
// functions on the fast path: no locks, no allocation, one core's memory only. Without a
// machine model they only count; with one, each access also goes through its caches.

#include <cstdint>
#include <memory>

#include "simulate/machine/branch.h"
#include "simulate/machine/core.h"
#include "simulate/machine/hierarchy.h"
#include "simulate/plugin/access_shape.h"
#include "simulate/plugin/counts_writer.h"
#include "simulate/plugin/qemu_api.h"
#include "simulate/plugin/region.h"
#include "simulate/plugin/translation.h"

namespace culprit {

/// One virtual CPU: a thread of the program, while it lives.
struct Core {
  CoreCounts shared;
  AccessShapes shapes{};
  // Of the machine model, if there is one:
  simulate::CoreState* memory = nullptr;
  simulate::BranchPredictor* predictor = nullptr;
  std::unique_ptr<simulate::IntervalCore> clock;  // if cycles are modelled
  simulate::Ticks ticks_before = 0;               // of its clock, in a parent process
  const BlockFacts* previous = nullptr;           // never null once the core is set up

  // The access before, to see parts of one wide access (QEMU shows 8 bytes at a time).
  uint64_t access_block = 0;  // by the instructions before its end
  uint64_t access_end = 0;
  uint32_t access_site = 0;
  bool access_is_store = false;

  /// Whether an access is a further part of the one before it.
  bool goes_on(uint32_t site, uint64_t address, const AccessShape& shape) {
    const uint64_t block = shared.header->instructions.load(std::memory_order_relaxed);
    const bool same = site == access_site && address == access_end && access_block == block &&
                      shape.is_store == access_is_store;
    access_site = site;
    access_end = address + shape.bytes;
    access_block = block;
    access_is_store = shape.is_store;
    return same;
  }

  RegionWatch region;
  uint64_t not_added = 0;  // to all that is skipped: what this thread has run since it last did
  /// What it ran before was not counted.
  void forget_previous();

  uint64_t system_call_start_ns = 0;
};

/// By number of virtual CPU; nullptr: not counted.
extern Core* cores[counts_file::kMaxCores];
/// The same, of those whose accesses are counted now: all, or those in the region.
extern Core* counting[counts_file::kMaxCores];
/// The number's core is not counted any more.
void forget_core(unsigned number);

/// Limit of the instructions of all cores together; UINT64_MAX: none. Called (once) from the
/// block that reaches it.
void set_instruction_limit(uint64_t instructions, void (*reached)());

/// Makes the core known. False: it cannot be counted.
bool start_core(CountsWriter& writer, uint32_t number);

/// From now on accesses go through this machine; cores that start get one of its own.
/// `recorded` as the machine was made with. With `cycles` each core has a clock; blocks must have
/// their costs.
void set_machine(std::unique_ptr<simulate::Hierarchy> machine, simulate::Locality recorded,
                 bool cycles);

/// [begin, end) is mapped by pages of 2 MiB, or is no more, as far as whole ones fit in.
void set_huge_pages(uint64_t begin, uint64_t end, bool huge);

/// In a forked child: clocks begin anew.
void renew_clocks();

/// In a forked child that records locality: a machine of its own, with empty caches, so that
/// what the parent did is not told twice.
void renew_machine();

/// Ends all counting, for what was recorded of locality to be written; called by the thread of
/// `vcpu` at the end of a process image. nullptr: nothing was recorded.
simulate::Hierarchy* stop_machine(unsigned vcpu);

/// The callbacks for QEMU, as the machine needs them. `data` is a BlockFacts, or an AccessPlace.
struct Callbacks {
  qemu_plugin_vcpu_udata_cb_t block_runs = nullptr;
  qemu_plugin_vcpu_mem_cb_t memory_is_accessed = nullptr;
  // The same, of instructions whose accesses are known, and need not be counted; nullptr: nor need
  // they be modelled.
  qemu_plugin_vcpu_mem_cb_t known = nullptr;
  // And of those that only load or only store, not in several parts, in a block that is not wide.
  qemu_plugin_vcpu_mem_cb_t load = nullptr;
  qemu_plugin_vcpu_mem_cb_t store = nullptr;
};
Callbacks execution_callbacks();

/// What a callback knows of the instruction that accesses memory.
struct AccessPlace {
  uint32_t site = 0;
  uint16_t index = 0;  // in its block
  uint16_t bytes = 0;  // if its accesses are known: the larger one

  [[nodiscard]] void* packed() const {
    return reinterpret_cast<void*>(__builtin_bit_cast(uint64_t, *this));
  }
  static AccessPlace of(void* data) {
    return __builtin_bit_cast(AccessPlace, reinterpret_cast<uint64_t>(data));
  }
};

}  // namespace culprit
