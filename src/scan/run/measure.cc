#include "scan/run/measure.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/wait_status.h"
#include "mix/instruction_kinds.h"
#include "mix/instruction_mix.h"
#include "model/profile_merger.h"
#include "recording/signals.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/plan.h"
#include "scan/run/redirected.h"
#include "simulate/simulate.h"
#include "simulate/simulated_events.h"
#include "snapshot/snapshot.h"

namespace culprit::scan {
namespace {

/// What was held open of an image, under the number that it has in the whole.
void keep_held(Recording& recording, const std::vector<ImageId>& images,
               std::map<ImageId, Fd>& held) {
  for (auto& [image, fd] : recording.held) {
    if (image.value < images.size()) held.try_emplace(images[image.value], std::move(fd));
  }
}

}  // namespace

std::vector<std::string> counted_events(bool has_machine) {
  std::vector<std::string> names;
  for (const SimulatedEvent& event :
       simulated_events({.machine = has_machine, .cycles = has_machine})) {
    names.emplace_back(event.name);
  }
  names.insert(names.end(), kMixEvents.begin(), kMixEvents.end());
  return names;
}

Result<Measured> measure(const MeasureOptions& options) {
  RETURN_IF_ERROR(check_runs(options.runs));
  Measured measured;
  // Who ran it does not matter; the runs themselves are what differences are between.
  Projection projection;
  projection.processes = Projection::Processes::none;
  projection.threads = false;
  projection.time_slices = false;
  ProfileMerger merger(projection);
  std::map<ImageId, Fd> held;
  std::vector<std::string> texts = write_runs(options.runs);
  for (size_t i = 0; i < options.runs.size() && !measured.crashed; ++i) {
    SimulateOptions simulate;
    ASSIGN_OR_RETURN(simulate.command, fill_words(options.command, texts[i]));
    simulate.plugin_path = options.plugin_path;
    simulate.machine = options.machine;
    Result<Simulation> simulation = Error{""};
    {
      ASSIGN_OR_RETURN(const Redirected redirected, Redirected::make(options.output_file));
      SignalGuard signals;
      simulate.control = &signals;
      simulation = run_simulated(simulate, nullptr);
    }
    if (!simulation) return simulation.error();
    Recording& recording = simulation->recording;
    label_run(recording.profile.strings, recording.run(), kRunsLabel,
              std::to_string(options.runs[i]));
    // Who calls whom is of no use here.
    recording.profile.branch_counts.clear();
    recording.profile.fall_throughs.clear();
    measured.remarks = recording.remarks;
    if (recording.command_wait_status != 0) {
      measured.crashed = WIFSIGNALED(recording.command_wait_status);
      measured.failure = fmt::format(
          "{} at {} runs", describe_wait_status(recording.command_wait_status), options.runs[i]);
    }
    keep_held(recording, merger.add(recording.profile), held);
  }
  measured.profile = merger.take();
  if (measured.crashed) return measured;
  keep_what_differs(measured.profile);
  SnapshotOptions snapshot;
  snapshot.with_source = options.with_source;
  snapshot.use_debuginfod = false;
  RETURN_IF_ERROR(make_facts(
      measured.profile, collect_demand(measured.profile), held, snapshot,
      [&](ImageId image, const ImageFacts& facts) -> Result<void> {
        measured.facts.insert_or_assign(image, facts);
        return {};
      },
      [](size_t, size_t) { return true; }, measured.profile.ledger));
  const FactsLookup lookup = [&](ImageId image) -> const ImageFacts* {
    const auto found = measured.facts.find(image);
    return found == measured.facts.end() ? nullptr : &found->second;
  };
  if (const uint64_t unknown = add_instruction_mix(measured.profile, lookup); unknown > 0) {
    measured.profile.ledger.note(fmt::format(
        "{} instructions whose code is not known are in no kind (flops, moves, ...)", unknown));
  }
  return measured;
}

}  // namespace culprit::scan
