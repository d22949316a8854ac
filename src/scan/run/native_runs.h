#pragma once

// Programs run natively, one at a time, for the CPU time that they take and the events that the
// kernel counts meanwhile.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/native_costs.h"
#include "scan/run/cell_worker.h"
#include "scan/run/event_sets.h"

namespace culprit::scan {

/// Asked several times a second while a program runs; an error stops it and is handed on.
using CheckStop = std::function<Result<void>()>;

/// What one run took.
struct NativeRun {
  uint64_t cpu_ns = 0;                               // of the program and its children
  std::vector<std::optional<uint64_t>> counts = {};  // of the set's events, as read_counts()
};

/// One run of a command, in the setup file's folder. {runs} in its words is the loop count; what
/// it prints goes nowhere. `set`: what is counted of ScanSetting::counted_events.
/// Errors: it cannot be started, does not end within Plan::timeout_s, or with status 0; an event
///         that the kernel refuses
Result<NativeRun> run_natively(const ScanSetting& setting, const std::vector<std::string>& command,
                               uint64_t runs, const EventSet& set, const CheckStop& check_stop);

/// The larger of two loop counts to time a program at: it takes some 20 ms, beside which start-up,
/// and how much that varies, are small. `run` gives the CPU time at a loop count; it is tried with
/// `least` first.
/// Errors: those of `run`
Result<uint64_t> choose_timed_runs(uint64_t least,
                                   const std::function<Result<uint64_t>(uint64_t runs)>& run);

/// The smaller one.
uint64_t find_least_runs(uint64_t most_runs);

/// What is to be measured, and what became of it.
struct NativeProgram {
  std::vector<std::string> command;  // words, {runs} among them
  uint64_t iterations_per_run = 1;
  PairedCounts timing = {};
  std::vector<PairedCounts> counts = {};  // of ScanSetting::counted_events
  std::string failure = {};               // "": none
};

/// Whether what was asked for of a program is known within Plan::native_percent(): its time, if
/// that was, and its counts (is_within()).
bool is_known(const ScanSetting& setting, const NativeProgram& program);

/// Measures programs in rounds, each of which has a pair of runs of every program in turn for each
/// set of events, so that all see the same moods of the machine. A program that is known is left
/// out of further rounds; after kMostPairs it is left as it is.
/// Errors: those of `check_stop`
Result<void> measure_natively(const ScanSetting& setting, std::vector<NativeProgram>& programs,
                              const CheckStop& check_stop);

inline constexpr size_t kMostPairs = 42;

}  // namespace culprit::scan
