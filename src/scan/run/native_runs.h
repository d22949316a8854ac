#pragma once

// Programs run natively, one at a time, for the CPU time that they take.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "scan/run/cell_worker.h"
#include "scan/timing.h"

namespace culprit::scan {

/// Asked several times a second while a program runs; an error stops it and is handed on.
using CheckStop = std::function<Result<void>()>;

/// CPU time of one run of a command, in the setup file's folder. {runs} in its words is the loop
/// count; what it prints goes nowhere.
/// Units:  [ns], of the program and its children
/// Errors: it cannot be started, does not end within Plan::timeout_s, or with status 0
Result<uint64_t> run_natively(const ScanSetting& setting, const std::vector<std::string>& command,
                              uint64_t runs, const CheckStop& check_stop);

/// The larger of two loop counts to time a program at: it takes some 20 ms, beside which start-up,
/// and how much that varies, are small. `run` gives the CPU time at a loop count; it is tried with
/// `least` first.
/// Errors: those of `run`
Result<uint64_t> choose_timed_runs(uint64_t least,
                                   const std::function<Result<uint64_t>(uint64_t runs)>& run);

/// The smaller one.
uint64_t find_least_runs(uint64_t most_runs);

/// What is to be timed, and what became of it.
struct TimedProgram {
  std::vector<std::string> command;  // words, {runs} among them
  uint64_t iterations_per_run = 1;
  PairedTimes timing = {};
  std::string failure = {};  // "": none
};

/// Times programs in rounds, each of which has a pair of runs of every program in turn, so that all
/// see the same moods of the machine. A program whose interval is within Plan::time_percent is left
/// out of further rounds; after kMostPairs it is left as it is.
/// Errors: those of `check_stop`
Result<void> time_programs(const ScanSetting& setting, std::vector<TimedProgram>& programs,
                           const CheckStop& check_stop);

inline constexpr size_t kMostPairs = 42;

}  // namespace culprit::scan
