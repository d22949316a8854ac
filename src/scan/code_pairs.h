#pragma once

// The executed code of two cells side by side, a source line at a time, equal instructions in one
// row:
//
//     kernel.cc:12   a[i] += b[i];
//        8  movsd (%rdi,%rax,8), %xmm0    |     4  movupd (%rdi,%rax), %xmm0
//        8  addsd (%rsi,%rax,8), %xmm0    |     4  addpd (%rsi,%rax), %xmm0

#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/text_style.h"
#include "scan/costs.h"

namespace culprit::scan {

struct CodeLine {
  std::string address;  // in the program, as objdump prints it
  std::string text;
  double executions = 0;  // per iteration
};

struct CodePair {
  std::string line;    // "kernel.cc:12"; "" of code without lines
  std::string source;  // its text; "" if the facts do not have it
  std::vector<CodeLine> a;
  std::vector<CodeLine> b;
};

/// All that an iteration executes; the lines whose instructions differ most first.
std::vector<CodePair> pair_code(const CellCosts& a, const CellCosts& b, CodeIndex& code);

/// `limit`: rows of instructions; 0: all.
std::string print_code_pairs(const std::vector<CodePair>& pairs, size_t limit,
                             const TextStyle& style);

}  // namespace culprit::scan
