#include "attribute/source_statements.h"

#include <algorithm>

namespace culprit {
namespace {

std::vector<LineSpan> split_file(const ImageFacts& facts, StringId file) {
  const SourceSyntax syntax = find_syntax(facts.strings.text(file));
  std::vector<LineSpan> all;
  for (const SourceFact& source : facts.sources) {
    if (source.file != file) continue;
    const std::vector<LineSpan> spans = split_statements(source.lines, source.first_line, syntax);
    all.insert(all.end(), spans.begin(), spans.end());
  }
  std::ranges::sort(all, {}, &LineSpan::first);
  return all;
}

}  // namespace

LineSpan SourceStatements::find(ImageId image, StringId file, uint32_t line) {
  const ImageFacts* const facts = code_.facts(image);
  if (facts == nullptr) return {line, line};
  const auto [found, is_new] = known_.try_emplace({image, file});
  if (is_new) found->second = split_file(*facts, file);
  const std::vector<LineSpan>& spans = found->second;
  const auto behind = std::ranges::upper_bound(spans, line, {}, &LineSpan::first);
  if (behind != spans.begin() && line <= std::prev(behind)->last) return *std::prev(behind);
  return {line, line};
}

}  // namespace culprit
