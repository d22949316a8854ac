#include "locality/loops.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "base/names.h"
#include "base/text.h"

namespace culprit {
namespace {

/// A branch back that is taken less often than this goes round no loop worth a word.
constexpr uint64_t kFewestRounds = 8;
/// Longer ranges are jumps between parts of a program (interpreters, tail calls), not loops.
constexpr uint64_t kLongestLoop = 64 << 10;

}  // namespace

CodeLoops::CodeLoops(CodeIndex& code) : code_(code), ranges_(code.profile().images.size()) {
  std::map<std::pair<Location, FileOffset>, uint64_t> rounds;  // by (begin, end)
  for (const BranchCount& branch : code.profile().branch_counts) {
    if (branch.from.image != branch.to.image || branch.from.offset < branch.to.offset) continue;
    if (branch.from.offset - branch.to.offset > kLongestLoop) continue;
    rounds[{branch.to, branch.from.offset}] += branch.count;
  }
  for (const auto& [range, count] : rounds) {
    const ImageId image = range.first.image;
    if (count < kFewestRounds || image.value >= ranges_.size()) continue;
    // A call backwards, or a return, is no loop: both ends are in one function.
    Attributor* const attributor = code.attributor(image);
    if (attributor == nullptr) continue;
    const CodePlace begin = attributor->find(range.first.offset);
    const CodePlace end = attributor->find(range.second);
    if (begin.function == CodePlace::kNone || begin.function != end.function) continue;
    const FunctionFact& function = attributor->facts().functions[begin.function];
    if (range.first.offset == function.begin && range.second - range.first.offset > 0) {
      // A function that calls itself comes back to its first instruction; so does a loop that is
      // the whole function, which is the rarer one.
      continue;
    }
    ranges_[image.value].push_back({range.first.offset, range.second});
  }
  for (std::vector<Range>& ranges : ranges_) {
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.end - a.begin < b.end - b.begin; });
  }
}

uint32_t CodeLoops::intern(CodeLoop loop) {
  const std::string key = loop.is_loop()
                              ? fmt::format("{}:{:x}", loop.image.value, loop.begin.value)
                              : fmt::format("{} {}", loop.image.value, loop.function);
  const auto [found, is_new] = named_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (is_new) rows_.push_back(std::move(loop));
  return found->second;
}

uint32_t CodeLoops::row_of(const Location& at) {
  if (const auto found = known_.find(at); found != known_.end()) return found->second;
  CodeLoop loop;
  loop.image = at.image;
  const std::vector<Frame> frames = code_.frames(at);
  const ImageFacts* const facts = code_.facts(at.image);
  if (!frames.empty() && facts != nullptr) {
    loop.function = facts->strings.text(frames.back().function);
  }
  if (loop.function.empty()) loop.function = code_.unnamed(at);
  if (at.image.value < ranges_.size()) {
    for (const Range& range : ranges_[at.image.value]) {
      if (at.offset < range.begin || range.end < at.offset) continue;
      // Several branches may go back to one place: the loop is as long as the farthest of them.
      loop.begin = range.begin;
      loop.end = range.end;
      break;
    }
  }
  const uint32_t row = intern(std::move(loop));
  known_[at] = row;
  return row;
}

bool CodeLoops::is_nested(uint32_t a, uint32_t b) const {
  if (a == b) return true;
  const CodeLoop& one = rows_[a];
  const CodeLoop& other = rows_[b];
  if (one.image != other.image) return false;
  // What is in no loop of a function runs around its loops.
  if (!one.is_loop() || !other.is_loop()) return one.function == other.function;
  const bool inside = other.begin <= one.begin && one.end <= other.end;
  const bool around = one.begin <= other.begin && other.end <= one.end;
  return inside || around;
}

}  // namespace culprit
