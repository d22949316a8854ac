#include "scan/run/measure.h"

#include <algorithm>
#include <fmt/format.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/names.h"
#include "base/wait_status.h"
#include "mix/instruction_kinds.h"
#include "mix/instruction_mix.h"
#include "model/counts.h"
#include "model/profile_merger.h"
#include "recording/signals.h"
#include "scan/cells.h"
#include "scan/command_words.h"
#include "scan/costs.h"
#include "scan/loop_counts.h"
#include "scan/place_table.h"
#include "scan/plan.h"
#include "scan/run/float_status.h"
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

/// Where the first event of a kind happened: "kernel.cc:12", "kernel+0x11a0", "".
std::string describe_place(const FloatEventPlace& found, CodeIndex& code) {
  if (found.path.empty()) return "";
  const Profile& profile = code.profile();
  for (size_t i = 0; i < profile.images.size(); ++i) {
    const ImageId image(i);
    if (code.module(image) != found.path) continue;
    const std::string line = find_own_line(code, {image, FileOffset(found.file_offset)});
    if (!line.empty()) return line;
  }
  return fmt::format("{}+{:#x}", base_name(found.path), found.file_offset);
}

/// Runs it natively, and writes what it found as the cell's label has it.
Result<std::string> find_float_events(const MeasureOptions& options, const std::string& runs,
                                      CodeIndex& code) {
  ASSIGN_OR_RETURN(const std::vector<std::string> command, fill_words(options.command, runs));
  Result<std::vector<FloatEventPlace>> found = Error{""};
  {
    ASSIGN_OR_RETURN(const Redirected redirected, Redirected::make("/dev/null"));
    found = watch_float_events(command, options.native_limit_ns);
  }
  if (!found) return fmt::format("{}{}", kFloatUnknown, found.error().message);
  if (found->empty()) return std::string(kFloatNothing);
  std::string text;
  for (const FloatEventPlace& one : *found) {
    const std::string place = describe_place(one, code);
    text += fmt::format("{}{}{}{}", text.empty() ? "" : "\n", float_event_name(one.event),
                        place.empty() ? "" : "\t", place);
  }
  return text;
}

/// Whether the facts have the functions of all these places.
bool cover(const ImageFacts& facts, const std::vector<FileOffset>& offsets) {
  return std::ranges::all_of(offsets, [&](FileOffset offset) {
    const auto after = std::ranges::upper_bound(facts.functions, offset, {}, &FunctionFact::begin);
    return after != facts.functions.begin() && offset < std::prev(after)->end;
  });
}

/// The facts that are known of these images; their demand goes.
std::map<ImageId, const ImageFacts*> take_known(const MeasureOptions& options,
                                                const Profile& profile,
                                                std::vector<ImageDemand>& demand) {
  std::map<ImageId, const ImageFacts*> known;
  if (!options.known_facts) return known;
  std::erase_if(demand, [&](const ImageDemand& one) {
    const ImageFacts* const facts = options.known_facts(profile.images[one.image.value]);
    if (facts == nullptr || !cover(*facts, one.offsets)) return false;
    known.emplace(one.image, facts);
    return true;
  });
  return known;
}

uint64_t count_instructions(const Profile& profile) {
  uint64_t instructions = 0;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location&, size_t event, const Sum& sum) {
      if (profile.strings.text(profile.events[event].name) == "instructions") {
        instructions += sum.value;
      }
    });
  }
  return instructions;
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
  const bool is_chosen_here = options.runs.empty();
  if (!is_chosen_here) RETURN_IF_ERROR(check_runs(options.runs));
  Measured measured;
  // Who ran it does not matter; the runs themselves are what differences are between.
  Projection projection;
  projection.processes = Projection::Processes::none;
  projection.threads = false;
  projection.time_slices = false;
  ProfileMerger merger(projection);
  std::map<ImageId, Fd> held;
  std::vector<uint64_t> to_run = options.runs;
  if (is_chosen_here) to_run.assign(kUsualRuns.begin(), kUsualRuns.end());
  const uint64_t most = to_run.back();
  for (size_t i = 0; i < to_run.size() && !measured.crashed; ++i) {
    const uint64_t runs = to_run[i];
    SimulateOptions simulate;
    ASSIGN_OR_RETURN(simulate.command, fill_words(options.command, write_runs(runs, most)));
    simulate.plugin_path = options.plugin_path;
    simulate.machine = options.machine;
    simulate.watcher = options.watcher;
    simulate.branches = false;  // who calls whom is of no use here
    Result<Simulation> simulation = Error{""};
    {
      ASSIGN_OR_RETURN(const Redirected redirected, Redirected::make(options.output_file));
      SignalGuard signals;
      simulate.control = &signals;
      simulation = run_simulated(simulate, nullptr);
    }
    if (!simulation) return simulation.error();
    Recording& recording = simulation->recording;
    label_run(recording.profile.strings, recording.run(), kRunsLabel, std::to_string(runs));
    measured.runs.push_back(runs);
    if (is_chosen_here && i == 0 && count_instructions(recording.profile) > kManyInstructions) {
      to_run = {runs};
      to_run.insert(to_run.end(), kFewRuns.begin(), kFewRuns.end());
    }
    measured.remarks = recording.remarks;
    if (recording.command_wait_status != 0) {
      measured.crashed = WIFSIGNALED(recording.command_wait_status);
      measured.failure =
          fmt::format("{} at {} runs", describe_wait_status(recording.command_wait_status), runs);
    }
    keep_held(recording, merger.add(recording.profile), held);
  }
  measured.profile = merger.take();
  std::ranges::sort(measured.runs);
  if (measured.crashed) return measured;
  keep_what_differs(measured.profile);
  SnapshotOptions snapshot;
  snapshot.with_source = options.with_source;
  snapshot.use_debuginfod = false;
  std::vector<ImageDemand> demand = collect_demand(measured.profile);
  const std::map<ImageId, const ImageFacts*> known = take_known(options, measured.profile, demand);
  RETURN_IF_ERROR(make_facts(
      measured.profile, demand, held, snapshot,
      [&](ImageId image, const ImageFacts& facts) -> Result<void> {
        measured.facts.insert_or_assign(image, facts);
        return {};
      },
      [](size_t, size_t) { return true; }, measured.profile.ledger));
  const FactsLookup lookup = [&](ImageId image) -> const ImageFacts* {
    if (const auto found = known.find(image); found != known.end()) return found->second;
    const auto found = measured.facts.find(image);
    return found == measured.facts.end() ? nullptr : &found->second;
  };
  if (const uint64_t unknown = add_instruction_mix(measured.profile, lookup); unknown > 0) {
    measured.profile.ledger.note(fmt::format(
        "{} instructions whose code is not known are in no kind (flops, moves, ...)", unknown));
  }
  CodeIndex code(measured.profile, lookup);
  ASSIGN_OR_RETURN(measured.float_events,
                   find_float_events(options, write_runs(measured.runs.back(), most), code));
  return measured;
}

}  // namespace culprit::scan
