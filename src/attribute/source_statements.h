#pragma once

// SourceStatements: the statement that a line of code belongs to, from the source text that a
// profile has.
//
//     SourceStatements statements(code);
//     statements.find(image, file, 58)       // lines 57 to 58

#include <map>
#include <utility>
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
  CodeIndex& code_;
  std::map<std::pair<ImageId, StringId>, std::vector<LineSpan>> known_;  // sorted
};

}  // namespace culprit
