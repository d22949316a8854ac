#include "simulate/machine/code_uses.h"

#include <algorithm>
#include <utility>

namespace culprit::simulate {

/// What is not there is not copied, and takes no memory.
void CodeUses::make_room_for(uint32_t number) {
  const size_t size = std::max<size_t>(number + size_t{1}, uses_.size() * 2);
  ZeroedArray<Use> uses(size);
  ZeroedArray<Part> parts(size);
  for (size_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i].page == kNoPage) continue;
    uses[i] = uses_[i];
    parts[i] = parts_[i];
  }
  uses_ = std::move(uses);
  parts_ = std::move(parts);
}

void CodeUses::note(const CodePart& part, const Use& now) {
  if (part.number == 0) return;
  if (part.number >= uses_.size()) make_room_for(part.number);
  Use& use = uses_[part.number];
  if (use.page == kNoPage) {
    use.next = first_in_[now.slot];
    first_in_[now.slot] = part.number;
    parts_[part.number] = {part.site, part.bytes};
  }
  use.page = now.page;
  use.epoch = now.epoch;
  use.slot = now.slot;
  use.translation = now.translation;
}

void CodeUses::forget(Slot slot) {
  uint32_t next = 0;
  for (uint32_t number = first_in_[slot]; number != 0; number = next) {
    next = uses_[number].next;
    uses_[number] = {};
  }
  first_in_[slot] = 0;
}

}  // namespace culprit::simulate
