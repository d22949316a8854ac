#pragma once

// SampleProcessor: turns a stream of event records, in the order of time, into a
// Profile. It knows the kernel only by its records and by what /proc tells of
// living processes, so kernel rings and the shim's rings feed the same class.
//
//   record ──→ RecordFollower ──→ ProfileBuilder
//                 │        └─ samples in code without a file ─→ WaitingSamples
//                 └─ address → image: LiveImages opens its file while the process lives
//
// Use: make one; describe the run in builder(); name what to follow; process()
// every record; flush() about once a second; finish() at the end.

#include <cstdint>
#include <linux/perf_event.h>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "collect/stream/off_cpu.h"
#include "follow/data_symbols.h"
#include "follow/sample_regions.h"
#include "model/builder.h"
#include "recording/recording.h"
#include "records/record.h"
#include "records/record_layout.h"
#include "records/user_stack.h"

namespace culprit {

struct ProcessorOptions {
  bool all_processes = false;  // keep every task's samples, not only those followed
  bool stacks = false;         // count call stacks
  bool kernel_stacks = false;  // count those of samples in the kernel, apart
  size_t frames_limit = 0;     // stacks of so many frames were cut; 0: somebody else counts them
  std::map<uint64_t, size_t> event_of_id;  // rows of the events; empty: there is one
  std::vector<uint64_t> periods = {};      // of the events, for samples that do not say theirs
  RecordLayout layout = {.branch_sample_type = PERF_SAMPLE_BRANCH_ANY};  // of the samples
  std::optional<OffCpuEvents> off_cpu = {};  // samples of `waiting` are switches away from a task
  SampleRegions* regions = nullptr;          // of the samples; null: they are not told apart
  MakeUnwindStack make_unwinder;             // for samples with stack copies; empty: they have none
  ReadDataSymbols read_data = {};            // of files in which sampled data lies; empty: of none
};

class SampleProcessor {
 public:
  explicit SampleProcessor(const ProcessorOptions& options);
  SampleProcessor(const SampleProcessor&) = delete;
  SampleProcessor& operator=(const SampleProcessor&) = delete;
  ~SampleProcessor();

  /// Tables to fill in by the caller: machine, runs, events, environment, ledger. A run and the
  /// event of the samples (row 0) must be there before the first sample.
  ProfileBuilder& builder();

  /// Counts `pid` from its next exec on, and its descendants.
  void follow_command(pid_t pid);
  /// Counts a running process from now on, and its descendants: threads, names and mappings
  /// are read from /proc. False: it is gone.
  bool follow_running(pid_t pid);
  /// Follows every process there is: a system-wide recording.
  void follow_all_running();

  /// Records come in the order of time (small disorder does no harm).
  void process(const Record& record);

  /// Begins another run of the same tasks, to which the samples of further records belong.
  void begin_run(const Run& run);

  /// Waits that go on now end at `now_ns` (CLOCK_MONOTONIC): the recording does.
  void end_waits(uint64_t now_ns);

  /// Hands what is new to the sink (which may be empty) and forgets its counts.
  Result<void> flush(const RecordSink& sink);

  /// Reads what JIT compilers left, resolves the last addresses and gives everything away:
  /// profile, held files, JIT facts, samples, lost. The processor is empty then.
  Recording finish();

  [[nodiscard]] uint64_t samples() const;  // counted ones
  [[nodiscard]] uint64_t lost() const;
  /// Samples, by row of their event, that the CPU does not call exact (EXACT_IP).
  [[nodiscard]] const std::map<size_t, uint64_t>& inexact() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culprit
