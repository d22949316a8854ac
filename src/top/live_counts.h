#pragma once

// LiveCounts: what a recording hands on while it runs, kept for the last minute and as a sum.
//
//     recording thread ── add(tables and new counts) ──→  slices  ──→ profile of the last 10 s
//                                                          sum    ──→ profile of everything

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "model/profile.h"

namespace culprit {

/// What was recorded in some stretch of time that ends now.
struct LiveWindow {
  Profile profile;     // all tables; the counts of that stretch
  double seconds = 0;  // how long it is
  uint64_t samples = 0;
  bool is_all = false;  // everything since the beginning
};

class LiveCounts {
 public:
  /// This much of the past is kept slice by slice.
  static constexpr uint64_t kLongestWindowNs = 60'000'000'000;

  /// The sink of a recording: all tables, and the counts since the last call. Any thread.
  void add(const Profile& profile);

  /// Counts of about the last `window_ns`; 0: of everything.
  [[nodiscard]] LiveWindow window(uint64_t window_ns);
  /// The tables alone, as they were at the last call of add(); null before the first.
  [[nodiscard]] std::shared_ptr<const Profile> tables() const;

 private:
  struct Slice {
    uint64_t length_ns = 0;
    std::vector<Histogram> histograms;
  };

  mutable std::mutex mutex_;  // of all that follows
  std::shared_ptr<const Profile> tables_;
  std::deque<Slice> slices_;  // oldest first
  std::vector<Histogram> sum_;
  size_t unmerged_ = 0;  // histograms of `sum_` that came since they were last merged
  uint64_t end_ns_ = 0;  // of the recording so far
};

/// Keeps the counts of contexts for which `is_wanted(context)` holds.
template <class IsWanted>
void keep_contexts(Profile& profile, IsWanted is_wanted) {
  std::erase_if(profile.histograms, [&](const Histogram& histogram) {
    return histogram.context.value >= profile.contexts.size() ||
           !is_wanted(profile.contexts[histogram.context.value]);
  });
}

}  // namespace culprit
