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
#include "scan/run/scan_file.h"
#include "simulate/counts/machine_file.h"
#include "simulate/find_machine.h"

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

class Driver {
 public:
  Driver(const ScanOptions& options, ScanFile& file, std::string scratch)
      : options_(options), file_(file), scratch_(std::move(scratch)) {}

  Result<ScanOutcome> run(std::vector<CellJob> jobs,
                          const std::function<bool(const ScanProgress&)>& progress) {
    const uint64_t start_ns = monotonic_ns();
    const size_t total = jobs.size();
    const size_t at_once = options_.jobs > 0 ? options_.jobs : count_usable_cpus();
    size_t next = 0;
    Result<void> good;
    while (good && (next < total || !workers_.empty())) {
      while (good && next < total && workers_.size() < at_once)
        good = begin(std::move(jobs[next++]));
      if (good) good = take_ended();
      const double elapsed_s = static_cast<double>(monotonic_ns() - start_ns) * 1e-9;
      outcome_.elapsed_s = elapsed_s;
      if (!progress({outcome_.done, outcome_.failed, total, elapsed_s})) {
        outcome_.is_interrupted = true;
        break;
      }
      if (!workers_.empty()) std::this_thread::sleep_for(CellProcess::kLookEvery);
    }
    outcome_.left = total - outcome_.done;
    workers_.clear();  // kills them
    if (!good) return good.error();
    return outcome_;
  }

 private:
  Result<void> begin(CellJob job) {
    job.scratch = fmt::format("{}/{}", scratch_, begun_++);
    ASSIGN_OR_RETURN(CellProcess worker, CellProcess::start(options_.setting, std::move(job)));
    workers_.push_back(std::move(worker));
    return {};
  }

  Result<void> take_ended() {
    Result<void> good;
    for (size_t i = 0; i < workers_.size() && good;) {
      if (!workers_[i].has_ended()) {
        ++i;
        continue;
      }
      good = take(workers_[i]);
      workers_[i].remove_folder();
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return good;
  }

  Result<void> take(const CellProcess& worker) {
    ++outcome_.done;
    if (worker.left_profile()) {
      RETURN_IF_ERROR(file_.add(cell_profile_path(worker.job().scratch), last_was_measured_));
      if (!last_was_measured_) ++outcome_.failed;
      return {};
    }
    ++outcome_.failed;
    return file_.add(worker.make_failure());
  }

  const ScanOptions& options_;
  ScanFile& file_;
  std::string scratch_;
  std::vector<CellProcess> workers_;
  ScanOutcome outcome_;
  size_t begun_ = 0;
  bool last_was_measured_ = false;
};

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
  ASSIGN_OR_RETURN(const TemporaryFolder scratch, TemporaryFolder::make());
  ASSIGN_OR_RETURN(ScanOutcome outcome,
                   Driver(options, file, scratch.path()).run(std::move(jobs), progress));
  outcome.kept = kept;
  RETURN_IF_ERROR(file.close());
  return outcome;
}

}  // namespace culprit::scan
