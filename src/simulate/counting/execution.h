#pragma once

// The fast path of Counting: what happens each time a block runs and each time it accesses memory.
// What happens when a block runs and when it accesses memory. Without a machine model blocks are
// only counted; with one, each access also goes through its caches. It is a header, included by
// what calls it, so that the compiler makes one function of an access's way.

#include <algorithm>

#include "simulate/counting/counting.h"

namespace culprit::counting {

#ifdef __x86_64__
inline const bool host_has_avx = __builtin_cpu_supports("avx") != 0;
#endif

/// Call it after guest code that is wide, and in accesses of blocks that are: an engine's code for
/// it (as QEMU's) leaves the upper halves of vector registers in use; then the first SSE
/// instruction of ours, and the next AVX one of the engine's, would wait tens of cycles
/// (bench/simulate.py, "row AVX2").
/// Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, "Mixing AVX Code with
///         SSE Code"
inline void clear_upper_halves() {
#ifdef __x86_64__
  if (host_has_avx) asm volatile("vzeroupper");
#endif
}

/// What no thread has run before its first block.
inline const BlockFacts kNoBlock{.left = Left::beginning};

inline uint64_t& count(CountedThread& thread, uint32_t site, counts_file::Counter counter) {
  return thread.shared.counts[site].value[static_cast<size_t>(counter)];
}

inline uint64_t& count_from(counts_file::SiteCounts& counts, counts_file::Counter first,
                            size_t step) {
  return counts.value[static_cast<size_t>(first) + step];
}

/// One more access (`is_new`), or a further part of one.
inline void count_access(CountedThread& thread, uint32_t site, AccessShape shape, bool is_new) {
  using counts_file::Counter;
  const Counter first = shape.is_store ? Counter::stores : Counter::loads;
  uint64_t* const pair = thread.shared.accesses[site].value + static_cast<size_t>(first);
  pair[0] += is_new ? 1 : 0;
  pair[1] += shape.bytes;  // the counter behind it
}

/// What was not a hit in the first level and its TLB. `first` is the counter of L2.
void count_outcome(counts_file::SiteCounts& counts, simulate::Outcome outcome,
                   counts_file::Counter first, counts_file::Counter second_tlb,
                   counts_file::Counter walk_cycles);

/// Predicts the branch at the end of `before`, now that it is known where it went.
template <bool kCycles>
void predict_branch(CountedThread& thread, const BlockFacts& before, const BlockFacts& now);
/// The predictor learns the branch, and nothing else counts.
void learn_branch(CountedThread& thread, const BlockFacts& before, const BlockFacts& now);

/// The thread that runs the block; nullptr: it is not counted.
inline CountedThread* Counting::find_thread(unsigned number, const BlockFacts& block) {
  return watches_part_ ? watch_block(number, block) : threads_[number];
}

/// One more run of the block; the one before it.
[[gnu::always_inline]] inline const BlockFacts& Counting::count_block(CountedThread& thread,
                                                                      const BlockFacts& block) {
  const BlockFacts& before = *thread.previous;
  if (before.is_wide) clear_upper_halves();
  thread.previous = &block;
  ++thread.shared.runs[block.number].runs;
  // Where the block before went on is known only now. A branch of ours would be as hard to predict
  // as the program's, so there is none.
  const bool was_conditional = before.branch == counts_file::ControlFlow::conditional;
  thread.shared.runs[before.number].taken += was_conditional & (block.start != before.end);
  auto& instructions = thread.shared.header->instructions;
  const uint64_t so_far = instructions.load(std::memory_order_relaxed);
  instructions.store(so_far + block.instructions, std::memory_order_relaxed);
  // One call as the last thing, if any: nothing has to be saved for it.
  if (before.left != Left::nothing || limit_ != UINT64_MAX || thread.heap.is_inside()) [[unlikely]]
    finish_block(thread, before, block);
  return before;
}

template <bool kInTurns>
[[gnu::always_inline]] inline void Counting::wait_for_turn(unsigned number) {
  if constexpr (!kInTurns) return;
  CountedThread* const thread = threads_[number];
  if (thread == nullptr) return;
  const uint64_t now = thread->now();
  if (turns_->is_over(number, now)) [[unlikely]]
    turns_->pass(number, now, thread->has_taken_lines());
}

template <Model kModel>
[[gnu::noinline]] void fetch_unusual(CountedThread& thread, const CodePart& part) {
  using counts_file::Counter;
  const simulate::PackedOutcome outcome = simulate::fetch_unusual(*thread.memory, part);
  if constexpr (kModel.warms) return;
  if (outcome.plain_hit()) return;
  if constexpr (kModel.cycles) thread.clock->fetch(part.site, outcome);
  count_outcome(thread.shared.counts[part.site], outcome, Counter::fetch_l2,
                Counter::fetch_second_tlb, Counter::fetch_walk_cycles);
}

template <Model kModel>
[[gnu::always_inline]] inline void fetch_part(CountedThread& thread, const CodePart& part) {
  if (!simulate::fetch_usual(*thread.memory, part)) [[unlikely]]
    fetch_unusual<kModel>(thread, part);
}

/// A miss in the counters: in those of sets that are simulated for certain, or of drawn ones and of
/// their random group.
inline void Counting::count_sampled_miss(CountedThread& thread, uint32_t site, uint64_t address,
                                         simulate::Outcome outcome, uint8_t stratum,
                                         counts_file::Counter first) {
  using counts_file::Counter;
  if (outcome.source == simulate::DataSource::l1) return;
  const size_t source = static_cast<size_t>(outcome.source) - 1;
  if (stratum != simulate::SetSample::kCertain) {
    ++count_from(thread.shared.counts[site], first, source);
    ++thread.shared.misses[site].misses[stratum - 1];
    return;
  }
  const size_t counter = static_cast<size_t>(first) - static_cast<size_t>(Counter::load_l2);
  ++thread.shared.certain[site].value[counter + source];
  if (!thread.sampled.has_begun) {
    first_fills_[lines_.group_of(address)].fetch_add(1, std::memory_order_relaxed);
  }
}

/// An access to data in any set.
template <Model kModel>
[[gnu::always_inline]] inline void Counting::note_access(CountedThread& thread, uint64_t address) {
  if constexpr (!kModel.sampled || kModel.locality == simulate::Locality::off) return;
  if (--thread.sampled.until_look == 0) [[unlikely]]
    look_at_sample(thread, address);
}

/// Most accesses are of sets that are not followed: this test decides the speed of a sample.
[[gnu::always_inline]] inline bool Counting::notices(unsigned number, AccessPlace place,
                                                     uint64_t address) {
  CountedThread* const thread = counting_[number];
  if (thread == nullptr) return false;
  const bool is_looked_at = --thread->sampled.until_look == 0;
  return is_looked_at || thread->sampled.may_follow(address, place.bytes, lines_.line_shift());
}

/// The lines of the block's code that are modelled.
template <Model kModel>
[[gnu::always_inline]] inline void Counting::fetch_block(CountedThread& thread,
                                                         const BlockFacts& block) {
  if constexpr (kModel.sampled) {
    const auto fetch_one = [&](const CodePart& part) {
      const uint8_t stratum = lines_.stratum_of(part.address);
      if (stratum == SampledLines::kNot) return;
      count_sampled_miss(thread, part.site, part.address, simulate::fetch(*thread.memory, part),
                         stratum, counts_file::Counter::fetch_l2);
    };
    if (block.parts == 0) return;
    fetch_one(block.first_part);
    for (const CodePart& part : block.other_parts) fetch_one(part);
  } else {
    fetch_part<kModel>(thread, block.first_part);
    if (block.parts > 1) {
      for (const CodePart& part : block.other_parts) fetch_part<kModel>(thread, part);
    }
  }
}

/// Whether the predictor has to know where the block goes on.
[[gnu::always_inline]] inline bool ends_in_branch(const BlockFacts& block) {
  using counts_file::ControlFlow;
  return block.branch != ControlFlow::none && block.branch != ControlFlow::system_call;
}

/// What is modelled of the end of `before` and the beginning of `block`.
template <Model kModel>
[[gnu::always_inline]] inline void Counting::model_block(CountedThread& thread,
                                                         const BlockFacts& before,
                                                         const BlockFacts& block) {
  if constexpr (kModel.cycles) thread.clock->end_block();
  if constexpr (kModel.caches && !kModel.sampled) {
    if (ends_in_branch(before)) {
      if constexpr (kModel.warms) {
        learn_branch(thread, before, block);
      } else {
        predict_branch<kModel.cycles>(thread, before, block);
      }
    }
  }
  if constexpr (kModel.caches) fetch_block<kModel>(thread, block);
  if constexpr (kModel.cycles) {
    thread.forecaster->step(*thread.clock);
    thread.clock->begin_block(block.cycles);
    thread.shared.header->ticks = thread.clock->now() - thread.ticks_before;
  }
}

template <Model kModel, bool kInTurns>
[[gnu::always_inline]] inline void Counting::run_block(unsigned number, const BlockFacts& block) {
  wait_for_turn<kInTurns>(number);
  CountedThread* const thread = find_thread(number, block);
  if (thread == nullptr) return;
  if constexpr (kModel.windows) {
    const uint64_t own = thread->shared.header->instructions.load(std::memory_order_relaxed);
    if (own >= thread->window.look_at) [[unlikely]]
      look_at_window(*thread);
  }
  const BlockFacts& before = count_block(*thread, block);
  if constexpr (kModel.windows) {
    if (thread->window.phase == WindowPhase::gap) return;
    if (thread->window.phase == WindowPhase::learning) {
      if (ends_in_branch(before)) learn_branch(*thread, before, block);
      return;
    }
    if (thread->window.phase == WindowPhase::warming) {
      return model_block<kModel.warming()>(*thread, before, block);
    }
  }
  model_block<kModel>(*thread, before, block);
}

/// An access on its way through the model.
struct Access {
  AccessPlace place;  // its site: of the instruction, or of it at one data object
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool is_store = false;
  bool is_new = true;             // not a further part of a wide one
  uint32_t instruction = 0;       // the site of it alone
  bool is_written_whole = false;  // a store of a whole line, which is not read for that

  [[nodiscard]] simulate::AccessType kind() const {
    return is_store ? simulate::AccessType::store : simulate::AccessType::load;
  }
};

template <Model kModel>
[[gnu::always_inline]] inline void time_access(CountedThread& thread, const Access& access,
                                               simulate::PackedOutcome outcome) {
  if constexpr (!kModel.cycles) return;
  const uint32_t site = kModel.objects ? access.place.site : 0;
  const auto step = access.place.index;
  if (!access.is_store) {
    thread.clock->load(step, outcome, access.address, access.bytes, !access.is_new, site);
  } else if (access.is_new || !outcome.plain_hit()) {
    // Loads that follow a line written as a whole find their values as they find others'.
    constexpr uint32_t kWord = 8;
    const uint32_t bytes = access.is_written_whole ? kWord : access.bytes;
    thread.clock->store(step, outcome, access.address, bytes, site);
  } else {
    thread.clock->store_part(access.address, access.bytes);
  }
}

/// A further part of an access, in a line that it has been in.
template <Model kModel>
void model_more(CountedThread& thread, const Access& access) {
  simulate::access_more<kModel.locality>(*thread.memory, access.address, access.bytes);
  time_access<kModel>(thread, access, {});
}

template <Model kModel>
[[gnu::noinline]] void model_unusual(CountedThread& thread, Access access) {
  using counts_file::Counter;
  thread.memory->instruction = thread.writer->site(access.instruction).address;
  const simulate::PackedOutcome outcome = simulate::access_unusual<kModel.locality>(
      *thread.memory, access.address, access.bytes, access.kind(), access.place.site);
  if constexpr (kModel.warms) {
    if (simulate::Outcome(outcome).source == simulate::DataSource::memory) {
      ++count(thread, access.place.site,
              access.is_store ? Counter::store_memory_in_gaps : Counter::load_memory_in_gaps);
    }
    return;
  }
  const simulate::PackedOutcome timed =
      access.is_written_whole ? simulate::PackedOutcome(simulate::without_reading(outcome))
                              : outcome;
  time_access<kModel>(thread, access, timed);
  if (outcome.plain_hit()) return;
  if constexpr (kModel.cycles) {
    if (thread.memory->prefetched.count != 0) thread.clock->prefetch(thread.memory->prefetched);
  }
  const bool is_store = access.is_store;
  count_outcome(thread.shared.counts[access.place.site], outcome,
                is_store ? Counter::store_l2 : Counter::load_l2,
                is_store ? Counter::store_second_tlb : Counter::load_second_tlb,
                Counter::data_walk_cycles);
}

template <Model kModel>
[[gnu::always_inline]] inline void model_access(CountedThread& thread, const Access& access) {
  const bool is_usual = simulate::access_usual<kModel.locality>(
      *thread.memory, access.address, access.bytes, access.kind(), access.place.site);
  if (!is_usual) [[unlikely]]
    return model_unusual<kModel>(thread, access);
  time_access<kModel>(thread, access, {});
}

/// `is_new`: not a further part of the access before.
template <Model kModel>
inline void Counting::model_sampled(CountedThread& thread, uint32_t site, uint64_t address,
                                    AccessShape shape, bool is_new) {
  using counts_file::Counter;
  using simulate::Locality;
  constexpr bool kFollows = kModel.locality != Locality::off;
  const uint8_t stratum = lines_.stratum_of(address, shape.bytes);
  if (stratum == SampledLines::kNot) [[likely]]
    return;
  simulate::CoreState& memory = *thread.memory;
  const auto kind = shape.is_store ? simulate::AccessType::store : simulate::AccessType::load;
  simulate::PackedOutcome outcome;
  if (kFollows && memory.locality != Locality::off) {
    if (!is_new && simulate::is_in_line_before(memory, address, shape.bytes)) {
      return simulate::access_more<Locality::all>(memory, address, shape.bytes);
    }
    outcome = simulate::access_sampled(memory, address, shape.bytes, kind, site, stratum);
  } else {
    outcome = simulate::access<Locality::off>(memory, address, shape.bytes, kind, site);
  }
  count_sampled_miss(thread, site, address, outcome, stratum,
                     shape.is_store ? Counter::store_l2 : Counter::load_l2);
}

/// Whether the thread's clock runs.
template <Model kModel>
[[gnu::always_inline]] inline bool has_time(const CountedThread& thread) {
  if constexpr (!kModel.cycles) return false;
  return !kModel.windows || thread.window.phase == WindowPhase::measured;
}

/// use.template operator()<model>() with what is modelled now of an access, if anything. In a gap
/// caches see what was not used lately.
template <Model kModel, class Use>
[[gnu::always_inline]] inline void in_window(CountedThread& thread, uint64_t address, bool is_store,
                                             Use use) {
  if constexpr (!kModel.windows) return use.template operator()<kModel>();
  const WindowPhase phase = thread.window.phase;
  if (phase == WindowPhase::measured) return use.template operator()<kModel>();
  const bool is_between = phase == WindowPhase::gap || phase == WindowPhase::learning;
  if (is_between && thread.window.filter.finds(address, is_store)) return;
  use.template operator()<kModel.warming()>();
}

/// Any access through the caches: the first part of one, or a further one.
template <Model kModel>
[[gnu::always_inline]] inline void model_any(CountedThread& thread, const Access& access) {
  if (!access.is_new && simulate::is_in_line_before(*thread.memory, access.address, access.bytes)) {
    model_more<kModel>(thread, access);
  } else {
    model_access<kModel>(thread, access);
  }
}

/// The site of the instruction at the data object that has the address.
[[gnu::always_inline]] inline Counting::SiteOfObject Counting::find_site_of(CountedThread& thread,
                                                                            uint32_t instruction,
                                                                            uint64_t address) {
  objects::ObjectNumber object = shadow_->find(address);
  if (objects::DataObjects::is_by_thread(object)) {
    object = object == objects::DataObjects::kStack ? find_stack_object(thread, address)
                                                    : find_object_of(thread, object, address);
  }
  const ObjectSites::Latest& latest = thread.object_sites->latest(instruction);
  const uint32_t site =
      latest.holds(object) ? latest.site : find_other_site(thread, instruction, object, address);
  return {site, object};
}

[[gnu::always_inline]] inline uint32_t Counting::find_site(CountedThread& thread,
                                                           uint32_t instruction, uint64_t address) {
  const auto [site, object] = find_site_of(thread, instruction, address);
  if (--thread.until_offset == 0) [[unlikely]]
    note_offset(thread, site, object, address);
  return site;
}

/// An access whose size is the instruction's.
inline void count_at_object(CountedThread& thread, uint32_t site, bool is_store) {
  using counts_file::Counter;
  ++thread.shared.accesses[site]
        .value[static_cast<size_t>(is_store ? Counter::stores : Counter::loads)];
}

/// An access of which all is known but its object.
template <Model kModel>
[[gnu::always_inline]] inline void Counting::model_shaped(CountedThread& thread, AccessPlace place,
                                                          uint64_t address, AccessShape shape,
                                                          bool is_new) {
  const uint32_t instruction = place.site;
  if constexpr (kModel.objects) {
    place.site = find_site(thread, instruction, address);
    if (is_new) count_at_object(thread, place.site, shape.is_store);
  }
  if constexpr (kModel.sampled) {
    model_sampled<kModel>(thread, place.site, address, shape, is_new);
  } else if constexpr (kModel.caches) {
    model_any<kModel>(thread, {place, address, shape.bytes, shape.is_store, is_new, instruction});
  }
}

template <Model kModel>
[[gnu::always_inline]] inline void Counting::access(unsigned number, AccessPlace place,
                                                    uint64_t address, AccessShape shape) {
  clear_upper_halves();
  CountedThread* const thread = counting_[number];
  if (thread == nullptr) return;
  const bool is_new = !thread->goes_on(place.site, address, shape);
  const uint32_t instruction = place.site;
  note_access<kModel>(*thread, address);
  if constexpr (kModel.objects) place.site = find_site(*thread, instruction, address);
  count_access(*thread, place.site, shape, is_new);
  if constexpr (kModel.sampled) {
    model_sampled<kModel>(*thread, place.site, address, shape, is_new);
  } else if constexpr (kModel.caches) {
    in_window<kModel>(*thread, address, shape.is_store, [&]<Model kNow>() {
      model_any<kNow>(*thread, {place, address, shape.bytes, shape.is_store, is_new, instruction});
    });
  }
}

template <Model kModel>
[[gnu::always_inline]] inline void Counting::access_known(unsigned number, AccessPlace place,
                                                          uint64_t address, AccessShape shape) {
  if constexpr (kModel.sampled && kModel.locality != simulate::Locality::off) {
    if (notices(number, place, address)) access_noticed<kModel>(number, place, address, shape);
    return;
  }
  clear_upper_halves();
  CountedThread* const thread = counting_[number];
  if (thread == nullptr) return;
  if constexpr (kModel.sampled) {
    model_sampled<kModel>(*thread, place.site, address, shape, true);
  } else if constexpr (kModel.caches || kModel.objects) {
    in_window<kModel>(*thread, address, shape.is_store, [&]<Model kNow>() {
      const bool is_new = !thread->goes_on(place.site, address, shape);
      model_shaped<kNow>(*thread, place, address, shape, is_new);
    });
  }
}

template <Model kModel>
inline void Counting::access_noticed(unsigned number, AccessPlace place, uint64_t address,
                                     AccessShape shape) {
  clear_upper_halves();
  CountedThread& thread = *counting_[number];
  const bool is_looked_at = thread.sampled.until_look == 0;
  const bool has_begun = thread.sampled.has_begun;
  const bool is_new = !thread.goes_on(place.site, address, shape);
  if (is_looked_at) [[unlikely]]
    look_at_sample(thread, address);
  if (!has_begun) return model_shaped<kModel>(thread, place, address, shape, is_new);
  if (kModel.objects && is_looked_at) look_at_object(thread, place, address, shape);
  if (lines_.stratum_of(address, shape.bytes) == SampledLines::kNot) return;
  if constexpr (kModel.objects) place.site = find_site(thread, place.site, address);
  model_sampled<kModel>(thread, place.site, address, shape, is_new);
}

/// One of which an engine shows more than the operand has: what is beyond that is left out.
template <Model kModel>
void Counting::access_wider(unsigned number, AccessPlace place, uint64_t address,
                            AccessShape shape) {
  clear_upper_halves();
  CountedThread* const thread = counting_[number];
  if (thread == nullptr) return;
  const bool is_new = !thread->goes_on(place.site, address, shape);
  const uint64_t shown_before = address - thread->access_begin;
  if (shown_before >= place.bytes) return;
  shape.bytes = std::min(shape.bytes, static_cast<uint32_t>(place.bytes - shown_before));
  note_access<kModel>(*thread, address);
  if constexpr (kModel.sampled && kModel.locality == simulate::Locality::off) {
    model_sampled<kModel>(*thread, place.site, address, shape, true);
  } else {
    in_window<kModel>(*thread, address, shape.is_store, [&]<Model kNow>() {
      model_shaped<kNow>(*thread, place, address, shape, is_new);
    });
  }
}

/// Most accesses: a load, or a store, of which all is known.
template <Model kModel, bool kIsStore>
[[gnu::always_inline]] inline void Counting::access_known(unsigned number, AccessPlace place,
                                                          uint64_t address) {
  static_assert((kModel.caches || kModel.objects) && !kModel.sampled);
  CountedThread* const thread = counting_[number];
  if (thread == nullptr) return;
  const uint32_t instruction = place.site;
  if constexpr (kModel.objects) {
    place.site = find_site(*thread, instruction, address);
    count_at_object(*thread, place.site, kIsStore);
  }
  if constexpr (kModel.caches) {
    in_window<kModel>(*thread, address, kIsStore, [&]<Model kNow>() {
      model_access<kNow>(*thread, {place, address, place.bytes, kIsStore, true, instruction});
    });
  }
}

/// use.template operator()<kModel, kInTurns>() with what this Counting needs.
template <class Use>
auto with_model(const Counting& counting, Use use) {
  using simulate::Locality;
  const Model model = counting.model();
  const auto turns = [&]<Model kModel>() {
    return counting.has_turns() ? use.template operator()<kModel, true>()
                                : use.template operator()<kModel, false>();
  };
  const auto objects = [&]<Locality kLocality, bool kCycles>() {
    return model.objects ? turns.template operator()<Model{true, kLocality, kCycles, false, true}>()
                         : turns.template operator()<Model{true, kLocality, kCycles}>();
  };
  const auto locality = [&]<bool kCycles>() {
    switch (model.locality) {
      case Locality::l1:
        return objects.template operator()<Locality::l1, kCycles>();
      case Locality::all:
        return objects.template operator()<Locality::all, kCycles>();
      case Locality::off:
        break;
    }
    return objects.template operator()<Locality::off, kCycles>();
  };
  if (!model.caches && model.objects) return turns.template operator()<Model{.objects = true}>();
  if (!model.caches) return turns.template operator()<Model{}>();
  if (model.sampled && model.objects) {  // with locality or without
    return turns.template operator()<Model{true, Locality::all, false, true, true}>();
  }
  if (model.sampled && model.locality != Locality::off) {
    return turns.template operator()<Model{true, Locality::all, false, true}>();
  }
  if (model.sampled) return turns.template operator()<Model{.caches = true, .sampled = true}>();
  if (model.windows) {
    return model.cycles
               ? use.template
                 operator()<Model{.caches = true, .cycles = true, .windows = true}, false>()
               : use.template operator()<Model{.caches = true, .windows = true}, false>();
  }
  return model.cycles ? locality.template operator()<true>()
                      : locality.template operator()<false>();
}

}  // namespace culprit::counting
