#include "attribute/source_lines.h"

namespace culprit {

std::optional<std::string_view> find_source_line(const ImageFacts& facts, StringId file,
                                                 uint32_t line) {
  for (const SourceFact& source : facts.sources) {
    if (source.file != file || line < source.first_line) continue;
    const size_t row = line - source.first_line;
    if (row < source.lines.size()) return source.lines[row];
  }
  return std::nullopt;
}

}  // namespace culprit
