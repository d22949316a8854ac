#pragma once

// Whose turn it is among threads that have simulated clocks: of those that wait, the one with the
// lowest clock, by number if two are equal. It keeps the turn until it is a quantum ahead of the
// others: a short one while it and others take lines from each other, a growing one otherwise.
//
//     clock of 0    ├──────────┤ (a quantum ahead of 1)   ├──── …
//     clock of 1               ├───────────────────────┤
//
// Only numbers in, numbers out: no threads are stopped here (turn_scheduler.h does).

#include <cstdint>
#include <optional>
#include <vector>

namespace culprit::counting {

/// Where a thread is, as far as the order must know.
enum class TurnState : uint8_t {
  absent,
  arriving,  // new or woken: it will wait without anybody's doing
  waiting,   // for its turn
  running,   // has the turn
  asleep,    // in a system call, without the turn
  released,  // runs one block out of turn, for the engine to stop it
  parked,    // stopped by the engine; it will wait when the engine lets it go
};

/// Clocks may be of any unit, the quanta's.
struct TurnQuanta {
  uint64_t shortest = 0;
  uint64_t longest = 0;
};

class TurnOrder {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;

  explicit TurnOrder(TurnQuanta quanta) : quanta_(quanta) {}

  void set(unsigned number, TurnState state);
  void set_clock(unsigned number, uint64_t clock) { entry(number).clock = clock; }
  /// The thread's time does not go back behind `clock`: who wakes it was there already.
  void join_at(unsigned number, uint64_t clock);
  /// Waits, in a block of code or in a system call.
  void wait(unsigned number, uint64_t clock, bool in_block);

  [[nodiscard]] TurnState state(unsigned number) const;
  [[nodiscard]] uint64_t clock(unsigned number) const { return entries_[number].clock; }
  [[nodiscard]] bool any(TurnState state) const;
  [[nodiscard]] unsigned end() const { return static_cast<unsigned>(entries_.size()); }

  /// The thread whose turn is next among those that wait, or among those that wait in a block.
  [[nodiscard]] std::optional<unsigned> next(bool in_block_only = false) const;
  /// Whether it goes on before all that wait.
  [[nodiscard]] bool is_first(unsigned number) const;
  /// The clock at which the turn of `number` ends; kNever: nobody else waits.
  [[nodiscard]] uint64_t turn_end(unsigned number) const;
  /// What it did in its turn sets how long the next one is.
  void adapt(unsigned number, bool took_lines);

 private:
  struct Entry {
    TurnState state = TurnState::absent;
    bool in_block = false;
    uint64_t clock = 0;
    uint64_t quantum = 0;
  };
  Entry& entry(unsigned number);

  TurnQuanta quanta_;
  std::vector<Entry> entries_;
};

}  // namespace culprit::counting
