#include "model/slice_sums.h"

#include <algorithm>

namespace culprit {

void SliceSums::begin(uint64_t start_ns) {
  start_ns_ = start_ns;
  width_ns_ = kFirstWidthNs;
}

void SliceSums::add(SliceCount what, uint64_t from_ns, uint64_t until_ns,
                    const std::vector<Event>& events) {
  if (!start_ns_ || until_ns == 0) return;
  const uint64_t until = std::max(until_ns, *start_ns_) - *start_ns_;
  const uint64_t from = std::min(std::max(from_ns, *start_ns_) - *start_ns_, until);
  while (until / width_ns_ >= kMostSlices) width_ns_ *= 2;

  const uint64_t last = until / width_ns_ * width_ns_;
  SliceCount part = what;
  part.width_ns = width_ns_;
  part.cell.samples = 0;
  for (part.begin_ns = from / width_ns_ * width_ns_; part.begin_ns < last;
       part.begin_ns += width_ns_) {
    // Of a wait, whose value is its time, each slice gets what lies in it.
    const uint64_t within_ns = part.begin_ns + width_ns_ - std::max(part.begin_ns, from);
    part.cell.value = std::min(within_ns, what.cell.value);
    what.cell.value -= part.cell.value;
    sums_.add(part, events);
  }
  part.cell.samples = what.cell.samples;
  part.cell.value = what.cell.value;
  sums_.add(part, events);
}

}  // namespace culprit
