#include "attribute/source_statements.h"

#include <algorithm>

namespace culprit {
namespace {

std::vector<LineSpan> split_texts(const std::vector<const SourceFact*>& texts,
                                  SourceSyntax syntax) {
  std::vector<LineSpan> all;
  for (const SourceFact* const text : texts) {
    const std::vector<LineSpan> spans = split_statements(text->lines, text->first_line, syntax);
    all.insert(all.end(), spans.begin(), spans.end());
  }
  std::ranges::sort(all, {}, &LineSpan::first);
  return all;
}

}  // namespace

SourceStatements::Files& SourceStatements::files_of(ImageId image, const ImageFacts& facts) {
  const auto [found, is_new] = images_.try_emplace(image);
  if (is_new) {
    for (const SourceFact& source : facts.sources) {
      found->second[source.file].texts.push_back(&source);
    }
  }
  return found->second;
}

LineSpan SourceStatements::find(ImageId image, StringId file, uint32_t line) {
  const ImageFacts* const facts = code_.facts(image);
  if (facts == nullptr) return {line, line};
  Files& files = files_of(image, *facts);
  const auto known = files.find(file);
  if (known == files.end()) return {line, line};
  if (!known->second.statements) {
    known->second.statements =
        split_texts(known->second.texts, find_syntax(facts->strings.text(file)));
  }
  const std::vector<LineSpan>& spans = *known->second.statements;
  const auto behind = std::ranges::upper_bound(spans, line, {}, &LineSpan::first);
  if (behind != spans.begin() && line <= std::prev(behind)->last) return *std::prev(behind);
  return {line, line};
}

}  // namespace culprit
