#pragma once

// AdviceContext: what pieces of advice have in common: the costs that they are weighed by, the
// words for the places that they name, and the list that they are added to.

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "locality/advice.h"
#include "locality/advice_facts.h"

namespace culprit {

inline constexpr const char* kLevelWords[kDataLevels] = {"L1D", "L2", "L3"};

/// "25 %"
std::string format_part(double part, double whole);

class AdviceContext {
 public:
  struct Candidate {
    LocalityAdvice advice;
    std::set<uint32_t> loops;  // that save by it
    bool fits = true;          // the model has about the time that was measured
  };

  AdviceContext(const Profile& profile, CodeIndex& code, const Caches& caches, LoopScales& scales);

  [[nodiscard]] CodeIndex& code() const { return code_; }
  [[nodiscard]] const Caches& caches() const { return caches_; }
  [[nodiscard]] const AdviceFacts& facts() const { return facts_; }
  [[nodiscard]] CodeLoops& loops() { return scales_.loops(); }
  /// Of data alone.
  [[nodiscard]] const UseEvents& events_of_data() const { return events_of_data_; }

  /// As AdviceFacts has it.
  [[nodiscard]] std::vector<LoopsOnObjects> split_by_loop(
      size_t groups, const std::vector<std::optional<size_t>>& group_of) {
    return facts_.split_by_loop(code_.profile(), groups, group_of);
  }

  /// Measured cycles for a modelled one; for a modelled one of waits.
  [[nodiscard]] double scale_of(uint32_t loop) const { return scales_.of(loop); }
  [[nodiscard]] double waits_scale_of(uint32_t loop) const {
    return scale_waits(facts_.by_loop[loop].waits, scale_of(loop));
  }
  [[nodiscard]] double scale_of(const GroupFacts& object) const {
    return object.use.cycles > 0 ? object.use.shared / object.use.cycles : 1;
  }
  /// Lines that a group brings in, and of them those that were there before, by level.
  [[nodiscard]] static std::array<LinesIn, kDataLevels> lines_in(const Use& use,
                                                                 const Refetches& refetched);
  /// Which part is used of the lines that come into a level.
  [[nodiscard]] double spatial(const Use& use, size_t level) const;
  /// What is used of a line of this level before it is gone from the farther ones, too: a line that
  /// comes back for its other bytes is not badly laid out, only used too late.
  [[nodiscard]] double used_in_the_end(const Use& use, size_t level) const;

  /// Labels of the rows with most, a few, each once.
  [[nodiscard]] static std::vector<std::string> top(const std::map<uint32_t, uint64_t>& counts,
                                                    auto label);
  [[nodiscard]] std::vector<std::string> lines_of(uint32_t loop) const;
  [[nodiscard]] std::vector<std::string> objects_of(uint32_t loop) const;
  /// "quake.c:498-505", by the lines that bring something in; else its function.
  [[nodiscard]] std::string place_of(uint32_t loop) const;
  [[nodiscard]] bool has_lines(uint32_t loop) const;

  /// Whether the gain is worth advice, and so the words that it is put in.
  [[nodiscard]] bool is_worth(double saved_cycles) const {
    return saved_cycles / all_cycles() >= kLeastGain;
  }
  /// Adds it, if it is worth that; `scale`: by which its modelled cycles were made measured ones.
  void add(LocalityAdvice advice, std::set<uint32_t> loops, double scale);
  [[nodiscard]] std::vector<Candidate> take() { return std::move(found_); }

 private:
  [[nodiscard]] double all_cycles() const {
    return scales_.are_known() ? scales_.measured_cycles() : facts_.total.all;
  }

  CodeIndex& code_;
  const Caches& caches_;
  LoopScales& scales_;
  UseEvents events_of_data_;
  AdviceFacts facts_;
  std::vector<Candidate> found_;
};

std::vector<std::string> AdviceContext::top(const std::map<uint32_t, uint64_t>& counts,
                                            auto label) {
  constexpr size_t kMostLines = 3;
  std::vector<std::pair<uint64_t, uint32_t>> order;
  uint64_t all = 0;
  for (const auto& [row, count] : counts) {
    order.emplace_back(count, row);
    all += count;
  }
  std::sort(order.rbegin(), order.rend());
  std::vector<std::string> words;
  for (const auto& [count, row] : order) {
    constexpr uint64_t kTenth = 10;
    if (words.size() == kMostLines || (!words.empty() && count < all / kTenth)) break;
    std::string word = label(row);
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(std::move(word));
  }
  return words;
}

}  // namespace culprit
