#include "model/image_facts.h"

namespace culprit {

LinkAddress to_link_address(const ImageFacts& facts, FileOffset offset) {
  for (const SegmentFact& segment : facts.segments) {
    if (offset >= segment.begin && offset - segment.begin < segment.size_bytes) {
      return segment.link_address + (offset - segment.begin);
    }
  }
  return LinkAddress(offset.value);
}

}  // namespace culprit
