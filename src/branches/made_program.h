#pragma once

// A made-up program that walks at random, for tests: its machine code, how often each of its
// instructions truly ran, and what a CPU with branch records would have said of the walk.
//
// Functions of a few blocks: some no-ops, then nothing, a jump forwards, a conditional jump
// anywhere in the function, or a call of a later function. The first function starts over
// when it ends, the others return.

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/builder.h"
#include "model/image_facts.h"
#include "model/profile.h"

namespace culprit {

class MadeProgram {
 public:
  explicit MadeProgram(unsigned seed, size_t functions = 4) : random_(seed) {
    for (size_t i = 0; i < functions; ++i) make_function(i == 0);
    link();
  }

  /// Runs until so many branches were taken.
  void walk(size_t taken_branches) {
    uint64_t at = 0;
    std::vector<uint64_t> returns;
    executions_.resize(code_.size());
    while (taken_.size() < taken_branches) {
      const Code& one = code_[at];
      ++executions_[at];
      uint64_t next = at + one.size;
      if (one.kind == Kind::jump || one.kind == Kind::call) next = one.target;
      if (one.kind == Kind::branch && pick(0, 9) < one.odds) next = one.target;
      if (one.kind == Kind::call) returns.push_back(at + one.size);
      if (one.kind == Kind::returns) {
        next = returns.back();
        returns.pop_back();
      }
      if (next != at + one.size || one.kind == Kind::jump || one.kind == Kind::returns) {
        taken_.emplace_back(at, next);
        if (one.kind == Kind::call) ++calls_[next];
      }
      at = next;
    }
  }

  /// A profile with a sample after each `period` taken branches (its length varied by up to
  /// `jitter`), each with the last `depth` of them.
  [[nodiscard]] Profile sample(size_t period, size_t depth, size_t jitter) {
    ProfileBuilder builder;
    Profile& profile = builder.profile();
    Event event;
    event.name = profile.strings.intern("br_inst_retired.near_taken");
    event.encoding = profile.strings.intern("");
    event.provenance = Provenance::sampled;
    event.period = period;
    profile.events = {event};
    Image image;
    image.kind = ImageKind::program;
    image.path = profile.strings.intern("/made");
    profile.images = {image};
    profile.runs.resize(1);
    const ContextId who = builder.intern_context({});
    const auto place = [](uint64_t at) { return Location{ImageId(0u), FileOffset(at)}; };
    for (size_t end = depth; end <= taken_.size();) {
      builder.add(who, place(taken_[end - 1].first), EventId(0u), 1, period);
      for (size_t i = end - depth; i < end; ++i) {
        builder.add_branch({who, place(taken_[i].first), place(taken_[i].second), 1, 0, 0, 1, 0});
        if (i + 1 == end) continue;
        builder.add_fall_through(
            {who, ImageId(0u), FileOffset(taken_[i].second), FileOffset(taken_[i + 1].first), 1});
      }
      end += period - jitter + (jitter == 0 ? 0 : pick(0, 2 * jitter));
    }
    builder.take_counts();
    return std::move(profile);
  }

  [[nodiscard]] const ImageFacts& facts() const { return facts_; }
  [[nodiscard]] uint64_t executions(uint64_t at) const { return executions_.at(at); }
  [[nodiscard]] uint64_t calls(uint64_t at) const {
    const auto found = calls_.find(at);
    return found == calls_.end() ? 0 : found->second;
  }
  /// Executions by offset: 0 where no instruction begins.
  [[nodiscard]] const std::vector<uint64_t>& all_executions() const { return executions_; }
  [[nodiscard]] const std::vector<std::pair<uint64_t, uint64_t>>& taken() const { return taken_; }

 private:
  enum class Kind : uint8_t { next, jump, branch, call, returns };
  struct Code {
    Kind kind = Kind::next;
    uint64_t size = 1;
    uint64_t target = 0;
    size_t odds = 0;  // branch: taken in so many of ten
  };
  struct Function {
    uint64_t begin = 0;
    std::vector<uint64_t> blocks;  // their offsets
  };
  /// A jump or call whose target is not placed yet.
  struct Fix {
    uint64_t at;
    size_t function;
    size_t target;  // a block of the function; calls: a later function
  };

  size_t pick(size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random_);
  }

  void emit(Kind kind, const std::string& bytes) {
    const size_t at = bytes_.size();
    bytes_ += bytes;
    code_.resize(bytes_.size());
    code_[at] = {kind, bytes.size(), 0, 0};
  }

  void make_function(bool is_first) {
    using namespace std::string_literals;
    const size_t number = functions_.size();
    Function function;
    function.begin = bytes_.size();
    const size_t blocks = pick(2, 8);
    for (size_t block = 0; block < blocks; ++block) {
      function.blocks.push_back(bytes_.size());
      for (size_t i = pick(1, 6); i > 0; --i) emit(Kind::next, "\x90");
      if (block + 1 == blocks) break;
      const uint64_t at_end = bytes_.size();
      const size_t kind = pick(0, 5);
      if (kind == 0) {
        fixes_.push_back({at_end, number, pick(block + 1, blocks - 1)});
        emit(Kind::jump, "\xe9\0\0\0\0"s);
      } else if (kind <= 3) {
        fixes_.push_back({at_end, number, pick(0, blocks - 1)});
        emit(Kind::branch, "\x0f\x85\0\0\0\0"s);
        code_[at_end].odds = pick(1, 8);
      } else if (kind == 4) {
        fixes_.push_back({at_end, number, number + 1});
        emit(Kind::call, "\xe8\0\0\0\0"s);
      }
    }
    if (is_first) {
      // It calls the next one in any case, and is never left.
      fixes_.push_back({bytes_.size(), number, 1});
      emit(Kind::call, "\xe8\0\0\0\0"s);
      fixes_.push_back({bytes_.size(), number, 0});
      emit(Kind::jump, "\xe9\0\0\0\0"s);
    } else {
      emit(Kind::returns, "\xc3");
    }
    functions_.push_back(std::move(function));
  }

  /// Writes the targets; calls past the last function become no-ops.
  void link() {
    for (const Fix& fix : fixes_) {
      Code& one = code_[fix.at];
      if (one.kind == Kind::call && fix.target >= functions_.size()) {
        for (uint64_t i = 0; i < 5; ++i) {
          bytes_[fix.at + i] = '\x90';
          code_[fix.at + i] = {Kind::next, 1, 0, 0};
        }
        continue;
      }
      one.target = one.kind == Kind::call ? functions_[fix.target].begin
                                          : functions_[fix.function].blocks[fix.target];
      const auto distance = static_cast<uint32_t>(one.target - (fix.at + one.size));
      for (uint64_t i = 0; i < 4; ++i) {
        bytes_[fix.at + one.size - 4 + i] = static_cast<char>(distance >> (8 * i));
      }
    }
    facts_.architecture = "x86_64";
    facts_.segments = {{FileOffset(0), bytes_.size(), LinkAddress(0x1000)}};
    for (size_t i = 0; i < functions_.size(); ++i) {
      const uint64_t end = i + 1 < functions_.size() ? functions_[i + 1].begin : bytes_.size();
      FunctionFact fact;
      fact.begin = FileOffset(functions_[i].begin);
      fact.end = FileOffset(end);
      fact.name = facts_.strings.intern("f" + std::to_string(i));
      fact.linkage_name = facts_.strings.intern("");
      fact.file = fact.linkage_name;
      facts_.functions.push_back(fact);
    }
    facts_.code = {{FileOffset(0), bytes_}};
  }

  std::mt19937 random_;
  std::string bytes_;
  std::vector<Code> code_;  // by offset
  std::vector<Function> functions_;
  std::vector<Fix> fixes_;
  ImageFacts facts_;
  std::vector<uint64_t> executions_;  // by offset
  std::map<uint64_t, uint64_t> calls_;
  std::vector<std::pair<uint64_t, uint64_t>> taken_;
};

}  // namespace culprit
