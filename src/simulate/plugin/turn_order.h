#pragma once

// Whose turn it is among threads that have simulated clocks: of those that wait, the one with the
// lowest clock, by number if two are equal. It keeps the turn until it is a quantum ahead of the
// others: a short one while it and others take lines from each other, a growing one otherwise.
//
//     clock of 0    ├──────────┤ (a quantum ahead of 1)   ├──── …
//     clock of 1               ├───────────────────────┤
//
// Only numbers in, numbers out: no threads are stopped here (turnstile.h does).

#include <cstdint>
#include <optional>
#include <vector>

namespace culprit {

/// Where a thread is, as far as the order must know.
enum class Place : uint8_t {
  absent,
  coming,   // new or woken: will be at the turnstile without anybody's doing
  waiting,  // at the turnstile
  running,  // has the turn
  asleep,   // in a system call, without the turn
  loose,    // runs one block out of turn, for QEMU to stop it
  parked,   // stopped by QEMU; will be at the turnstile when QEMU lets it go
};

/// Clocks may be of any unit, the quanta's.
struct Quanta {
  uint64_t shortest = 0;
  uint64_t longest = 0;
};

class TurnOrder {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;

  explicit TurnOrder(Quanta quanta) : quanta_(quanta) {}

  void set(unsigned number, Place place);
  void set_clock(unsigned number, uint64_t clock) { seat(number).clock = clock; }
  /// Its time does not go back behind `clock`: who wakes it was there already.
  void join_at(unsigned number, uint64_t clock);
  /// Waits, in a block of code or in a system call.
  void wait(unsigned number, uint64_t clock, bool in_block);

  [[nodiscard]] Place place(unsigned number) const;
  [[nodiscard]] uint64_t clock(unsigned number) const { return seats_[number].clock; }
  [[nodiscard]] bool any(Place place) const;
  [[nodiscard]] unsigned end() const { return static_cast<unsigned>(seats_.size()); }

  /// Of those that wait, or of those that wait in a block.
  [[nodiscard]] std::optional<unsigned> next(bool in_block_only = false) const;
  /// Whether it goes on before all that wait.
  [[nodiscard]] bool is_first(unsigned number) const;
  /// The clock at which the turn of `number` ends; kNever: nobody else waits.
  [[nodiscard]] uint64_t turn_end(unsigned number) const;
  /// What it did in its turn sets how long the next one is.
  void adapt(unsigned number, bool took_lines);

 private:
  struct Seat {
    Place place = Place::absent;
    bool in_block = false;
    uint64_t clock = 0;
    uint64_t quantum = 0;
  };
  Seat& seat(unsigned number);

  Quanta quanta_;
  std::vector<Seat> seats_;
};

}  // namespace culprit
