#pragma once

// CodeFlow: the control-flow graphs of a profile's functions, each made when it is first asked for.
//
//     CodeFlow flow(code);
//     const FunctionGraph* graph = flow.find(image, row);    // nullptr: no machine code of it
//     const auto loop = flow.find_loop(location);            // of `report --by loop`
//
// Targets of indirect jumps are those of the tables that the facts hold, and those that were
// recorded: all of them where a simulator ran the program, else those that branch records happened
// to see.

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "attribute/code_index.h"
#include "flow/equivalence.h"
#include "flow/flow_graph.h"
#include "flow/loop_forest.h"

namespace culprit {

struct FunctionGraph {
  Disassembly code;  // with operands, without texts
  FlowGraph graph;
  LoopForest loops;

  /// A loop reaches from its head to behind its last block; other code may be between.
  [[nodiscard]] CodeIndex::Range range_of(const FlowLoop& loop) const;
};

class CodeFlow {
 public:
  /// `code` must outlive it.
  explicit CodeFlow(CodeIndex& code);

  /// `function` is a row of the image's functions.
  const FunctionGraph* find(ImageId image, uint32_t function);
  /// The innermost loop around a location; none outside of loops, and of code that is not known.
  std::optional<CodeIndex::Range> find_loop(const Location& at);
  /// Whether no taken branch is missing from those that were recorded.
  [[nodiscard]] bool has_all_branches() const { return has_all_branches_; }

  [[nodiscard]] CodeIndex& code() { return code_; }

 private:
  std::unique_ptr<FunctionGraph> make(ImageId image, uint32_t function);

  CodeIndex& code_;
  bool has_all_branches_ = false;
  std::map<std::pair<ImageId, uint32_t>, std::unique_ptr<FunctionGraph>> known_;
};

}  // namespace culprit
