#pragma once

// WindowSchedule: which part of a run is simulated with --windows. Between windows executions and
// accesses are counted, and nothing is modelled.
//
//     0         first       2 first                 4 first
//     ├─────────┼───────────┼───────────────────────┼──── …       instructions of the process
//     │ all     │ lwM   lwM │  llwwMM      llwwMM   │      l: only the branch predictor learns,
//                                                        w: warm-up, M: measured
//
// The beginning is measured whole, so that short programs are exact. How long the run will be is
// not known, so it is cut into strata that are each as long as all before them; a stratum has
// kSegments equal segments, with one window at a random place in each. A long run has as many
// windows as a short one has for each doubling, and longer ones: the caches' state, which stays as
// it was while nothing is modelled, is made good by a warm-up in proportion to the gap.
//
// Source: stratified sampling with one unit per stratum and successive differences, W. G. Cochran,
//         Sampling Techniques (3rd edition, 1977), 5A.12; K. M. Wolter, Introduction to Variance
//         Estimation (2nd edition, 2007), section 8.2; windows with warm-ups: R. E. Wunderlich and
//         others, SMARTS, ISCA 2003. That the predictor has to learn for longer than a window
//         warms up: bench/windows.py (a branch that no gap teaches is in its first runs for longer)

#include <cstdint>
#include <random>

namespace culprit::counting {

inline constexpr uint32_t kUsualWindows = 50'000;  // of a million instructions

struct WindowOptions {
  uint32_t per_million = 0;  // of the instructions, in windows, warm-ups too; 0: no windows
  uint64_t seed = 1;         // of the windows' places
  uint64_t first = uint64_t{1} << 25;  // instructions that are measured whole, at the beginning

  [[nodiscard]] bool are_wanted() const { return per_million != 0; }
};

enum class WindowPhase : uint8_t {
  gap,       // only counted
  learning,  // and the branch predictor sees it
  warming,   // caches and predictors see it, nothing of it counts
  measured,  // modelled and counted
};

/// A stretch of the run in one phase.
struct Stretch {
  WindowPhase phase = WindowPhase::gap;
  uint64_t end = 0;       // in instructions of the process
  uint32_t window = 0;    // 0: the beginning; of a gap, the next one
  uint32_t stratum = 0;   // 0: the beginning
  uint64_t segment = 0;   // how many instructions the window stands for
  uint64_t measured = 0;  // of them, those that are measured
};

class WindowSchedule {
 public:
  static constexpr uint32_t kSegments = 32;  // of a stratum

  explicit WindowSchedule(const WindowOptions& options);

  [[nodiscard]] const Stretch& now() const { return now_; }
  /// How much is in windows from the next segment on [per million]; 0: as before.
  void set_share(uint32_t per_million) {
    if (per_million != 0) options_.per_million = per_million;
  }
  /// Goes on to the next stretch, which may be empty.
  void next();

 private:
  void begin_segment();
  [[nodiscard]] uint64_t length() const;

  WindowOptions options_;
  std::mt19937_64 random_;
  Stretch now_;
  uint32_t per_million_ = 0;  // of the segment under way
  uint64_t segment_end_ = 0;
  uint64_t place_ = 0;          // of the next window
  uint32_t segments_left_ = 0;  // of the stratum, behind the one under way
};

}  // namespace culprit::counting
