#pragma once

// Runs one program at several loop counts under the software PMU: what costs are differences of.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/image_facts.h"
#include "model/profile.h"
#include "simulate/end_with_culprit.h"
#include "simulate/machine/machine.h"

namespace culprit::scan {

/// Facts that are there already of an image that several programs have, a library; nullptr: none.
using KnownFacts = std::function<const ImageFacts*(const Image&)>;

struct MeasureOptions {
  std::vector<std::string> command;  // words; {runs} in them stands for the loop count
  std::vector<uint64_t> runs;        // ascending, two at least; empty: as loop_counts.h says
  std::optional<simulate::MachineModel> machine;  // none: no caches and no cycles
  std::string plugin_path;
  std::string output_file;                    // where the program's output goes
  bool with_source = false;                   // the text of source lines among the facts
  KnownFacts known_facts;                     // need not be made, if they cover what has counts
  const EndWatcher* watcher = nullptr;        // as SimulateOptions has it
  uint64_t native_limit_ns = 10'000'000'000;  // of the native run that looks for overflow
};

struct Measured {
  std::vector<uint64_t> runs;  // ascending
  /// A run for each loop count, labelled with it; counts of the places where they differ, and the
  /// sums of all as Count rows.
  Profile profile;
  std::map<ImageId, ImageFacts> facts;  // that were made
  std::string failure;                  // "exit status 3 at 300 runs"; "": every run ended well
  bool crashed = false;
  std::string float_events;          // as kFloatLabel has it
  std::vector<std::string> remarks;  // of the engine, for the terminal
};

/// What a run counts, by name.
std::vector<std::string> counted_events(bool has_machine);

/// `measured.runs` are where nobody chose those of loop_counts.h.
/// Errors: it cannot be run or simulated at all
Result<Measured> measure(const MeasureOptions& options);

}  // namespace culprit::scan
