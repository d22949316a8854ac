#include "simulate/machine/code_uses.h"

#include <algorithm>

namespace culprit::simulate {

void CodeUses::note(const CodePart& part, const Use& now) {
  if (part.number == 0) return;
  if (part.number >= uses_.size()) {
    const size_t size = std::max<size_t>(part.number + 1, uses_.size() * 2);
    uses_.resize(size);
    parts_.resize(size);
  }
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
