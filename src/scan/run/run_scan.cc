#include "scan/run/run_scan.h"

#include <algorithm>
#include <fmt/format.h>
#include <glob.h>
#include <map>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "scan/answer.h"
#include "scan/run/cell_process.h"
#include "scan/run/compilers.h"
#include "scan/run/folder_guard.h"
#include "scan/run/inputs.h"
#include "scan/run/native_runs.h"
#include "scan/run/peak_rates.h"
#include "scan/run/scan_file.h"
#include "simulate/counts/machine_file.h"
#include "simulate/find_machine.h"
#include "store/profile_file.h"

namespace culprit::scan {
namespace {

std::string name_key(const CellName& name) {
  std::string key = name.program + '\0' + name.setup;
  Variables parameters = name.parameters;
  std::sort(parameters.begin(), parameters.end(),
            [](const Variable& a, const Variable& b) { return a.name < b.name; });
  for (const Variable& one : parameters) key += '\0' + one.name + '\0' + one.value;
  return key;
}

/// Cells that are timed together: of one program at one size, with all setups, which are to be
/// compared with each other. Without times all cells are one group.
std::vector<std::vector<CellJob>> group_jobs(const Plan& plan, std::vector<CellJob> jobs) {
  std::vector<std::vector<CellJob>> groups;
  std::map<std::string, size_t> places;
  for (CellJob& job : jobs) {
    CellName name = job.cell.name;
    name.setup.clear();
    const std::string key = plan.native_percent() > 0 ? name_key(name) : "";
    const auto [place, is_new] = places.try_emplace(key, groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(std::move(job));
  }
  return groups;
}

class Driver {
 public:
  Driver(const ScanOptions& options, ScanFile& file, std::string scratch,
         const std::function<bool(const ScanProgress&)>& progress)
      : options_(options),
        file_(file),
        scratch_(std::move(scratch)),
        progress_(progress),
        start_ns_(monotonic_ns()) {}

  Result<ScanOutcome> run(std::vector<CellJob> jobs) {
    total_ = jobs.size();
    Result<void> good;
    for (std::vector<CellJob>& group : group_jobs(options_.setting.plan, std::move(jobs))) {
      good = count(std::move(group));
      if (good && !outcome_.is_interrupted) good = time_and_add();
      if (!good || outcome_.is_interrupted) break;
    }
    outcome_.left = total_ - outcome_.done;
    workers_.clear();  // kills them
    if (!good) return good.error();
    return outcome_;
  }

 private:
  /// Builds and counts cells. Those that are to be timed are kept, with their programs.
  Result<void> count(std::vector<CellJob> jobs) {
    const size_t at_once = options_.jobs > 0 ? options_.jobs : count_usable_cpus();
    size_t next = 0;
    while (next < jobs.size() || !workers_.empty()) {
      while (next < jobs.size() && workers_.size() < at_once) {
        RETURN_IF_ERROR(begin(std::move(jobs[next++])));
      }
      RETURN_IF_ERROR(take_ended());
      if (!report(0)) break;
      if (!workers_.empty()) std::this_thread::sleep_for(CellProcess::kLookEvery);
    }
    return {};
  }

  /// Whether to go on.
  bool report(size_t timing) {
    outcome_.elapsed_s = static_cast<double>(monotonic_ns() - start_ns_) * 1e-9;
    const bool goes_on =
        progress_({outcome_.done, outcome_.failed, total_, outcome_.elapsed_s, timing});
    outcome_.is_interrupted = outcome_.is_interrupted || !goes_on;
    return goes_on;
  }

  Result<void> begin(CellJob job) {
    job.scratch = fmt::format("{}/{}", scratch_, begun_++);
    job.watcher = &watcher_;
    job.known_facts = [this](const Image& image) { return file_.find_library_facts(image); };
    ASSIGN_OR_RETURN(CellProcess worker, CellProcess::start(options_.setting, std::move(job)));
    workers_.push_back(std::move(worker));
    return {};
  }

  Result<void> take_ended() {
    for (size_t i = 0; i < workers_.size();) {
      if (!workers_[i].has_ended()) {
        ++i;
        continue;
      }
      CellProcess ended = std::move(workers_[i]);
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      ASSIGN_OR_RETURN(const bool is_to_be_timed, needs_time(ended));
      if (is_to_be_timed) {
        counted_.push_back(std::move(ended));
      } else {
        RETURN_IF_ERROR(add(ended, {}));
      }
    }
    return {};
  }

  /// Whether it was counted, so that there is something to time.
  [[nodiscard]] Result<bool> needs_time(const CellProcess& worker) const {
    if (options_.setting.plan.native_percent() <= 0 || !worker.left_profile()) return false;
    ASSIGN_OR_RETURN(ProfileReader reader,
                     ProfileReader::open(cell_profile_path(worker.job().scratch)));
    ASSIGN_OR_RETURN(const Profile profile, reader.read_profile());
    const std::vector<Cell> cells = find_cells(profile);
    return !cells.empty() && cells.front().is_measured();
  }

  Result<void> time_and_add() {
    const ScanSetting& setting = options_.setting;
    std::vector<NativeProgram> programs;
    for (const CellProcess& cell : counted_) {
      const CellJob& job = cell.job();
      const std::string path = cell_program_path(setting, job.cell, job.scratch);
      ASSIGN_OR_RETURN(std::vector<std::string> command, run_command(setting, job.cell, path));
      programs.push_back({std::move(command), setting.plan.iterations_per_run});
    }
    const Result<void> timed = measure_natively(setting, programs, [&]() -> Result<void> {
      if (report(programs.size())) return {};
      return Error{"interrupted"};
    });
    if (!timed && outcome_.is_interrupted) return {};
    RETURN_IF_ERROR(timed);
    for (size_t i = 0; i < counted_.size(); ++i) {
      if (!programs[i].failure.empty()) {
        RETURN_IF_ERROR(
            add_failure(counted_[i], counted_[i].make_failure("run failed", programs[i].failure)));
        continue;
      }
      if (!is_known(setting, programs[i])) ++outcome_.unsure;
      RETURN_IF_ERROR(add(counted_[i], label_native(programs[i])));
    }
    counted_.clear();
    report(0);
    return {};
  }

  /// What native runs measured, as the cell's labels keep it.
  [[nodiscard]] CellDetails label_native(const NativeProgram& program) const {
    CellDetails labels = {{std::string(kTimingLabel), write_pairs(program.timing)}};
    const std::vector<CountedEvent>& events = options_.setting.counted_events;
    for (size_t i = 0; i < events.size(); ++i) {
      labels.emplace(std::string(kCountedLabelPrefix) + events[i].name,
                     write_pairs(program.counts[i]));
    }
    return labels;
  }

  /// Takes what a cell left into the file, and removes its folder.
  Result<void> add(const CellProcess& worker, const CellDetails& native) {
    if (!worker.left_profile()) return add_failure(worker, worker.make_failure());
    ++outcome_.done;
    bool is_measured = false;
    RETURN_IF_ERROR(file_.add(cell_profile_path(worker.job().scratch), native, is_measured));
    if (!is_measured) ++outcome_.failed;
    worker.remove_folder();
    return {};
  }

  Result<void> add_failure(const CellProcess& worker, const Profile& failure) {
    ++outcome_.done;
    ++outcome_.failed;
    RETURN_IF_ERROR(file_.add(failure));
    worker.remove_folder();
    return {};
  }

  const ScanOptions& options_;
  ScanFile& file_;
  std::string scratch_;
  const std::function<bool(const ScanProgress&)>& progress_;
  const EndWatcher watcher_;  // outlives the workers
  const EndWithCulprit ends_with_us_{watcher_, scratch_};
  uint64_t start_ns_;
  size_t total_ = 0;
  std::vector<CellProcess> workers_;
  std::vector<CellProcess> counted_;  // ended, and to be timed
  ScanOutcome outcome_;
  size_t begun_ = 0;
};

/// What native runs count here.
Result<void> choose_events(ScanSetting& setting) {
  ASSIGN_OR_RETURN(setting.counted_events, find_counted_events(setting.plan.events));
  ASSIGN_OR_RETURN(setting.event_sets,
                   choose_event_sets(setting.counted_events, [&](const EventSet& set) {
                     return fit_counters_here(setting.counted_events, set);
                   }));
  return {};
}

Result<std::vector<std::string>> find_programs(const ScanSetting& setting) {
  const FolderGuard folder(setting.folder);
  std::vector<std::string> programs;
  for (const std::string& pattern : setting.plan.programs) {
    glob_t found{};
    const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
    for (size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
      const std::string path = found.gl_pathv[i];
      if (std::find(programs.begin(), programs.end(), path) == programs.end()) {
        programs.push_back(path);
      }
    }
    ::globfree(&found);
    if (status != 0) {
      return Error{fmt::format("{}: scan.program: no file matches '{}'",
                               printable(setting.plan.file), printable(pattern))};
    }
  }
  return programs;
}

}  // namespace

Result<Plan> read_plan(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, uint64_t{16} << 20));
  return parse_plan(text, path);
}

Result<ScanSetting> read_setting(const std::string& path, const std::string& machines,
                                 const std::string& calibration) {
  ASSIGN_OR_RETURN(Plan plan, read_plan(path));
  return make_setting(std::move(plan), machines, calibration);
}

Result<ScanSetting> make_setting(Plan plan, const std::string& machines,
                                 const std::string& calibration) {
  ScanSetting setting;
  setting.plan = std::move(plan);
  const std::string& path = setting.plan.file;
  const size_t slash = path.rfind('/');
  setting.folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  setting.machine_text = setting.plan.machine;
  if (setting.plan.machine != "none") {
    ASSIGN_OR_RETURN(setting.machine, find_machine(setting.plan.machine, machines, calibration));
    // All its figures, as the engine is given them.
    ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::make());
    const std::string file = folder.path() + "/machine";
    RETURN_IF_ERROR(counting::write_machine_file(file, *setting.machine));
    ASSIGN_OR_RETURN(const std::string figures, read_file(file));
    setting.machine_text = hash_text(figures);
    setting.peak_flops = find_peak_flops(*setting.machine);
  }
  return setting;
}

Result<std::vector<PlannedCell>> find_planned_cells(const ScanSetting& setting,
                                                    const ScanChoice& choice) {
  ASSIGN_OR_RETURN(const std::vector<std::string> programs, find_programs(setting));
  ASSIGN_OR_RETURN(std::vector<PlannedCell> cells, make_cells(setting.plan, programs));
  std::erase_if(cells, [&](const PlannedCell& cell) {
    return !is_wanted(cell.name.setup, choice.setups) ||
           !is_wanted(cell.name.program, choice.programs);
  });
  // A mistake in a template is one mistake, not one for each cell.
  for (const PlannedCell& cell : cells) {
    RETURN_IF_ERROR(build_command(setting, cell, "out"));
    break;
  }
  return cells;
}

Result<std::vector<CellState>> find_states(const ScanSetting& setting,
                                           const std::vector<PlannedCell>& planned,
                                           const std::vector<Cell>& held) {
  std::map<std::string, const Cell*> known;
  for (const Cell& cell : held) {
    if (cell.label() == setting.label) known.emplace(name_key(cell.name), &cell);
  }
  Compilers compilers;
  FileHashes hashes;
  const FolderGuard folder(setting.folder);
  std::map<std::string, std::string> inputs;  // as stored → as they are now
  std::vector<CellState> states;
  for (const PlannedCell& cell : planned) {
    const auto found = known.find(name_key(cell.name));
    if (found == known.end()) {
      states.push_back(CellState::missing);
      continue;
    }
    const std::string& stored = found->second->detail(kInputsLabel);
    const auto [now, is_new] = inputs.try_emplace(stored);
    if (is_new) now->second = describe_inputs(parse_inputs(stored), hashes);
    ASSIGN_OR_RETURN(const std::string key,
                     compute_key(setting, cell, compilers.find(cell), now->second));
    if (key != found->second->detail(kKeyLabel)) {
      states.push_back(CellState::changed);
    } else {
      states.push_back(found->second->is_measured() ? CellState::done : CellState::failed);
    }
  }
  return states;
}

Result<ScanOutcome> run_scan(const ScanOptions& options,
                             const std::function<bool(const ScanProgress&)>& progress) {
  ASSIGN_OR_RETURN(const std::vector<PlannedCell> planned,
                   find_planned_cells(options.setting, options.choice));
  if (planned.empty()) return Error{"no cell of the plan matches --setup and --program"};
  ASSIGN_OR_RETURN(ScanFile file, ScanFile::open(options.output));
  ASSIGN_OR_RETURN(const std::vector<CellState> states,
                   find_states(options.setting, planned, file.cells()));
  Compilers compilers;
  std::vector<CellJob> jobs;
  size_t kept = 0;
  for (size_t i = 0; i < planned.size(); ++i) {
    const bool is_kept =
        states[i] == CellState::done || (states[i] == CellState::failed && !options.retry_failed);
    if (is_kept) {
      ++kept;
      continue;
    }
    jobs.push_back({planned[i], compilers.find(planned[i]), ""});
  }
  ScanOptions chosen = options;
  if (!jobs.empty()) RETURN_IF_ERROR(choose_events(chosen.setting));
  ASSIGN_OR_RETURN(const TemporaryFolder scratch, TemporaryFolder::make());
  ASSIGN_OR_RETURN(ScanOutcome outcome,
                   Driver(chosen, file, scratch.path(), progress).run(std::move(jobs)));
  outcome.kept = kept;
  RETURN_IF_ERROR(file.close());
  return outcome;
}

}  // namespace culprit::scan
