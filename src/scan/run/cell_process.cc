#include "scan/run/cell_process.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/time.h"
#include "base/wait_status.h"
#include "recording/close_descriptors.h"
#include "scan/run/folder_guard.h"
#include "scan/run/inputs.h"

namespace culprit::scan {
namespace {

[[noreturn]] void work(const ScanSetting& setting, const CellJob& job) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // A scan that is killed must not leave its lock with its workers, however long they take to end.
  std::vector<int> kept;
  if (job.watcher != nullptr) kept.push_back(job.watcher->descriptor());
  close_descriptors(STDERR_FILENO + 1, std::move(kept));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_DFL);
  // One run after the other needs tables of one size: their memory is kept for the next.
  ::mallopt(M_MMAP_THRESHOLD, INT_MAX);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  const Result<void> done = run_cell(setting, job);
  if (!done) {
    const std::string path = job.scratch + "/problem";
    if (std::FILE* file = std::fopen(path.c_str(), "we")) {
      std::fputs(done.error().message.c_str(), file);
      std::fclose(file);
    }
  }
  ::_exit(done ? 0 : 1);
}

}  // namespace

CellProcess::CellProcess(const ScanSetting& setting, CellJob job, pid_t pid)
    : setting_(&setting), job_(std::move(job)), pid_(pid), start_ns_(monotonic_ns()) {}

CellProcess::CellProcess(CellProcess&& other) noexcept
    : setting_(other.setting_),
      job_(std::move(other.job_)),
      pid_(std::exchange(other.pid_, 0)),
      start_ns_(other.start_ns_),
      status_(other.status_),
      is_late_(other.is_late_) {}

CellProcess& CellProcess::operator=(CellProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  setting_ = other.setting_;
  job_ = std::move(other.job_);
  pid_ = std::exchange(other.pid_, 0);
  start_ns_ = other.start_ns_;
  status_ = other.status_;
  is_late_ = other.is_late_;
  return *this;
}

CellProcess::~CellProcess() {
  end();
}

Result<CellProcess> CellProcess::start(const ScanSetting& setting, CellJob job) {
  std::error_code failure;
  if (!std::filesystem::create_directory(job.scratch, failure)) {
    return Error{fmt::format("cannot make '{}': {}", job.scratch, failure.message())};
  }
  const pid_t pid = ::fork();
  if (pid < 0) return errno_error("cannot start a process", errno);
  if (pid == 0) work(setting, job);
  ::setpgid(pid, pid);
  return CellProcess(setting, std::move(job), pid);
}

void CellProcess::end() {
  if (pid_ == 0) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  forget();
}

void CellProcess::forget() {
  if (job_.watcher != nullptr) job_.watcher->end_all_of(pid_);
  pid_ = 0;
}

bool CellProcess::has_ended() {
  if (pid_ == 0) return true;
  if (!is_late_ && monotonic_ns() - start_ns_ > setting_->plan.timeout_s * 1'000'000'000) {
    is_late_ = true;
    ::kill(-pid_, SIGKILL);
  }
  if (::waitpid(pid_, &status_, WNOHANG) != pid_) return false;
  ::kill(-pid_, SIGKILL);  // what it left running
  forget();
  return true;
}

void CellProcess::remove_folder() const {
  std::error_code ignored;
  std::filesystem::remove_all(job_.scratch, ignored);
}

Profile CellProcess::make_failure() const {
  std::string message = describe_wait_status(status_);
  if (const auto problem = read_file(job_.scratch + "/problem")) message = *problem;
  std::string state = "failed";
  if (is_late_) {
    const Result<std::string> phase = read_file(job_.scratch + "/phase");
    state = "timed out";
    message = fmt::format("ended after {} s while {}", setting_->plan.timeout_s,
                          phase ? *phase : "starting");
  }
  return make_failure(state, message);
}

Profile CellProcess::make_failure(const std::string& state, const std::string& message) const {
  FileHashes hashes;
  const FolderGuard folder(setting_->folder);
  return make_failed_cell(*setting_, job_, state, message,
                          describe_inputs({job_.cell.program}, hashes));
}

}  // namespace culprit::scan
