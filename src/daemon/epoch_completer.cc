#include "daemon/epoch_completer.h"

#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "epochs/epoch_database.h"
#include "recording/close_descriptors.h"
#include "recording/signals.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

// Their files stay open until then; what nobody gets to is looked for when it is asked for.
constexpr size_t kMostEpochs = 4;

/// The child keeps nothing of ours open: the lock, the clocks, the socket.
void close_all_but_held(const std::vector<ClosedEpoch>& epochs) {
  std::vector<int> kept;
  for (const ClosedEpoch& epoch : epochs) {
    for (const auto& [image, fd] : epoch.held) kept.push_back(fd.get());
  }
  close_descriptors(STDERR_FILENO + 1, std::move(kept));
}

}  // namespace

EpochCompleter::EpochCompleter(const DaemonOptions& options, std::string folder, uint64_t most_ns)
    : options_(options), folder_(std::move(folder)), most_ns_(most_ns) {
  void* const shared = ::mmap(nullptr, sizeof(RemovedForSpace), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) removed_ = new (shared) RemovedForSpace();
}

EpochCompleter::~EpochCompleter() {
  if (removed_ != nullptr) ::munmap(removed_, sizeof(RemovedForSpace));
}

Result<void> EpochCompleter::add(ClosedEpoch epoch) {
  waiting_.push_back(std::move(epoch));
  if (waiting_.size() > kMostEpochs) waiting_.erase(waiting_.begin() + 1);
  return begin_next();
}

Result<void> EpochCompleter::begin_next() {
  return is_busy() || waiting_.empty() || is_ending_ ? Result<void>() : begin(1);
}

Result<void> EpochCompleter::begin(size_t epochs) {
  began_ns_ = read_clock_ns(CLOCK_MONOTONIC);
  child_ = ::fork();
  if (child_ == 0) work(epochs);
  if (child_ > 0) return {};
  child_ = 0;
  waiting_.clear();
  return errno_error("cannot start a process for symbols", errno);
}

void EpochCompleter::work(size_t epochs) const {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  SignalGuard::give_back_in_child();
  close_all_but_held(waiting_);
  // After the lock is closed: on a busy machine this one would hold it for seconds, and a daemon
  // that follows one that was killed would be refused.
  if (!is_ending_) ::setpriority(PRIO_PROCESS, 0, 19);
  for (size_t i = 0; i < epochs; ++i) {
    if (!is_ending_) compact(waiting_[i]);
    if (options_.complete) options_.complete(waiting_[i]);
  }
  if (is_ending_) ::_exit(0);
  constexpr uint64_t kSecondNs = 1'000'000'000;
  const auto now_s = static_cast<int64_t>(read_clock_ns(CLOCK_REALTIME) / kSecondNs);
  if (const Result<EpochDatabase> database = EpochDatabase::open(folder_)) {
    const Thinned thinned = thin_out(*database, options_.keeping, now_s);
    for (const std::string& problem : thinned.problems) {
      if (options_.say) options_.say(problem);
    }
    note_removed(thinned.removed);
  }
  ::_exit(0);
}

void EpochCompleter::note_removed(const RemovedForSpace& removed) const {
  if (removed.epochs == 0) return;
  if (removed_ != nullptr) {
    removed_->epochs += removed.epochs;
    removed_->bytes += removed.bytes;
  }
  if (!options_.say) return;
  options_.say(fmt::format("removed the oldest {} ({}): less than {} are free here",
                           removed.epochs == 1 ? "epoch" : fmt::format("{} epochs", removed.epochs),
                           format_bytes(removed.bytes),
                           format_bytes(options_.keeping.least_free_bytes)));
}

/// The daemon left the file as it grew, since this reads all its counts: an epoch of many thousand
/// short programs takes some ten megabytes.
void EpochCompleter::compact(const ClosedEpoch& epoch) const {
  const auto done = [&]() -> Result<void> {
    ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::open(epoch.path));
    return writer.close();
  }();
  if (!done && options_.say) options_.say(done.error().message);
}

Result<void> EpochCompleter::reap() {
  if (!is_busy()) return {};
  const bool is_late = read_clock_ns(CLOCK_MONOTONIC) - began_ns_ > most_ns_;
  int wait_status = 0;
  if (::waitpid(child_, &wait_status, WNOHANG) != child_) {
    // Its end may take the kernel long: nobody waits for it here.
    if (is_late) ::kill(child_, SIGKILL);
    return {};
  }
  child_ = 0;
  waiting_.erase(waiting_.begin());
  const Result<void> next = begin_next();
  if (wait_status == 0) return next;
  return Error{is_late ? "looking up the symbols of an epoch took too long: it was ended"
                       : "looking up the symbols of an epoch failed"};
}

/// Whoever asks for a report looks up what lacks: on a busy machine the child of low priority takes
/// minutes, for which nobody is to wait. Its memory and its files are gone with it, and what it has
/// not finished is as it was. Its end is waited for shortly: one that waits for a disk or a server
/// has it later, and whoever inherits it reaps it.
void EpochCompleter::stop() {
  constexpr int kLooks = 50;
  constexpr useconds_t kLookUs = 10'000;
  is_ending_ = true;
  if (!is_busy()) return;
  ::kill(child_, SIGKILL);
  for (int look = 0; look < kLooks && ::waitpid(child_, nullptr, WNOHANG) == 0; ++look) {
    ::usleep(kLookUs);
  }
  child_ = 0;
}

Result<void> EpochCompleter::hurry() {
  for (ClosedEpoch& epoch : waiting_) {
    epoch.is_hurried = true;
    std::erase_if(epoch.held, [](const auto& one) {
      struct stat file{};
      return ::fstat(one.second.get(), &file) != 0 || file.st_nlink != 0;
    });
  }
  return waiting_.empty() ? Result<void>() : begin(waiting_.size());
}

}  // namespace culprit
