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

ImageFacts make_code_object_facts(const std::string& architecture, const std::string& name,
                                  uint64_t size_bytes) {
  ImageFacts facts;
  facts.architecture = architecture;
  facts.symbol_source = SymbolSource::kallsyms;
  facts.functions.push_back({FileOffset(0), FileOffset(size_bytes), facts.strings.intern(name),
                             StringId(0u), StringId(0u), 0});
  return facts;
}

}  // namespace culprit
