#pragma once

// CodeLoops: in which loop of the code a statement runs, by the branches that were taken backwards
// (simulated profiles have all of them). What runs in no loop belongs to its function.
//
//     1210: ...
//     1223: jne 1210        taken backwards: a loop 1210-1223; the smallest one around is meant
//
// Advice is given to loops: it is they that can be swapped, fused or blocked.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"
#include "model/profile.h"

namespace culprit {

struct CodeLoop {
  ImageId image;
  FileOffset begin;  // of its first instruction
  FileOffset end;    // of the branch that goes round; begin == end: no loop, a function
  std::string function;
  [[nodiscard]] bool is_loop() const { return begin < end; }
};

class CodeLoops {
 public:
  /// `code` must outlive it.
  explicit CodeLoops(CodeIndex& code);

  /// The row of the innermost loop around a location, else of its function.
  uint32_t row_of(const Location& at);
  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] const CodeLoop& row(uint32_t number) const { return rows_[number]; }
  /// Whether one is inside the other, or they are the same.
  [[nodiscard]] bool is_nested(uint32_t a, uint32_t b) const;

 private:
  struct Range {
    FileOffset begin;
    FileOffset end;
  };
  uint32_t intern(CodeLoop loop);

  CodeIndex& code_;
  std::vector<std::vector<Range>> ranges_;  // by image, smallest first
  std::unordered_map<Location, uint32_t> known_;
  std::unordered_map<std::string, uint32_t> named_;
  std::vector<CodeLoop> rows_;
};

}  // namespace culprit
