#pragma once

// Builds, counts and times setups for a search: cells as a scan's are (cell_process.h), whose
// programs stay until the end, and are run natively, one at a time, to be timed.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "scan/quantities.h"
#include "scan/run/cell_worker.h"
#include "scan/run/compilers.h"
#include "scan/search.h"

namespace culprit::scan {

struct SearchProgress {
  size_t screened = 0;  // setups
  uint64_t runs = 0;
  double elapsed_s = 0;
  std::string doing;  // "counting 12 setups"
};

struct SetupRunnerOptions {
  ScanSetting setting;                // with the machine that screens, if there is one
  std::vector<PlannedCell> cells;     // what is to be fast: setups and their variables are put in
  std::vector<Preset> presets;        // for the plan's expectations
  unsigned jobs = 0;                  // setups that are built and counted at once; 0: one a CPU
  bool accepts_other_output = false;  // of programs that print something else than the base's
};

class SetupRunner final : public TrialRunner {
 public:
  /// `progress` returns false to stop.
  /// Errors: a temporary folder cannot be made
  static Result<SetupRunner> make(SetupRunnerOptions options,
                                  std::function<bool(const SearchProgress&)> progress);

  Result<std::vector<Screened>> screen(const std::vector<Levels>& setups) override;
  Result<std::vector<double>> time(const std::vector<size_t>& trials) override;
  [[nodiscard]] uint64_t runs() const override { return runs_; }
  [[nodiscard]] double elapsed_s() const override;
  [[nodiscard]] uint64_t runs_of_one() const override { return 2 * options_.cells.size(); }

 private:
  /// One cell of a setup.
  struct Program {
    std::string failure;
    std::string path;
    std::vector<std::string> command;  // words, {runs} among them
    std::string hash;                  // of what it executes and reads
    std::string output;                // of its counted runs
    double log_count = 0;
    double flops = 0;  // of an iteration
  };
  struct BuiltSetup {
    std::string name;
    std::vector<Program> programs;  // parallel to the cells
  };

  SetupRunner(SetupRunnerOptions options, TemporaryFolder folder,
              std::function<bool(const SearchProgress&)> progress);
  Result<void> report(const std::string& doing) const;
  [[nodiscard]] PlannedCell make_cell(const Setup& setup, size_t cell) const;
  Result<void> read_program(const std::string& folder, Program& program) const;
  [[nodiscard]] Screened judge(const BuiltSetup& setup) const;
  /// CPU time of one run.
  Result<uint64_t> run_once(const std::vector<std::string>& command, uint64_t runs);

  SetupRunnerOptions options_;
  TemporaryFolder folder_;
  std::function<bool(const SearchProgress&)> progress_;
  std::unique_ptr<EndWatcher> watcher_ = std::make_unique<EndWatcher>();
  std::unique_ptr<EndWithCulprit> ends_with_us_ =
      std::make_unique<EndWithCulprit>(*watcher_, folder_.path());
  Compilers compilers_;
  std::vector<BuiltSetup> setups_;    // by trial
  std::vector<uint64_t> timed_runs_;  // by cell: the larger loop count; empty: not chosen yet
  uint64_t runs_ = 0;
  uint64_t timed_rounds_ = 0;
  uint64_t start_ns_;
};

}  // namespace culprit::scan
