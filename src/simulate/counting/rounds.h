#pragma once

// Rounds of rep movs and rep stos. For an engine each round is an execution of a block that moves
// one to eight bytes; CPUs move lines. So when a round is about to run, those that may come before
// it are done here at once: memory is moved in the program, the registers that say how far it is
// are set, and executions, loads and stores are counted as if the engine had run each. The model
// is told of each line once, with the time of its bytes. The engine runs the first round, the
// first ones in each page, which show that the page is there, and the last:
//
//     rep movsb, 5000 bytes from 1f80 to 8000      rounds
//     1f80 to 8000   the engine                         1
//     1f81 to 8001   do_rounds(), to 1fff             127
//     2000 to 8080   the engine                         1
//     2001 to 8081   do_rounds(), to 2f7f            3967    its store reaches the end of a page
//     2f80 to 9000   the engine                         1
//     ...
//
// Backward, and where a round reads what one less than a line before it has written, the engine
// runs each; CPUs do, too.
//
// Included by what calls it, as execution.h.

#include <cstring>
#include <utility>

#include "simulate/counting/execution.h"

namespace culprit::counting {

/// Places in ChangedRegisters, of x86-64.
inline constexpr size_t kValueRegister = 0;        // rax
inline constexpr size_t kCountRegister = 1;        // rcx
inline constexpr size_t kSourceRegister = 6;       // rsi
inline constexpr size_t kDestinationRegister = 7;  // rdi

/// Rounds of one line: from where to where, and how many.
struct RoundsInLine {
  uint64_t source = 0;
  uint64_t destination = 0;
  uint64_t rounds = 0;
};

/// How many rounds from `address` on begin in its line.
inline uint64_t rounds_to_line_end(uint64_t address, uint64_t line_bytes, uint64_t round_bytes) {
  return (line_bytes - (address & (line_bytes - 1)) + round_bytes - 1) / round_bytes;
}

/// Loads, or stores, of rounds that begin in one line.
struct LineAccess {
  uint32_t instruction = 0;  // its site
  uint64_t address = 0;      // of the first round
  uint64_t rounds = 0;
  AccessShape round;    // one of them
  bool is_new = false;  // false: loads of the line before were of the same step of the clock
};

/// All of one data object; `site`: of the instruction there.
template <Model kModel>
[[gnu::always_inline]] inline void Counting::access_line_at(CountedThread& thread,
                                                            const LineAccess& line, uint32_t site) {
  using counts_file::Counter;
  const auto bytes = static_cast<uint32_t>(line.rounds * line.round.bytes);
  const bool is_store = line.round.is_store;
  uint64_t* const pair = thread.shared.accesses[site].value +
                         static_cast<size_t>(is_store ? Counter::stores : Counter::loads);
  pair[0] += line.rounds;
  pair[1] += bytes;
  note_access<kModel>(thread, line.address);
  if constexpr (kModel.sampled) {
    model_sampled<kModel>(thread, site, line.address, {bytes, is_store}, true);
  } else if constexpr (kModel.caches) {
    const AccessPlace place{.site = site};
    const bool is_written_whole = is_store && bytes >= line_bytes_;
    thread.memory->moves_lines = true;
    thread.memory->writes_whole_line = is_written_whole;
    in_window<kModel>(thread, line.address, is_store, [&]<Model kNow>() {
      model_access<kNow>(thread, {place, line.address, bytes, is_store, line.is_new,
                                  line.instruction, is_written_whole});
    });
    thread.memory->moves_lines = thread.memory->writes_whole_line = false;
  }
}

/// Each round by itself: several objects share the line.
template <Model kModel>
[[gnu::noinline]] void Counting::access_objects(CountedThread& thread, LineAccess line) {
  for (uint64_t left = std::exchange(line.rounds, 1); left != 0; --left) {
    access_line_at<kModel>(thread, line, find_site(thread, line.instruction, line.address));
    line.address += line.round.bytes;
    line.is_new = false;
  }
}

template <Model kModel>
[[gnu::always_inline]] inline void Counting::access_line(CountedThread& thread,
                                                         const LineAccess& line) {
  uint32_t site = line.instruction;
  if constexpr (kModel.objects) {
    const uint64_t end = line.address + line.rounds * line.round.bytes;
    if (!shadow_->is_one(line.address, end)) [[unlikely]]
      return access_objects<kModel>(thread, line);
    // Where in an object it accesses is told by some round, not always by a line's first one.
    const uint64_t some_round = (thread.random >> 16) % line.rounds;
    site = find_site(thread, site, line.address + some_round * line.round.bytes);
  }
  access_line_at<kModel>(thread, line, site);
}

/// What the model is told of them, and counts of loads and stores.
template <Model kModel>
[[gnu::always_inline]] inline void Counting::count_rounds(CountedThread& thread,
                                                          const BlockFacts& round,
                                                          const RoundsInLine& line) {
  const KnownAccesses& accesses = round.last_accesses;
  const uint32_t site = round.first_site;
  const bool is_timed = has_time<kModel>(thread);
  if (is_timed) {
    thread.forecaster->step(*thread.clock);
    thread.clock->begin_block(round.cycles);
  }
  if (accesses.load_bytes != 0) {
    LineAccess load{site, line.source, line.rounds, {accesses.load_bytes, false}, true};
    const uint64_t first = rounds_to_line_end(line.source, line_bytes_, accesses.load_bytes);
    load.rounds = std::min(line.rounds, first);
    access_line<kModel>(thread, load);
    if (first < line.rounds) {
      load.address += first * accesses.load_bytes;
      load.rounds = line.rounds - first;
      load.is_new = false;
      access_line<kModel>(thread, load);
    }
  }
  access_line<kModel>(thread,
                      {site, line.destination, line.rounds, {accesses.store_bytes, true}, true});
  if (is_timed) {
    thread.clock->end_block();
    const bool is_alone =
        accesses.load_bytes != 0 && round_costs_.is_alone(line.source, line.destination);
    thread.clock->spend_microcode(
        site, is_alone ? line.rounds * round_costs_.alone
                       : round_costs_.of_bytes(accesses, line.rounds * accesses.store_bytes));
  }
}

template <Model kModel>
void Counting::do_rounds(unsigned number, const BlockFacts& round, ChangedRegisters registers) {
  clear_upper_halves();
  CountedThread* const thread = threads_[number];
  if (thread == nullptr) return;
  const uint64_t rounds = find_rounds(number, round, registers);
  if (rounds == 0) return;
  CountedThread* const counted = counting_[number];
  uint64_t& source = registers[kSourceRegister];
  uint64_t& destination = registers[kDestinationRegister];
  const uint64_t round_bytes = round.last_accesses.store_bytes;
  const bool copies = round.last_accesses.load_bytes != 0;
  if (counted != nullptr && has_time<kModel>(*thread)) thread->clock->end_block();
  move_all(round.last_accesses, registers, rounds);
  for (uint64_t left = rounds; left != 0;) {
    const RoundsInLine line{
        source, destination,
        std::min(left, rounds_to_line_end(destination, line_bytes_, round_bytes))};
    if (counted != nullptr) count_rounds<kModel>(*thread, round, line);
    left -= line.rounds;
    destination += line.rounds * round_bytes;
    if (copies) source += line.rounds * round_bytes;
  }
  registers[kCountRegister] -= rounds;
  thread->rounds.count -= rounds;
  thread->rounds.store = destination - round_bytes;
  if (copies) thread->rounds.load = source - round_bytes;
  note_rounds(number, round, rounds);
}

template <Model kModel>
void Counting::access_of_round(unsigned number, AccessPlace place, uint64_t address,
                               AccessShape shape) {
  CountedThread* const thread = threads_[number];
  if (thread == nullptr) return;
  StringRounds& rounds = thread->rounds;
  const uint64_t before = std::exchange(shape.is_store ? rounds.store : rounds.load, address);
  access<kModel>(number, place, address, shape);
  if (shape.is_store && counting_[number] != nullptr && has_time<kModel>(*thread)) {
    thread->clock->spend_microcode(place.site,
                                   find_round_ticks(*thread, address < before, shape.bytes));
  }
}

}  // namespace culprit::counting
