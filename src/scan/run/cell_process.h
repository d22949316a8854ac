#pragma once

// A cell that is being built and run, in a process group of its own: what crashes, hangs or is
// killed costs one cell.

#include <chrono>
#include <sys/types.h>

#include "base/result.h"
#include "model/profile.h"
#include "scan/run/cell_worker.h"

namespace culprit::scan {

class CellProcess {
 public:
  /// How long to wait between questions whether it has ended.
  static constexpr auto kLookEvery = std::chrono::milliseconds(4);

  /// Runs run_cell(). The job's folder is made; the setting must outlive it.
  static Result<CellProcess> start(const ScanSetting& setting, CellJob job);
  CellProcess(CellProcess&& other) noexcept;
  CellProcess& operator=(CellProcess&& other) noexcept;
  /// Kills what still runs; the folder stays.
  ~CellProcess();

  /// Whether it has ended; it is killed when its time (Plan::timeout_s) is over. Does not wait.
  bool has_ended();
  [[nodiscard]] const CellJob& job() const { return job_; }
  /// Whether its profile is there, after its end: cell_profile_path().
  [[nodiscard]] bool left_profile() const { return status_ == 0 && !is_late_; }
  /// A profile that says why the cell did not leave one.
  [[nodiscard]] Profile make_failure() const;
  /// A profile of a cell that was counted, and failed later.
  [[nodiscard]] Profile make_failure(const std::string& state, const std::string& message) const;
  /// Removes the folder with all that is in it.
  void remove_folder() const;

 private:
  CellProcess(const ScanSetting& setting, CellJob job, pid_t pid);
  void end();
  void forget();

  const ScanSetting* setting_;
  CellJob job_;
  pid_t pid_;  // 0: it has ended
  uint64_t start_ns_;
  int status_ = 0;  // as of waitpid()
  bool is_late_ = false;
};

}  // namespace culprit::scan
