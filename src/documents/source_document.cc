#include "documents/source_document.h"

#include <map>

#include "base/names.h"
#include "base/text.h"
#include "documents/object_text.h"

namespace culprit {

std::string source_document(const ProfileView& view, const std::string& file) {
  // A header is known by each image that has code of it, each with the lines around its own.
  std::map<uint32_t, std::string> text_of_line;
  const FactsLookup lookup = view.facts(FactPart::sources);
  for (uint32_t image = 0; image < view.profile().images.size(); ++image) {
    const ImageFacts* const facts = lookup(ImageId(image));
    if (facts == nullptr) continue;
    for (const SourceFact& source : facts->sources) {
      if (printable(facts->strings.text(source.file)) != file) continue;
      for (size_t row = 0; row < source.lines.size(); ++row) {
        text_of_line.try_emplace(source.first_line + static_cast<uint32_t>(row), source.lines[row]);
      }
    }
  }
  std::vector<uint32_t> lines;
  std::vector<std::string> texts;
  for (const auto& [line, text] : text_of_line) {
    lines.push_back(line);
    texts.push_back(expand_tabs(text));
  }
  ObjectText document(Json{{"schema", "culprit-web-source-1"}, {"file", file}});
  document.add("line", lines);
  document.add("text", texts);
  return std::move(document).end();
}

}  // namespace culprit
