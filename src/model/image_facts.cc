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

uint64_t estimate_memory_bytes(const ImageFacts& facts) {
  const auto rows = [](const auto& vector) { return vector.capacity() * sizeof vector.front(); };
  const auto text = [](const std::string& one) {
    return one.capacity() < sizeof one ? 0 : one.capacity() + 1;
  };
  uint64_t bytes = sizeof facts + rows(facts.segments) + rows(facts.functions) + rows(facts.lines) +
                   rows(facts.inlines) + rows(facts.blocks) + rows(facts.jumps) + rows(facts.code) +
                   rows(facts.sources) + rows(facts.fields);
  for (const CodeFact& code : facts.code) bytes += text(code.bytes);
  for (const SourceFact& source : facts.sources) {
    bytes += rows(source.lines);
    for (const std::string& line : source.lines) bytes += text(line);
  }
  for (size_t i = 0; i < facts.strings.size(); ++i) {
    const std::string& one = facts.strings.text(StringId(i));
    bytes += sizeof one + text(one);
  }
  return bytes;
}

}  // namespace culprit
