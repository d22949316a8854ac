#include "simulate/simulate.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/text.h"
#include "base/time.h"
#include "host/describe_machine.h"
#include "model/cut_short.h"
#include "model/engine.h"
#include "model/profile_merger.h"
#include "recording/describe_run.h"
#include "recording/run_loop.h"
#include "simulate/counts/machine_file.h"
#include "simulate/counts/tenures_file.h"
#include "simulate/counts/windows_file.h"
#include "simulate/counts_folder.h"
#include "simulate/end_with_culprit.h"
#include "simulate/image_accounts.h"
#include "simulate/line_places.h"
#include "simulate/missing_range.h"
#include "simulate/qemu_engine.h"
#include "simulate/simulated_profile.h"
#include "simulate/window_pace.h"

namespace culprit {
namespace {

constexpr uint64_t kLookEveryNs = 100'000'000;
// What is not saved yet is lost with a kill -9. Saving takes a fiftieth of the time at most.
constexpr uint64_t kSaveEveryNs = 2'000'000'000;
constexpr uint64_t kSaveShare = 50;

/// Prefetchers learn from accesses to all sets: with a sample of them there are none.
simulate::MachineModel machine_for(const SimulateOptions& options) {
  simulate::MachineModel machine = *options.machine;
  if (options.sample_sets > 1) {
    machine.prefetch.stream = machine.prefetch.stride = false;
    machine.prefetch.code_lines = 0;
  }
  return machine;
}

bool has_cycles(const SimulateOptions& options) {
  return options.machine.has_value() && options.cycles;
}

void describe_machine_model(const simulate::MachineModel& machine, Profile& profile) {
  profile.environment["simulate.machine"] = machine.name;
  if (!machine.core_of.empty()) profile.environment["simulate.core"] = machine.core_of;
  if (!machine.caches_of.empty()) profile.environment["simulate.caches"] = machine.caches_of;
  if (!machine.calibrated_date.empty()) {
    profile.environment["simulate.calibrated"] = machine.calibrated_date;
  }
}

/// One simulation, from the start of the command to its end.
class SimulationRun final : public RunSource {
 public:
  SimulationRun(const SimulateOptions& options, const SimulationEngine& engine,
                const EngineCommand& command, CountsFolder& folder,
                const simulate::SetSample& sample,
                const std::function<void(const SimulateProgress&)>& progress,
                const SaveProfile& save)
      : options_(options),
        engine_(engine),
        command_(command),
        folder_(folder),
        detail_{.machine = options.machine.has_value(),
                .cycles = has_cycles(options),
                .sampled = !sample.is_all(),
                .windows = options.windows.are_wanted()},
        sample_(sample),
        progress_(progress),
        save_(save),
        profile_(detail_, sample, options.branches) {
    if (options.native)
      pace_.emplace(static_cast<double>(options.budget_ns), options.native->cpu_ns);
  }

  Result<Simulation> run();

  void begin() override { start_ns_ = monotonic_ns(); }
  void take(uint64_t now_ns) override;
  [[nodiscard]] uint64_t next_take_ns(uint64_t now_ns) const override {
    return now_ns + kLookEveryNs;
  }
  Result<void> flush(uint64_t since_start_ns) override;
  void end() override { take_ended(false); }

 private:
  Result<void> prepare(RunTargets& targets);
  void describe_profile();
  void look();
  void spend_budget();
  void choose_windows(double elapsed_ns);
  void take_ended(bool all);
  Profile profile_so_far() const;
  void note_what_runs_on(const RunEnd& end);
  Result<Simulation> complete(const RunEnd& end);
  Result<void> read_counts(const CountsFolder::File& file, bool is_running);
  Result<void> add_counts(const CountsFolder::File& file);
  counting::Tenures take_tenures(const ProcessCounts& counts, const std::string& path);
  void explain_end(const ProcessCounts& counts);
  void note_order_of_threads(Ledger& ledger) const;
  void note_ranges(Ledger& ledger);
  void note_sample(Ledger& ledger);
  void note_windows(Ledger& ledger) const;

  const SimulateOptions& options_;
  const SimulationEngine& engine_;
  const EngineCommand& command_;
  CountsFolder& folder_;
  SimulatedDetail detail_;
  const simulate::SetSample& sample_;
  const std::function<void(const SimulateProgress&)>& progress_;
  const SaveProfile& save_;
  SimulatedProfile profile_;
  ImageAccounts accounts_;
  uint64_t start_ns_ = 0;
  bool cannot_save_ = false;
  uint64_t running_instructions_ = 0;  // of processes that have not ended
  uint64_t running_ticks_ = 0;         // likewise, as far as they can be told
  uint64_t ended_ticks_ = 0;           // of the others
  bool is_budget_spent_ = false;
  std::optional<WindowPace> pace_;
  uint32_t least_windows_ = 0;  // that it has chosen; 0: none but the options'
  uint64_t processes_ = 0;
  uint64_t clock_ticks_ = 0;
  uint64_t processes_in_turn_ = 0;  // with threads that took turns
  uint64_t processes_as_run_ = 0;   // with threads that ran as they came
  std::vector<std::string> remarks_;
};

Result<Simulation> SimulationRun::run() {
  describe_profile();
  std::optional<EndWatcher> own;
  if (options_.watcher == nullptr) own.emplace();
  const EndWithCulprit watched(own ? *own : *options_.watcher, folder_.path());
  RunTargets targets;
  RETURN_IF_ERROR(prepare(targets));
  ASSIGN_OR_RETURN(const RunEnd end, run_loop(*this, targets,
                                              {.flush_every_ns = save_ ? kSaveEveryNs : 0,
                                               .flush_share = kSaveShare,
                                               .control = options_.control}));
  note_what_runs_on(end);
  take_ended(true);
  return complete(end);
}

void SimulationRun::note_what_runs_on(const RunEnd& end) {
  Profile& profile = profile_.builder().profile();
  Ledger& ledger = profile.ledger;
  const bool has_ended = end.wait_status.has_value();
  if (end.stop != StopRequest::none) {
    profile.environment[std::string(kCutShort)] = "an interrupt";
    ledger.note(fmt::format("the simulation was interrupted: counted is what ran until then{}",
                            has_ended ? "" : ", the command was still running"));
  }
  if (is_budget_spent_) {
    const std::string budget = format_duration_ns(static_cast<double>(options_.budget_ns));
    profile.environment[std::string(kCutShort)] = "a budget of " + budget;
    ledger.note(fmt::format(
        "the program was ended when the budget of {} was spent: counted is what ran until then",
        budget));
    remarks_.push_back(
        fmt::format("the budget of {} was spent before the program was over: the counts "
                    "are of its beginning",
                    budget));
  }
  if (has_ended && !folder_.living().empty()) {
    ledger.note(
        fmt::format("{} processes were still running when the command ended: counted up to then",
                    folder_.living().size()));
  }
}

/// Has the program at the same addresses in each run: caches and TLBs index by them.
Result<void> SimulationRun::prepare(RunTargets& targets) {
  constexpr unsigned long kAsk = 0xffff'ffff;
  const int before = ::personality(kAsk);
  const bool is_fixed =
      before >= 0 && ::personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) >= 0;
  const Result<void> prepared = targets.prepare({command_.words, {}, &command_.environment});
  if (is_fixed) ::personality(static_cast<unsigned long>(before));
  if (!is_fixed) {
    profile_.builder().profile().ledger.note(
        "address space randomization could not be turned off: misses differ from run to run");
  }
  return prepared;
}

/// "32768/8": bytes and ways, as locality's answers read it.
std::string describe_cache(const simulate::CacheGeometry& cache) {
  return fmt::format("{}/{}", cache.size_bytes, cache.ways);
}

/// What a profile with locality says of the caches that it is of.
void describe_caches(const simulate::MachineModel& machine,
                     std::map<std::string, std::string>& environment) {
  environment["simulate.line-bytes"] = std::to_string(machine.line_bytes);
  environment["simulate.l1i"] = describe_cache(machine.l1i);
  environment["simulate.l1d"] = describe_cache(machine.l1d);
  if (machine.l2.present()) environment["simulate.l2"] = describe_cache(machine.l2);
  if (machine.l3.present()) environment["simulate.l3"] = describe_cache(machine.l3);
  environment["simulate.latencies"] =
      fmt::format("{}/{}/{}/{}", machine.l1d.latency_cycles, machine.l2.latency_cycles,
                  machine.l3.latency_cycles, machine.memory.latency_cycles);
}

void SimulationRun::describe_profile() {
  ProfileBuilder& builder = profile_.builder();
  Profile& profile = builder.profile();
  profile.machine = describe_machine();
  profile.machine.architecture = command_.architecture;
  builder.begin_run(describe_run(builder, describe_targets(options_.command, {}, "", false)));
  mark_simulated(profile.strings, builder.run());
  if (options_.machine) describe_machine_model(*options_.machine, profile);
  if (options_.sample_sets > 1) {
    profile.environment["simulate.sets"] = fmt::format("1/{},{},{}", options_.sample_sets,
                                                       options_.sample_seed, options_.sample_first);
  }
  if (options_.windows.are_wanted()) {
    profile.environment["simulate.windows"] = fmt::format(
        "{},{}", static_cast<double>(options_.windows.per_million) / 1e6, options_.windows.seed);
  }
  if (options_.locality != simulate::Locality::off) {
    profile.environment["simulate.locality"] =
        options_.locality == simulate::Locality::l1 ? "l1" : "all";
    describe_caches(*options_.machine, profile.environment);
  }
  if (options_.skip_instructions != 0) {
    profile.environment["simulate.skip"] = std::to_string(options_.skip_instructions);
  }
  if (options_.deterministic) profile.environment["simulate.deterministic"] = "on";
  if (options_.objects) {
    profile.environment["simulate.objects"] = objects::word_of(options_.grouping);
  }
  if (options_.regions) profile.environment["simulate.regions"] = "on";
  if (options_.max_instructions != 0) {
    profile.environment["simulate.max-instructions"] = std::to_string(options_.max_instructions);
  }
}

void SimulationRun::look() {
  take_ended(false);
  running_instructions_ = running_ticks_ = 0;
  for (const auto& [key, file] : folder_.living()) {
    const Result<CountsSummary> summary = read_counts_summary(file.fd.get(), file.path);
    if (!summary) continue;  // said when it is read as a whole
    running_instructions_ += summary->instructions;
    running_ticks_ += summary->estimated_ticks;
    profile_.see(*summary);
  }
}

/// Ends all processes that are simulated, as a kill does: what they have counted is there. Numbers
/// of processes in other namespaces are not ours to use.
void SimulationRun::spend_budget() {
  is_budget_spent_ = true;
  const uint64_t own = counting::find_pid_namespace();
  for (const auto& [number, file] : folder_.living()) {
    const std::optional<ListedImage> image = folder_.read_image(number);
    const bool is_known = image && own != 0 && image->pid_namespace == own;
    if (is_known && file.pid > 1) ::kill(static_cast<pid_t>(file.pid), SIGKILL);
  }
}

/// The beginning is modelled whole, and so tells nothing of the rest.
void SimulationRun::choose_windows(double elapsed_ns) {
  if (profile_.instructions() + running_instructions_ < 2 * options_.windows.first) return;
  const double done = simulate::to_cycles(ended_ticks_ + running_ticks_) / options_.native->cycles;
  const uint32_t before = pace_->share();
  pace_->look(elapsed_ns, std::min(done, 1.0));
  if (pace_->share() == before) return;
  folder_.set_window_share(pace_->share());
  least_windows_ = std::min(least_windows_ == 0 ? before : least_windows_, pace_->share());
}

void SimulationRun::take(uint64_t now_ns) {
  look();
  if (options_.budget_ns != 0 && now_ns - start_ns_ >= options_.budget_ns) spend_budget();
  if (pace_) choose_windows(static_cast<double>(now_ns - start_ns_));
  if (!progress_) return;
  progress_({static_cast<double>(now_ns - start_ns_) * 1e-9,
             profile_.instructions() + running_instructions_,
             simulate::to_cycles(ended_ticks_ + running_ticks_)});
}

/// Where it cannot be saved the program goes on: there may be room at its end.
Result<void> SimulationRun::flush(uint64_t) {
  if (cannot_save_) return {};
  if (const Result<void> saved = save_(profile_so_far()); !saved) {
    cannot_save_ = true;
    remarks_.push_back(saved.error().message);
  }
  return {};
}

/// What the processes that still run have counted is in it, too: it is read again when they have
/// ended.
Profile SimulationRun::profile_so_far() const {
  SimulatedProfile living(detail_, sample_, options_.branches);
  Profile so_far = profile_.so_far();
  living.builder().profile().machine = so_far.machine;
  living.builder().profile().environment = so_far.environment;
  for (const auto& [key, file] : folder_.living()) {
    const Result<CountsSummary> summary = read_counts_summary(file.fd.get(), file.path);
    const Result<CountsFile> counts = CountsFile::read(file.fd.get(), file.path);
    if (!summary || !counts) continue;  // said when it has ended
    living.see(*summary);
    if (!living.add(*counts, {})) continue;
  }
  const std::vector<Run> runs = so_far.runs;
  ProfileMerger merger(std::move(so_far));
  merger.add(living.finish().profile);
  Profile all = merger.take();
  all.runs = runs;  // it is one
  for (Process& process : all.processes) process.run = RunId(0u);
  for (Context& context : all.contexts) context.run = RunId(0u);
  if (options_.locality != simulate::Locality::off) {
    all.ledger.note("of processes that had not ended locality is lost: it is told at their end");
  }
  return all;
}

void SimulationRun::take_ended(bool all) {
  for (const CountsFolder::File& file : folder_.take_ended(all)) {
    ++processes_;
    const Result<void> added = read_counts(file, all);
    if (added) continue;
    profile_.builder().profile().ledger.add(ledger::kDamagedRecords);
    remarks_.push_back(added.error().message);
  }
}

/// What a running process counts while it is read is not missing.
Result<void> SimulationRun::read_counts(const CountsFolder::File& file, bool is_running) {
  const auto ask = [&] {
    const Result<CountsSummary> summary = read_counts_summary(file.fd.get(), file.path);
    return summary ? summary->executions : 0;
  };
  const uint64_t so_far = is_running ? ask() : 0;
  const uint64_t before = profile_.executions();
  Result<void> added = add_counts(file);
  accounts_.add(file.image, {.instructions = profile_.executions() - before,
                             .counted = is_running ? so_far : ask(),
                             .was_running = is_running});
  return added;
}

Result<void> SimulationRun::add_counts(const CountsFolder::File& file) {
  ASSIGN_OR_RETURN(const CountsFile counts, CountsFile::read(file.fd.get(), file.path));
  const ProcessCounts& process = counts.process();
  clock_ticks_ += process.clock_ticks;
  ended_ticks_ += process.estimated_ticks;
  if (process.threads > 1) ++(process.is_interleaved ? processes_in_turn_ : processes_as_run_);
  explain_end(process);
  ::unlink(counting::windows_file_path(file.path).c_str());
  return profile_.add(counts, take_tenures(process, file.path + ".tenures"));
}

counting::Tenures SimulationRun::take_tenures(const ProcessCounts& counts,
                                              const std::string& path) {
  if (options_.locality == simulate::Locality::off) return {};
  Result<counting::Tenures> tenures = counting::read_tenures(path);
  ::unlink(path.c_str());
  if (tenures) return *std::move(tenures);
  profile_.builder().profile().ledger.note(
      fmt::format("{} ({}) did not end by exit or exec: its locality is lost",
                  printable(counts.program), counts.pid));
  return {};
}

/// The engine's own words about an end that is its doing, not the program's.
void SimulationRun::explain_end(const ProcessCounts& counts) {
  const bool has_avx512 = std::any_of(
      counts.sites.begin(), counts.sites.end(),
      [](const counts_file::Site& site) { return (site.flags & counts_file::kEvex) != 0; });
  std::string remark = engine_.explain_end(counts.program, counts.messages, has_avx512);
  if (!remark.empty()) remarks_.push_back(std::move(remark));
}

/// Whether another run would count the same.
void SimulationRun::note_order_of_threads(Ledger& ledger) const {
  if (processes_in_turn_ > 0) {
    ledger.note(fmt::format("threads took turns by simulated time, in {} process{}",
                            processes_in_turn_, processes_in_turn_ == 1 ? "" : "es"));
  }
  if (processes_as_run_ == 0) return;
  ledger.note(fmt::format(
      "threads ran as they came, in {} process{}: what they wait for, and take from each other's "
      "caches, differs from run to run{}",
      processes_as_run_, processes_as_run_ == 1 ? "" : "es",
      options_.deterministic ? "; the process could not be watched" : " (--deterministic)"));
}

std::vector<std::string> paths_of_images(const Profile& profile) {
  std::vector<std::string> paths;
  for (const Image& image : profile.images) paths.push_back(profile.strings.text(image.path));
  return paths;
}

/// Those that were asked for and are nowhere.
void SimulationRun::note_ranges(Ledger& ledger) {
  const Profile& profile = profile_.builder().profile();
  for (const objects::Range& range : options_.ranges) {
    const auto is_it = [&](const DataObject& object) {
      return object.kind == ObjectKind::range && profile.strings.text(object.name) == range.name;
    };
    if (std::any_of(profile.objects.begin(), profile.objects.end(), is_it)) continue;
    const std::string remark =
        range.line != 0 ? fmt::format("range '{}': {}:{} allocated nothing", printable(range.name),
                                      printable(range.file), range.line)
                        : fmt::format("range '{}': {}", printable(range.name),
                                      describe_missing(range, paths_of_images(profile)));
    ledger.note(remark);
    remarks_.push_back(remark);
  }
}

void SimulationRun::note_sample(Ledger& ledger) {
  if (options_.sample_sets == 1) return;
  profile_.settle_sample();
  constexpr const char* kNotCovered =
      "TLBs, mispredictions and prefetchers, which sets do not tell, are not covered";
  const std::string first = format_thousands(options_.sample_first);
  const bool has_locality = options_.locality != simulate::Locality::off;
  if (!profile_.has_drawn_sets()) {
    profile_.builder().profile().environment.erase("simulate.sets");  // nothing is an estimate
    ledger.note(
        fmt::format("no process made {} accesses: all cache sets were simulated; {} (--sets all)",
                    first, kNotCovered));
  } else if (options_.sample_first == 0) {
    ledger.note(fmt::format("misses are estimates, of 1 in {} cache sets; {}", options_.sample_sets,
                            kNotCovered));
  } else {
    ledger.note(
        fmt::format("misses{} are estimates: of all sets for the first {} accesses of a "
                    "process, then of 1 in {} cache sets, and of those that were hot; {}",
                    has_locality ? " and what becomes of lines" : "", first, options_.sample_sets,
                    kNotCovered));
  }
}

void SimulationRun::note_windows(Ledger& ledger) const {
  if (!options_.windows.are_wanted()) return;
  if (!profile_.has_estimates()) {
    ledger.note(fmt::format("no process ran {} instructions: all was simulated, not windows only",
                            format_thousands(options_.windows.first)));
    return;
  }
  const auto percent = [](uint32_t per_million) { return static_cast<double>(per_million) / 1e4; };
  const uint32_t wanted = options_.windows.per_million;
  const std::string share = least_windows_ == 0 || least_windows_ == wanted
                                ? fmt::format("{:g} %", percent(wanted))
                                : fmt::format("{:.2g} to {:g} %, as there was time for,",
                                              percent(least_windows_), percent(wanted));
  ledger.note(fmt::format(
      "cycles, misses and mispredictions are estimates from windows with {} of the instructions, "
      "warm-ups included, after the first {} of a process, which were simulated whole; "
      "executions, accesses and bytes are exact",
      share, format_thousands(options_.windows.first)));
}

Result<Simulation> SimulationRun::complete(const RunEnd& end) {
  if (processes_ == 0) {
    RETURN_IF_ERROR(engine_.check(command_));
    return Error{fmt::format("{} did not load culprit's plugin '{}'; what it says is above",
                             command_.words.front(), options_.plugin_path)};
  }
  Simulation simulation;
  simulation.instructions = profile_.instructions();
  simulation.processes = processes_;
  simulation.clock_ticks = clock_ticks_;
  Ledger& ledger = profile_.builder().profile().ledger;
  if (simulation.instructions == 0 && ledger.amount(ledger::kOutsideRegion) > 0) {
    remarks_.push_back("nothing was simulated: the program never came to what --roi or --skip say");
  }
  note_sample(ledger);
  note_windows(ledger);
  accounts_.close(folder_, ledger);
  note_order_of_threads(ledger);
  note_ranges(ledger);
  ledger.note("simulated in user mode: the kernel's own work is not covered");
  simulation.recording = profile_.finish();
  const Ledger& all = simulation.recording.profile.ledger;
  if (const uint64_t missing = all.amount(ledger::kMissingInstructions); missing > 0) {
    remarks_.push_back(
        fmt::format("{} instructions are missing: the ledger has more", format_thousands(missing)));
  }
  Recording& recording = simulation.recording;
  recording.engine = EngineChoice::simulate;
  end.describe(recording);
  if (is_budget_spent_) recording.command_wait_status = 0;  // the end was ours
  recording.remarks = std::move(remarks_);
  return simulation;
}

counting::CountingOptions counting_options(const SimulateOptions& options,
                                           const std::string& folder) {
  return {.folder = folder,
          .limit = options.max_instructions != 0 ? options.max_instructions : UINT64_MAX,
          .skip = options.skip_instructions,
          .locality = options.locality,
          .cycles = has_cycles(options),
          .sample_sets = options.sample_sets,
          .sample_seed = options.sample_seed,
          .sample_first = options.sample_first,
          .windows = options.windows,
          .deterministic = options.deterministic,
          .objects = options.objects,
          .grouping = options.grouping,
          .regions = options.regions};
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

}  // namespace

Result<std::string> check_simulated(const SimulateOptions& options) {
  if (options.command.empty()) return Error{"nothing to simulate: no command"};
  const auto engine = make_qemu_engine(options.plugin_path, options.sysroot);
  ASSIGN_OR_RETURN(EngineCommand command, engine->make_command(options.command, own_environment(),
                                                               counting_options(options, "")));
  RETURN_IF_ERROR(engine->check(command));
  return std::move(command.architecture);
}

Result<Simulation> run_simulated(const SimulateOptions& options,
                                 const std::function<void(const SimulateProgress&)>& progress,
                                 const SaveProfile& save) {
  if (options.command.empty()) return Error{"nothing to simulate: no command"};
  if (options.plugin_path.empty()) {
    return Error{"cannot find libculprit_qemu.so: keep it beside culprit"};
  }
  simulate::SetSample sample;
  if (options.machine) {
    ASSIGN_OR_RETURN(sample,
                     simulate::SetSample::make(*options.machine, {.one_of = options.sample_sets,
                                                                  .seed = options.sample_seed}));
  }
  ASSIGN_OR_RETURN(CountsFolder folder, CountsFolder::make());
  if (options.machine) {
    RETURN_IF_ERROR(counting::write_machine_file(counting::machine_file_path(folder.path()),
                                                 machine_for(options)));
  }
  if (!options.region.path.empty()) {
    RETURN_IF_ERROR(
        counting::write_region_file(counting::region_file_path(folder.path()), options.region));
  }
  for (size_t number = 0; number < options.functions.size(); ++number) {
    RETURN_IF_ERROR(counting::write_region_file(counting::function_file_path(folder.path(), number),
                                                options.functions[number]));
  }
  if (!options.ranges.empty()) {
    std::vector<objects::Range> ranges = options.ranges;
    RETURN_IF_ERROR(find_code_of_ranges(ranges, options.command.front()));
    RETURN_IF_ERROR(objects::write_ranges_file(objects::ranges_file_path(folder.path()), ranges));
  }
  if (!options.allocators.empty()) {
    RETURN_IF_ERROR(objects::write_allocators_file(objects::allocators_file_path(folder.path()),
                                                   options.allocators));
  }
  const auto engine = make_qemu_engine(options.plugin_path, options.sysroot);
  ASSIGN_OR_RETURN(const EngineCommand command,
                   engine->make_command(options.command, own_environment(),
                                        counting_options(options, folder.path())));
  return SimulationRun(options, *engine, command, folder, sample, progress, save).run();
}

}  // namespace culprit
