#include "cli/live_recording.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/text.h"
#include "recording/process_folder.h"

namespace culprit {

namespace {

/// Processes whose mappings we may read, but for ourselves.
std::vector<pid_t> list_own_processes() {
  std::vector<pid_t> own;
  for (const uint32_t pid : list_numbered_entries("/proc")) {
    const std::string folder = fmt::format("/proc/{}", pid);
    struct stat status{};
    if (::stat(folder.c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    if (static_cast<pid_t>(pid) == ::getpid()) continue;
    // Kernel threads have an empty file; of those that changed their user it cannot be opened.
    const Result<std::string> maps = read_file(folder + "/maps");
    if (maps && !maps->empty()) own.push_back(static_cast<pid_t>(pid));
  }
  return own;
}

std::string describe_options(const RecordOptions& options) {
  if (!options.command.empty()) {
    std::string text;
    for (const std::string& word : options.command) text += (text.empty() ? "" : " ") + word;
    return elide_middle(text, 40);
  }
  if (!options.cgroup.empty()) return "cgroup " + options.cgroup;
  if (options.pids.size() == 1) return fmt::format("process {}", options.pids.front());
  if (!options.pids.empty()) return fmt::format("{} processes", options.pids.size());
  return "whole system";
}

}  // namespace

void LiveRecording::Control::stop() {
  if (const pid_t command = command_; command > 0) ::kill(command, SIGTERM);
  events_.ask_to_stop();
}

LiveRecording::LiveRecording(RecordOptions options, bool takes_what_it_may)
    : options_(std::move(options)), of_(describe_options(options_)) {
  // The first numbers come soon after the start.
  constexpr uint64_t kFlushNs = 200'000'000;
  options_.flush_every_ns = kFlushNs;
  options_.control = &control_;
  thread_ = std::thread([this, takes_what_it_may] { run(takes_what_it_may); });
}

LiveRecording::~LiveRecording() {
  control_.stop();
  thread_.join();
}

Result<Recording> LiveRecording::record_now() {
  return record(
      options_,
      [this](const Profile& profile) -> Result<void> {
        counts_.add(profile);
        return {};
      },
      [this](const RecordProgress& now) { lost_ = now.lost; });
}

void LiveRecording::run(bool takes_what_it_may) {
  Result<Recording> done = record_now();
  if (!done && takes_what_it_may && !counts_.tables()) {
    // Some of them may have ended before they were opened.
    constexpr int kTries = 5;
    const Error refusal = done.error();
    for (int i = 0; !done && i < kTries && !counts_.tables(); ++i) {
      options_.system_wide = false;
      options_.pids = list_own_processes();
      if (options_.pids.empty()) break;
      {
        const std::lock_guard lock(mutex_);
        of_ = fmt::format("{} processes of yours (all: as root)", options_.pids.size());
      }
      done = record_now();
    }
    if (!done) done = Result<Recording>(refusal);
  }
  if (done) {
    counts_.add(done->profile);  // what came after the last flush
    lost_ = done->lost;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!done) problem_ = done.error();
  }
  has_ended_ = true;
}

std::string LiveRecording::describe() const {
  const std::lock_guard lock(mutex_);
  return of_;
}

std::optional<Error> LiveRecording::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

}  // namespace culprit
