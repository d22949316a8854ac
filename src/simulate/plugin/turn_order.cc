#include "simulate/plugin/turn_order.h"

#include <algorithm>
#include <tuple>

namespace culprit {

TurnOrder::Seat& TurnOrder::seat(unsigned number) {
  while (seats_.size() <= number) seats_.push_back({.quantum = quanta_.shortest});
  return seats_[number];
}

void TurnOrder::set(unsigned number, Place place) {
  if (place == Place::absent) {
    seat(number) = {.quantum = quanta_.shortest};
  } else {
    seat(number).place = place;
  }
}

void TurnOrder::join_at(unsigned number, uint64_t clock) {
  seat(number).clock = std::max(seat(number).clock, clock);
}

void TurnOrder::wait(unsigned number, uint64_t clock, bool in_block) {
  Seat& one = seat(number);
  one.place = Place::waiting;
  one.clock = clock;
  one.in_block = in_block;
}

Place TurnOrder::place(unsigned number) const {
  return number < seats_.size() ? seats_[number].place : Place::absent;
}

bool TurnOrder::any(Place place) const {
  return std::any_of(seats_.begin(), seats_.end(),
                     [place](const Seat& one) { return one.place == place; });
}

std::optional<unsigned> TurnOrder::next(bool in_block_only) const {
  std::optional<unsigned> first;
  for (unsigned number = 0; number < seats_.size(); ++number) {
    const Seat& one = seats_[number];
    if (one.place != Place::waiting || (in_block_only && !one.in_block)) continue;
    if (!first || one.clock < seats_[*first].clock) first = number;
  }
  return first;
}

bool TurnOrder::is_first(unsigned number) const {
  const std::optional<unsigned> other = next();
  return !other || std::tuple(seats_[number].clock, number) < std::tuple(clock(*other), *other);
}

uint64_t TurnOrder::turn_end(unsigned number) const {
  uint64_t lowest = kNever;
  for (unsigned other = 0; other < seats_.size(); ++other) {
    if (other == number || seats_[other].place != Place::waiting) continue;
    lowest = std::min(lowest, seats_[other].clock);
  }
  return lowest == kNever ? kNever : lowest + seats_[number].quantum;
}

void TurnOrder::adapt(unsigned number, bool took_lines) {
  Seat& one = seat(number);
  one.quantum = took_lines ? quanta_.shortest : std::min(2 * one.quantum, quanta_.longest);
}

}  // namespace culprit
