#pragma once

// SourceStatements: the statement that a line of code belongs to, from the source text that a
// profile has.
//
//     SourceStatements statements(code);
//     statements.find(image, file, 58)       // lines 57 to 58

#include <optional>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"
#include "attribute/split_statements.h"

namespace culprit {

class SourceStatements {
 public:
  /// `code` must outlive it.
  explicit SourceStatements(CodeIndex& code) : code_(code) {}

  /// `file`: of the strings of the image's facts. The line alone where its text is not known.
  LineSpan find(ImageId image, StringId file, uint32_t line);

 private:
  /// What an image's facts have of a file.
  struct File {
    std::vector<const SourceFact*> texts;
    std::optional<std::vector<LineSpan>> statements;  // sorted; none: not asked for yet
  };
  using Files = std::unordered_map<StringId, File>;

  Files& files_of(ImageId image, const ImageFacts& facts);

  CodeIndex& code_;
  std::unordered_map<ImageId, Files> images_;
};

}  // namespace culprit
