#pragma once

// StackSampler: call stacks beside what the collector counts, slowly, by a clock of their own on
// each CPU. Whole stacks come through the rings of perf_event, as those of `culprit record -a`;
// user code's are copied and walked by unwind tables.
//
//     drain():  rings ─→ SampleProcessor (its own profile) ─→ rows of the epoch's profile
//
// A process has the name of its command alone there, and no cgroup. What becomes of the stacks in
// an epoch: model/stacks_beside.h.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "model/builder.h"
#include "recording/recording.h"
#include "records/user_stack.h"

namespace culprit {

struct StackOptions {
  double rate_hz = 0;       // on each CPU
  double budget_ratio = 0;  // of each CPU's time: beyond it no samples are taken for a while
  double sample_cost_ns = 0;
  MakeUnwindStack make_unwinder;
};

/// Sums since the start of an epoch.
struct StackTotals {
  uint64_t samples = 0;
  uint64_t lost = 0;     // no room in the rings
  uint64_t rest_ns = 0;  // without samples: they were beyond the budget
  uint64_t cpu_ns = 0;   // of the daemon, for reading and walking
  bool is_full = false;  // the epoch has as many different stacks as there is room for

  void add(const StackTotals& other);
};

class StackSampler {
 public:
  /// Errors: the whole system may not be sampled with stacks.
  static Result<StackSampler> start(StackOptions options);
  StackSampler(StackSampler&&) noexcept;
  StackSampler& operator=(StackSampler&&) noexcept;
  ~StackSampler();

  /// The stacks of the last epoch are forgotten; contexts of those to come have this label.
  void begin_epoch(std::string_view label);
  /// Adds what was sampled since the last time to an epoch, whose event 0 is time.
  void drain(ProfileBuilder& epoch);
  /// Another period, at random near the one asked for, so that no program is in step with it for
  /// long. Call it every few seconds: each call costs a part of a period.
  void change_period();
  /// Adds what is left, of code whose compiler may still have named it. Files of images, and
  /// facts of code made at run time, by the epoch's rows.
  struct Files {
    std::map<ImageId, Fd> held;
    std::vector<std::pair<ImageId, ImageFacts>> jit_facts;
  };
  Files end_epoch(ProfileBuilder& epoch);

  /// Clocks on the CPUs that are online now. Call it between two epochs.
  Result<void> reopen();
  void pause();
  void resume();

  [[nodiscard]] double rate_hz() const;
  [[nodiscard]] StackTotals totals() const;
  [[nodiscard]] uint64_t ring_bytes() const;
  /// Readable when a ring is half full.
  [[nodiscard]] std::span<const int> descriptors() const;

 private:
  struct State;
  explicit StackSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace culprit
