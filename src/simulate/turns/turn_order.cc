#include "simulate/turns/turn_order.h"

#include <algorithm>
#include <tuple>

namespace culprit::counting {

TurnOrder::Entry& TurnOrder::entry(unsigned number) {
  while (entries_.size() <= number) entries_.push_back({.quantum = quanta_.shortest});
  return entries_[number];
}

void TurnOrder::set(unsigned number, TurnState state) {
  if (state == TurnState::absent) {
    entry(number) = {.quantum = quanta_.shortest};
  } else {
    entry(number).state = state;
  }
}

void TurnOrder::join_at(unsigned number, uint64_t clock) {
  entry(number).clock = std::max(entry(number).clock, clock);
}

void TurnOrder::wait(unsigned number, uint64_t clock, bool in_block) {
  Entry& one = entry(number);
  one.state = TurnState::waiting;
  one.clock = clock;
  one.in_block = in_block;
}

TurnState TurnOrder::state(unsigned number) const {
  return number < entries_.size() ? entries_[number].state : TurnState::absent;
}

bool TurnOrder::any(TurnState state) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [state](const Entry& one) { return one.state == state; });
}

std::optional<unsigned> TurnOrder::next(bool in_block_only) const {
  std::optional<unsigned> first;
  for (unsigned number = 0; number < entries_.size(); ++number) {
    const Entry& one = entries_[number];
    if (one.state != TurnState::waiting || (in_block_only && !one.in_block)) continue;
    if (!first || one.clock < entries_[*first].clock) first = number;
  }
  return first;
}

bool TurnOrder::is_first(unsigned number) const {
  const std::optional<unsigned> other = next();
  return !other || std::tuple(entries_[number].clock, number) < std::tuple(clock(*other), *other);
}

uint64_t TurnOrder::turn_end(unsigned number) const {
  uint64_t lowest = kNever;
  for (unsigned other = 0; other < entries_.size(); ++other) {
    if (other == number || entries_[other].state != TurnState::waiting) continue;
    lowest = std::min(lowest, entries_[other].clock);
  }
  return lowest == kNever ? kNever : lowest + entries_[number].quantum;
}

void TurnOrder::adapt(unsigned number, bool took_lines) {
  Entry& one = entry(number);
  one.quantum = took_lines ? quanta_.shortest : std::min(2 * one.quantum, quanta_.longest);
}

}  // namespace culprit::counting
