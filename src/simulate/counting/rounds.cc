#include "simulate/counting/rounds.h"

namespace culprit::counting {
namespace {

constexpr uint64_t kProgramPage = 4096;

/// Bytes from `address` on that are in the page of the byte before it.
uint64_t bytes_left_in_page(uint64_t address) {
  return ((address - 1) | (kProgramPage - 1)) + 1 - address;
}

template <class T>
void fill(uint64_t address, uint64_t value, uint64_t count) {
  std::fill_n(reinterpret_cast<T*>(address), count, static_cast<T>(value));
}

}  // namespace

RoundCosts::RoundCosts(const simulate::StringSettings& settings)
    : copy_start(simulate::kTicksPerCycle * settings.copy_start_cycles),
      fill_start(simulate::kTicksPerCycle * settings.fill_start_cycles),
      copy_64(simulate::to_ticks(64 / settings.copy_bytes_per_cycle)),
      fill_64(simulate::to_ticks(64 / settings.fill_bytes_per_cycle)),
      alone(simulate::to_ticks(settings.round_cycles)),
      distance(settings.round_distance_bytes),
      distance_mask(settings.round_distance_in_page ? kProgramPage - 1 : ~uint64_t{0}) {}

/// Whether a round reads what one less than a line before it has written.
bool Counting::is_overlapping(uint64_t source, uint64_t destination) const {
  const uint64_t distance = destination - source;
  return distance != 0 && distance < line_bytes_;
}

/// How many rounds may be done before the one that is about to run; 0 where anything is not as the
/// round before has shown it.
uint64_t Counting::find_rounds(unsigned number, const BlockFacts& round,
                               const uint64_t* registers) {
  CountedThread& thread = *threads_[number];
  const bool is_counted = counting_[number] != nullptr;
  const bool is_skipping =
      skipped_ > 0 && run_so_far_.load(std::memory_order_relaxed) + thread.not_added < skipped_;
  if (is_skipping || (!is_counted && !has_region_)) return 0;
  const BlockFacts& before = is_counted ? *thread.previous : *thread.latest;
  StringRounds& known = thread.rounds;
  const uint64_t count = registers[kCountRegister];
  const uint64_t count_before = std::exchange(known.count, count);
  if (before.left != Left::repeats || before.last_site != round.first_site) return 0;
  const uint64_t store_bytes = round.last_accesses.store_bytes;
  const uint64_t load_bytes = round.last_accesses.load_bytes;
  const uint64_t source = registers[kSourceRegister];
  const uint64_t destination = registers[kDestinationRegister];
  const bool agrees = destination == known.store + store_bytes &&
                      (load_bytes == 0 || source == known.load + load_bytes);
  if (!agrees) return 0;
  if (!knows_registers_.load(std::memory_order_relaxed)) {
    // The engine ran a whole round between two looks at the registers.
    if (before.is_round() && count_before == count + 1) knows_registers_.store(true);
    return 0;
  }
  if (model_.cycles && round.cycles.total != 0) return 0;
  if (count < 2 || (load_bytes != 0 && is_overlapping(source, destination))) return 0;
  uint64_t rounds = std::min(count - 1, bytes_left_in_page(destination) / store_bytes);
  if (load_bytes != 0) rounds = std::min(rounds, bytes_left_in_page(source) / load_bytes);
  return rounds;
}

/// Does to the program's memory what the rounds do.
void Counting::move_all(const KnownAccesses& accesses, const uint64_t* registers,
                        uint64_t rounds) const {
  const uint64_t to = registers[kDestinationRegister] + base_;
  const uint64_t value = registers[kValueRegister];
  switch (accesses.load_bytes != 0 ? 0 : accesses.store_bytes) {
    case 1:
      return fill<uint8_t>(to, value, rounds);
    case 2:
      return fill<uint16_t>(to, value, rounds);
    case 4:
      return fill<uint32_t>(to, value, rounds);
    case 8:
      return fill<uint64_t>(to, value, rounds);
    default:
      break;
  }
  const uint64_t from = registers[kSourceRegister] + base_;
  const uint64_t bytes = rounds * accesses.store_bytes;
  // Farther on in what is still to be read, a part of that distance at a time is moved.
  const uint64_t distance = to - from;
  const uint64_t most = distance == 0 ? bytes : std::min(bytes, distance);
  for (uint64_t done = 0; done < bytes; done += most) {
    std::memmove(reinterpret_cast<void*>(to + done), reinterpret_cast<const void*>(from + done),
                 std::min(most, bytes - done));
  }
}

/// Counts executions of the rounds.
void Counting::note_rounds(unsigned number, const BlockFacts& round, uint64_t rounds) {
  CountedThread& thread = *threads_[number];
  if (counting_[number] == nullptr) {
    thread.own.header->outside_instructions += rounds;
    return;
  }
  thread.shared.runs[round.number].runs += rounds;
  thread.note_repeats(round.first_site, rounds);
  auto& instructions = thread.shared.header->instructions;
  const uint64_t so_far = instructions.load(std::memory_order_relaxed);
  instructions.store(so_far + rounds, std::memory_order_relaxed);
  if (limit_ != UINT64_MAX) check_limit(so_far, so_far + rounds);
}

/// What a round takes that the engine runs.
simulate::Ticks Counting::find_round_ticks(const CountedThread& thread, bool is_backward,
                                           uint64_t bytes) const {
  const KnownAccesses& accesses = thread.previous->last_accesses;
  const StringRounds& rounds = thread.rounds;
  const bool copies = accesses.load_bytes != 0;
  const simulate::Ticks by_lines = round_costs_.of_bytes(accesses, bytes);
  if (!rounds.goes_on)
    return by_lines + (copies ? round_costs_.copy_start : round_costs_.fill_start);
  const bool is_alone = is_backward || (copies && round_costs_.is_alone(rounds.load, rounds.store));
  return is_alone ? round_costs_.alone : by_lines;
}

}  // namespace culprit::counting
