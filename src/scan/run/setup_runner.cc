#include "scan/run/setup_runner.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <thread>

#include "base/text.h"
#include "base/time.h"
#include "base/wait_status.h"
#include "binary/elf_file.h"
#include "scan/cells.h"
#include "scan/costs.h"
#include "scan/expectations.h"
#include "scan/loop_counts.h"
#include "scan/print_answer.h"
#include "scan/run/cell_process.h"
#include "scan/run/folder_guard.h"
#include "scan/run/inputs.h"
#include "scan/run/native_runs.h"
#include "store/profile_file.h"

namespace culprit::scan {
namespace {

/// Less is not believed of an iteration. Units: [ns]
constexpr double kLeastNs = 1e-3;

/// A hash of what the program executes and reads: not of debug information, which names flags.
std::string hash_program(const std::string& path) {
  const Result<Fd> fd = open_readable(path);
  if (!fd) return path;
  const Result<MappedFile> mapped = MappedFile::map(fd->get(), path);
  if (!mapped) return path;
  const auto as_text = [](std::span<const std::byte> bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const Result<ElfFile> elf = ElfFile::open(mapped->bytes());
  if (!elf) return hash_text(as_text(mapped->bytes()));
  std::string all;
  for (const char* name : {".init", ".text", ".fini", ".rodata", ".data", ".tdata"}) {
    if (const auto content = elf->section(name)) all += as_text(*content);
    all += '\n';
  }
  return hash_text(all);
}

}  // namespace

Result<SetupRunner> SetupRunner::make(SetupRunnerOptions options,
                                      std::function<bool(const SearchProgress&)> progress) {
  ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::make());
  return SetupRunner(std::move(options), std::move(folder), std::move(progress));
}

SetupRunner::SetupRunner(SetupRunnerOptions options, TemporaryFolder folder,
                         std::function<bool(const SearchProgress&)> progress)
    : options_(std::move(options)),
      folder_(std::move(folder)),
      progress_(std::move(progress)),
      start_ns_(monotonic_ns()) {
  // Two runs tell what an iteration costs. A third would find kernels that break the rules, which
  // is a scan's business.
  std::vector<uint64_t>& runs = options_.setting.plan.runs;
  if (runs.empty()) runs.assign(kUsualRuns.begin(), kUsualRuns.end());
  runs = {runs.front(), runs.back()};
}

double SetupRunner::elapsed_s() const {
  return static_cast<double>(monotonic_ns() - start_ns_) * 1e-9;
}

Result<void> SetupRunner::report(const std::string& doing) const {
  if (progress_({setups_.size(), runs_, elapsed_s(), doing})) return {};
  return Error{"interrupted"};
}

PlannedCell SetupRunner::make_cell(const Setup& setup, size_t cell) const {
  PlannedCell planned = options_.cells[cell];
  planned.name.setup = setup.name;
  planned.variables = setup.variables;
  planned.variables.insert(planned.variables.end(), planned.name.parameters.begin(),
                           planned.name.parameters.end());
  return planned;
}

Result<void> SetupRunner::read_program(const std::string& folder, Program& program) const {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(cell_profile_path(folder)));
  ASSIGN_OR_RETURN(const Profile profile, reader.read_profile());
  const std::vector<Cell> cells = find_cells(profile);
  if (cells.empty()) {
    program.failure = "it left no cell";
    return {};
  }
  program.output = cells.front().detail(kOutputLabel);
  if (!cells.front().is_measured()) {
    const std::string& message = cells.front().detail(kMessageLabel);
    program.failure =
        cells.front().detail(kStatusLabel) + ": " + message.substr(0, message.find('\n'));
    return {};
  }
  const std::vector<std::optional<CellCosts>> costs = {CostReader(profile).compute(
      cells.front(), [](const Location&) { return 0; }, CostDetail::totals)};
  const size_t event =
      find_event(profile, options_.setting.machine ? "sim:cycles" : "instructions");
  if (!costs.front() || event == SIZE_MAX || costs.front()->totals[event].value <= 0) {
    program.failure = "an iteration costs nothing: it was optimised away";
    return {};
  }
  program.log_count = std::log(costs.front()->totals[event].value);
  if (const size_t flops = find_event(profile, "flops"); flops != SIZE_MAX) {
    program.flops = costs.front()->totals[flops].value;
  }
  const Quantities quantities(profile, cells, options_.presets);
  ASSIGN_OR_RETURN(const std::vector<Broken> broken,
                   check_expectations(options_.setting.plan, quantities, cells, costs));
  if (!broken.empty()) {
    program.failure = "not as expected: " + broken.front().text;
  } else if (quantities.is_idle(*costs.front())) {
    program.failure = "an iteration neither loads, stores nor computes: it was optimised away";
  }
  return {};
}

Screened SetupRunner::judge(const BuiltSetup& setup) const {
  Screened screened;
  for (size_t i = 0; i < setup.programs.size(); ++i) {
    const Program& program = setup.programs[i];
    screened.failure = program.failure;
    if (screened.failure.empty() && !options_.accepts_other_output &&
        program.output != setups_.front().programs[i].output) {
      screened.failure = fmt::format("prints something else than {} does (--any-output allows it)",
                                     setups_.front().name);
    }
    const double base_flops = setups_.front().programs[i].flops;
    if (screened.failure.empty() && base_flops >= 1 && program.flops == 0) {
      screened.failure = fmt::format(
          "an iteration computes nothing, and {} floating-point operations with {}: it was "
          "optimised away",
          format_cost({base_flops, 0}), setups_.front().name);
    }
    if (!screened.failure.empty()) {
      if (setup.programs.size() > 1) {
        screened.failure = options_.cells[i].name.text() + ": " + screened.failure;
      }
      return screened;
    }
    screened.programs += program.hash;
    screened.log_count += program.log_count / static_cast<double>(setup.programs.size());
  }
  return screened;
}

Result<std::vector<Screened>> SetupRunner::screen(const std::vector<Levels>& levels) {
  struct Work {
    CellProcess process;
    size_t setup;
    size_t cell;
  };
  const size_t first = setups_.size();
  const size_t cells = options_.cells.size();
  const size_t at_once = options_.jobs > 0 ? options_.jobs : count_usable_cpus();
  std::vector<Setup> made;
  for (const Levels& one : levels) {
    ASSIGN_OR_RETURN(Setup setup, make_setup(options_.setting.plan.search, one));
    setups_.push_back({setup.name, std::vector<Program>(cells)});
    made.push_back(std::move(setup));
  }
  std::vector<Work> works;
  size_t next = 0;
  size_t done = 0;
  const auto begin = [&]() -> Result<void> {
    const size_t setup = first + next / cells;
    PlannedCell cell = make_cell(made[next / cells], next % cells);
    const std::string folder = fmt::format("{}/{}.{}", folder_.path(), setup, next % cells);
    Program& program = setups_[setup].programs[next % cells];
    program.path = cell_program_path(options_.setting, cell, folder);
    ASSIGN_OR_RETURN(program.command, run_command(options_.setting, cell, program.path));
    const std::string compiler = compilers_.find(cell);
    ASSIGN_OR_RETURN(CellProcess process,
                     CellProcess::start(options_.setting,
                                        {std::move(cell), compiler, folder, {}, watcher_.get()}));
    works.push_back({std::move(process), setup, next % cells});
    ++next;
    runs_ += 2;
    return {};
  };
  while (done < levels.size() * cells) {
    while (next < levels.size() * cells && works.size() < at_once) RETURN_IF_ERROR(begin());
    for (size_t i = 0; i < works.size();) {
      Work& work = works[i];
      if (!work.process.has_ended()) {
        ++i;
        continue;
      }
      Program& program = setups_[work.setup].programs[work.cell];
      if (work.process.left_profile()) {
        RETURN_IF_ERROR(read_program(work.process.job().scratch, program));
      } else {
        const std::vector<Cell> failed = find_cells(work.process.make_failure());
        program.failure = failed.front().detail(kMessageLabel);
      }
      const FolderGuard folder(options_.setting.folder);
      if (program.failure.empty()) program.hash = hash_program(program.path);
      works.erase(works.begin() + static_cast<std::ptrdiff_t>(i));
      ++done;
    }
    RETURN_IF_ERROR(
        report(fmt::format("building and counting {} of {} setups", done / cells, levels.size())));
    if (!works.empty()) std::this_thread::sleep_for(CellProcess::kLookEvery);
  }
  std::vector<Screened> screened;
  for (size_t i = first; i < setups_.size(); ++i) screened.push_back(judge(setups_[i]));
  return screened;
}

Result<uint64_t> SetupRunner::run_once(const std::vector<std::string>& command, uint64_t runs) {
  ++runs_;
  ASSIGN_OR_RETURN(const NativeRun run, run_natively(options_.setting, command, runs, {},
                                                     [this] { return report("timing"); }));
  return run.cpu_ns;
}

Result<std::vector<double>> SetupRunner::time(const std::vector<size_t>& trials) {
  const size_t cells = options_.cells.size();
  // Base chooses the iterations: other setups are timed with as many.
  while (timed_runs_.size() < cells) {
    const std::vector<std::string>& command = setups_.front().programs[timed_runs_.size()].command;
    const Result<uint64_t> chosen = choose_timed_runs(
        options_.setting.plan.runs.back(), [&](uint64_t runs) { return run_once(command, runs); });
    if (!chosen) return chosen.error().with("cannot time base: " + chosen.error().message);
    timed_runs_.push_back(*chosen);
  }
  std::vector<double> log_ns(trials.size());
  // Each round begins with another one, so that none is always the first.
  const size_t first = timed_rounds_++ % trials.size();
  for (size_t i = 0; i < trials.size(); ++i) {
    const size_t at = (i + first) % trials.size();
    const BuiltSetup& setup = setups_[trials[at]];
    RETURN_IF_ERROR(report(fmt::format("timing {} setups", trials.size())));
    for (size_t cell = 0; cell < cells; ++cell) {
      const uint64_t most = timed_runs_[cell];
      const uint64_t least = find_least_runs(most);
      const Result<uint64_t> small = run_once(setup.programs[cell].command, least);
      const Result<uint64_t> large = small ? run_once(setup.programs[cell].command, most) : small;
      if (!large) {
        return large.error().with(
            fmt::format("cannot time '{}': {}", printable(setup.name), large.error().message));
      }
      const double ns = (static_cast<double>(*large) - static_cast<double>(*small)) /
                        static_cast<double>(most - least) /
                        static_cast<double>(options_.setting.plan.iterations_per_run);
      log_ns[at] += std::log(std::max(ns, kLeastNs)) / static_cast<double>(cells);
    }
  }
  return log_ns;
}

}  // namespace culprit::scan
