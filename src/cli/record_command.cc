// `culprit record` and `culprit PROGRAM`: record into a file, complete it with
// symbols, say what became of it, and end as the program ended.

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <utility>

#include "base/program_files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/complete_profile.h"
#include "cli/offer_page.h"
#include "cli/output_file.h"
#include "cli/reading_data.h"
#include "cli/record_events.h"
#include "cli/region_requests.h"
#include "cli/repeated_runs.h"
#include "cli/roomy_file.h"
#include "cli/run_program.h"
#include "cli/simulating.h"
#include "cli/terminal.h"
#include "cli/unwinding.h"
#include "collect/count/count_rows.h"
#include "collect/regions/region_profile.h"
#include "collect/regions/regions_recording.h"
#include "host/describe_machine.h"
#include "model/labelled_runs.h"
#include "recording/rank.h"
#include "recording/scoped_environment.h"
#include "recording/signals.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

void announce(const RecordCommand& command, const RecordOptions& options) {
  if (options.engine == EngineChoice::simulate) {
    const Slowdown slowdown = expect_slowdown_of(command);
    print_message(
        fmt::format("simulating in user mode: expect {} to {} times the program's own time",
                    slowdown.least, slowdown.most));
    return;
  }
  const bool is_substitute = options.groups.empty() && !describe_machine().has_pmu;
  print_message(fmt::format("{}sampling {}", is_substitute ? "this machine has no PMU; " : "",
                            describe_sampling(options)));
}

/// A whole program, sampled by time because nothing counts here: the message that names what does,
/// where that helps: there is something to explain, it takes minutes and not hours, and the program
/// can be simulated. "" elsewhere.
std::string advise_second_run(const RecordCommand& command, const RecordOptions& options,
                              const Recording& recording) {
  constexpr uint64_t kFewSamples = 100;
  constexpr double kLongestNs = 30e9;
  const bool is_usual = !command.quiet && command.record.engine == EngineChoice::automatic &&
                        options.groups.empty() && !options.command.empty();
  if (!is_usual || !has_simulation() || describe_machine().has_pmu) return "";
  if (recording.samples < kFewSamples || recording.profile.runs.empty()) return "";
  const auto cpu_ns = static_cast<double>(recording.run().cpu_time_ns.value_or(0));
  if (!(cpu_ns > 0) || cpu_ns > kLongestNs) return "";
  RecordCommand second = command;
  second.simulate.command = options.command;
  second.windows_by_time = true;
  if (!prepare_second_run(second)) return "";
  const Slowdown slowdown = expect_slowdown_of(choose_windows(second, cpu_ns));
  return fmt::format(
      "for exact counts and what took the time: culprit record --engine timer+simulate (runs it "
      "once more, for {} to {})",
      format_duration_ns(slowdown.least * cpu_ns), format_duration_ns(slowdown.most * cpu_ns));
}

std::string describe_samples(const Recording& recording) {
  return fmt::format(
      "{} samples{}", format_thousands(recording.samples),
      recording.lost == 0 ? "" : fmt::format(", {} lost", format_thousands(recording.lost)));
}

/// ", 12 OpenMP constructs".
std::string describe_regions(size_t regions, bool is_simulated, Recording& recording) {
  if (regions == 0) {
    recording.remarks.push_back(
        fmt::format("no OpenMP construct was seen: --regions sees those of libgomp and of LLVM's "
                    "runtime in programs that {}",
                    is_simulated ? "have the symbols of one" : "are linked dynamically"));
  }
  return fmt::format(", {} OpenMP constructs", format_thousands(regions));
}

Result<RegionsRecording> prepare_regions(const RecordCommand& command, const RecordOptions& options,
                                         EventGroup* events) {
  ASSIGN_OR_RETURN(*events, find_region_events(command.region_events));
  ASSIGN_OR_RETURN(const RegionRequests requests, make_region_requests(command, *events));
  return RegionsRecording::prepare(options.command, find_regions_shim(), requests);
}

/// Adds what was measured, and says how much that is.
std::string add_measured_regions(RegionsRecording& regions, const EventGroup& events,
                                 Recording& recording) {
  Profile& profile = recording.profile;
  std::vector<EventId> rows;
  for (size_t i = 0; i < events.members.size(); ++i) rows.emplace_back(profile.events.size() + i);
  add_counted_events(profile, events);
  const RegionsRecording::Outcome outcome = regions.add_to(profile, rows);
  std::string amount = describe_regions(outcome.constructs, false, recording);
  recording.remarks.insert(recording.remarks.end(), outcome.remarks.begin(), outcome.remarks.end());
  return amount;
}

/// Samples the command, or what else is to be recorded; `flushed` says whether the file has
/// some of it already; `second` sees it, too.
Result<Recording> record_samples(const RecordOptions& options, bool quiet, ProfileWriter& writer,
                                 bool* flushed, std::optional<SecondRun>& second) {
  ProgressLine line;
  Result<Recording> recording = record(
      options,
      [&](const Profile& profile) {
        *flushed = true;
        if (second) second->see(profile);
        return writer.flush(profile);
      },
      [&](const RecordProgress& now) {
        if (quiet) return;
        line.show(fmt::format("running {:6.1f} s   {} samples   {} lost", now.elapsed_s,
                              format_thousands(now.samples), format_thousands(now.lost)));
      });
  line.clear();
  return recording;
}

/// The rule of thumb: events that take turns on the counters want a second each, at a steady
/// state. Source: Nowak, Levinthal, Zwaenepoel, ISPASS 2015, section 4.1.
void warn_of_short_turns(const RecordOptions& options, Recording& recording) {
  constexpr size_t kCounters = 4;
  if (options.groups.size() <= kCounters || recording.profile.runs.empty()) return;
  const double seconds = static_cast<double>(recording.run().duration_ns) * 1e-9;
  if (seconds >= static_cast<double>(options.groups.size())) return;
  recording.remarks.push_back(
      fmt::format("{} events took turns on the counters in {:.1f} s: with less than a second for "
                  "each, their numbers may not fit together",
                  options.groups.size(), seconds));
}

/// --machine and --sets, which are wrong whatever the program is.
Result<void> check_machine_options(const RecordCommand& command) {
  const EngineChoice engine = command.record.engine;
  if (engine != EngineChoice::simulate && engine != EngineChoice::timer_and_simulate) return {};
  RecordCommand whole = command;
  whole.region.clear();  // of the program
  RETURN_IF_ERROR(choose_simulation(whole));
  return {};
}

OutputRequest request_output(const RecordCommand& command) {
  OutputRequest request{command.output, OutputKind::profile, command.force, command.record.command};
  request.inputs.push_back(command.machine);
  request.inputs.push_back(command.cpu);
  return request;
}

void label_rank(const std::string& rank, Profile& profile) {
  const StringId name = profile.strings.intern(std::string(kRankLabel));
  const StringId number = profile.strings.intern(rank);
  for (Run& run : profile.runs) run.labels[name] = number;
}

/// Writes, completes and describes what was recorded; `amount` says how much that is.
/// Errors: it is not where it should be; it may be elsewhere then, as the message says.
Result<void> finish(const RecordCommand& command, const OutputFile& output, ProfileWriter writer,
                    Recording& recording, const std::string& amount) {
  if (!command.rank.empty()) label_rank(command.rank, recording.profile);
  ASSIGN_OR_RETURN(const std::string path,
                   close_where_there_is_room(writer, recording.profile, command.output));
  const bool is_elsewhere = path != command.output;
  if (is_elsewhere) output.give_back();
  if (command.symbolize) {
    ASSIGN_OR_RETURN(const SymbolizeOutcome outcome,
                     complete_profile(path, recording.held, recording.jit_facts, command.snapshot,
                                      command.quiet));
    if (outcome.interrupted) {
      print_message(
          fmt::format("interrupted while reading symbols; to complete the profile:\n"
                      "culprit symbolize {}",
                      printable(path)));
    }
  }
  if (is_elsewhere) {
    return Error{fmt::format("no space left for {}: the profile is {}", in_quotes(command.output),
                             in_quotes(path)),
                 ErrorKind::out_of_space};
  }
  if (command.quiet) return {};
  for (const std::string& remark : recording.remarks) print_message(remark);
  const bool is_kept = command.output_name.empty();
  print_message(fmt::format("{} -> {} ({})", amount,
                            printable(is_kept ? path : command.output_name), file_size_text(path)));
  return {};
}

/// A place for what is to be thrown away (-o /dev/null): a profile needs a file that can be read.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make() {
    std::string name = "/tmp/culprit-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      return errno_error("cannot make a folder in /tmp", errno);
    return ScratchFolder(std::move(name));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : name_(std::exchange(other.name_, "")) {}
  ScratchFolder& operator=(ScratchFolder&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~ScratchFolder() { remove(); }

  [[nodiscard]] std::string file() const { return name_ + "/culprit.profile"; }
  void remove() {
    std::error_code ignored;
    if (!name_.empty()) std::filesystem::remove_all(std::exchange(name_, ""), ignored);
  }

 private:
  explicit ScratchFolder(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

bool is_null_device(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
         status.st_rdev == makedev(1, 3);
}

int record_into_file(const RecordCommand& command, ScratchFolder* scratch);

}  // namespace

int run(const RecordCommand& command) {
  if (const std::optional<Rank> rank = find_rank(); rank && command.rank.empty()) {
    RecordCommand of_rank = command;
    of_rank.rank = rank->number;
    if (!is_null_device(command.output)) of_rank.output = name_of_rank(command.output, *rank);
    if (!command.quiet) {
      print_message(fmt::format("rank {}, by {}: the profile is {}", rank->number, rank->variable,
                                printable(of_rank.output)));
    }
    return run(of_rank);
  }
  if (command.repetitions > 1 || !command.compared.empty()) return record_repeatedly(command);
  if (!is_null_device(command.output)) return record_into_file(command, nullptr);
  Result<ScratchFolder> scratch = ScratchFolder::make();
  if (!scratch) return fail(scratch.error(), kOurFailure);
  RecordCommand thrown_away = command;
  thrown_away.output = scratch->file();
  thrown_away.output_name = command.output;
  thrown_away.symbolize = thrown_away.symbolize && command.report_after;
  return record_into_file(thrown_away, &*scratch);
}

namespace {

int record_into_file(const RecordCommand& command, ScratchFolder* scratch) {
  if (const Result<void> good = check_machine_options(command); !good)
    return fail(good.error(), kOurFailure);
  Result<RecordOptions> chosen = choose_events(command);
  if (!chosen) return fail(chosen.error(), kOurFailure);
  RecordOptions& options = *chosen;
  options.shim_path = find_shim();
  options.make_unwinder = find_unwinder();
  options.read_data = find_data_reader(command.snapshot);
  if (!options.command.empty()) {
    if (const auto problem = check_program(options.command.front())) {
      return fail(problem->error, problem->status);
    }
  }
  if (options.engine == EngineChoice::simulate) {
    const Result<SimulateOptions> simulation = choose_simulation(command);
    if (!simulation) return fail(simulation.error(), kOurFailure);
  }
  std::optional<SecondRun> second;
  if (options.engine == EngineChoice::timer_and_simulate) {
    Result<SecondRun> prepared = prepare_second_run(command);
    if (!prepared) return fail(prepared.error(), kOurFailure);
    second = *std::move(prepared);
    options.engine = EngineChoice::automatic;  // without events: the timer, or what replaces it
  }
  std::optional<RegionsRecording> regions;
  EventGroup region_events;
  if (command.regions && options.engine != EngineChoice::simulate) {
    Result<RegionsRecording> prepared = prepare_regions(command, options, &region_events);
    if (!prepared) return fail(prepared.error(), kOurFailure);
    regions.emplace(*std::move(prepared));
  }
  survive_file_size_limit();
  Result<OutputFile> output = OutputFile::claim(request_output(command));
  if (!output) return fail(output.error(), kOurFailure);
  Result<ProfileWriter> writer = ProfileWriter::create(command.output);
  if (!writer) {
    output->give_back();
    return fail(writer.error(), kOurFailure);
  }
  if (!command.quiet) announce(command, options);

  bool flushed = false;
  std::string amount;
  Result<void> simulated;
  Result<Recording> recording = [&]() -> Result<Recording> {
    SignalGuard signals;  // of both runs, if there are two
    if (options.engine == EngineChoice::simulate) {
      const auto save = [&](const Profile& profile) {
        flushed = true;
        return writer->replace(profile);
      };
      ASSIGN_OR_RETURN(Recording simulation, run_simulation(command, signals, save, &amount));
      if (command.regions) {
        amount += describe_regions(count_constructs(simulation.profile), true, simulation);
      }
      return simulation;
    }
    options.control = &signals;
    Result<Recording> done = [&] {
      if (regions) options.regions = regions->sampled();
      const ScopedEnvironment environment(regions ? regions->environment()
                                                  : std::map<std::string, std::string>());
      return record_samples(options, command.quiet, *writer, &flushed, second);
    }();
    ASSIGN_OR_RETURN(Recording sampled, std::move(done));
    amount = describe_samples(sampled);
    if (regions) amount += add_measured_regions(*regions, region_events, sampled);
    warn_of_short_turns(options, sampled);
    if (second) simulated = run_second(*second, command, options, sampled, &amount);
    return sampled;
  }();
  if (!recording) {
    if (!flushed) {
      writer = Error{};  // closes the file before it goes
      output->give_back();
    } else {
      print_message(fmt::format("what was recorded before is in {}", printable(command.output)));
    }
    return fail(recording.error(), status_of(recording.error()));
  }

  if (const Result<void> done = finish(command, *output, *std::move(writer), *recording, amount);
      !done) {
    return fail(done.error(), kOurFailure);
  }
  if (!simulated) return fail(simulated.error(), kOurFailure);
  if (command.report_after) {
    ReportCommand report;
    report.file = command.output;
    if (const int status = run(report); status != 0) return kOurFailure;
    if (const Result<void> done = offer_page(command.output); !done) {
      return fail(done.error(), kOurFailure);
    }
  }
  // What else could be done comes after what was asked for.
  const std::string advice = advise_second_run(command, options, *recording);
  if (!advice.empty()) print_message(advice);
  if (scratch != nullptr) scratch->remove();  // we may end by a signal
  return recording->command_started ? end_like(recording->command_wait_status) : 0;
}

}  // namespace

}  // namespace culprit
