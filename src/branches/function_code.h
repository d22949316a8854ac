#pragma once

// The instructions of a function, as straight runs and branches need them: decoded once.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "attribute/code_index.h"
#include "code/instruction.h"
#include "model/profile.h"

namespace culprit {

class FunctionCode {
 public:
  explicit FunctionCode(const Disassembly& code);

  /// Instructions by index, in order of address.
  struct Run {
    size_t first = 0;
    size_t last = 0;  // included
  };

  /// What ran from `from` to `to`, both the first bytes of instructions. None where the code
  /// says that control cannot have run straight on: no instruction begins there, one before
  /// the last leaves for certain (a jump, call, return or trap), or bytes are unknown.
  [[nodiscard]] std::optional<Run> find_run(FileOffset from, FileOffset to) const;

  /// The instruction that begins at `offset`.
  [[nodiscard]] std::optional<size_t> find(FileOffset offset) const;

  [[nodiscard]] size_t size() const { return offsets_.size(); }
  [[nodiscard]] FileOffset offset(size_t index) const { return offsets_[index]; }
  [[nodiscard]] Flow flow(size_t index) const { return flows_[index]; }
  /// Whether it goes to a target that the code itself names.
  [[nodiscard]] bool has_target(size_t index) const { return has_target_[index]; }
  [[nodiscard]] bool begins_block(size_t index) const {
    return blocks_before_[index + 1] != blocks_before_[index];
  }
  /// Blocks that begin within a run.
  [[nodiscard]] size_t count_blocks(const Run& run) const {
    return blocks_before_[run.last + 1] - blocks_before_[run.first];
  }

 private:
  std::vector<FileOffset> offsets_;  // ascending
  std::vector<Flow> flows_;          // this and the rest: parallel to offsets_
  std::vector<bool> has_target_;
  std::vector<uint32_t> blocks_before_;  // that begin before each; one more for all
  std::vector<uint32_t> leaving_;  // instructions before this one after which control is elsewhere
};

/// The functions of a profile, each decoded when it is first asked for.
class FunctionCodes {
 public:
  /// `code` must outlive it.
  explicit FunctionCodes(CodeIndex& code) : code_(code) {}

  /// Finds it by its row among the image's functions; nullptr without its code.
  const FunctionCode* find(ImageId image, uint32_t function);
  [[nodiscard]] CodeIndex& index() { return code_; }

 private:
  CodeIndex& code_;
  std::map<std::pair<ImageId, uint32_t>, std::optional<FunctionCode>> functions_;
};

}  // namespace culprit
