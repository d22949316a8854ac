#include "simulate/counting/call_stack.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulate/counting/translation.h"

namespace culprit::counting {

void CallStack::push(const BlockFacts& from) {
  if (calls_.size() == kMostCalls) {  // the oldest are a long way off
    calls_.erase(calls_.begin(), calls_.begin() + kMostCalls / 2);
    forgotten_ += kMostCalls / 2;
  }
  const uint64_t slot = std::exchange(slot_, 0);
  const uint64_t below = calls_.empty() ? 0 : calls_.back().highest_slot;
  calls_.push_back({&from, slot, std::max(below, slot)});
}

void CallStack::end_dead_calls(uint64_t slot) {
  if (calls_.empty() || calls_.back().highest_slot <= slot) return;  // on another stack
  while (calls_.back().slot <= slot) calls_.pop_back();
}

/// A return goes to `address`: the calls from there on are over.
void CallStack::land(uint64_t address) {
  // A return over more frames than this ends them with the next call.
  constexpr size_t kMostSearched = 4096;
  const size_t searched = std::min(calls_.size(), kMostSearched);
  const auto end = std::next(calls_.rbegin(), static_cast<ptrdiff_t>(searched));
  const auto found = std::find_if(calls_.rbegin(), end,
                                  [&](const Call& call) { return call.from->end == address; });
  if (found != end) calls_.erase(std::prev(found.base()), calls_.end());
}

std::span<const uint32_t> CallStack::path(std::span<uint32_t> room) const {
  const size_t count = std::min(room.size(), calls_.size());
  for (size_t i = 0; i < count; ++i) room[i] = calls_[calls_.size() - 1 - i].from->last_site;
  return room.first(count);
}

size_t CallStack::follow(const BlockFacts& before, const BlockFacts& now) {
  using counts_file::ControlFlow;
  size_t least = height();
  if (before.branch == ControlFlow::call || before.branch == ControlFlow::indirect_call) {
    if (slot_ != 0) end_dead_calls(slot_);
    least = height();
    push(before);
  } else if (before.branch == ControlFlow::returns) {
    land(now.start);
    least = height();
  }
  return least;
}

}  // namespace culprit::counting
